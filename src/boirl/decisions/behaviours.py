"""What rewards would do from a start, sorted by behaviour and put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.decisions.ensemble import Ensemble
from boirl.decisions.starts import state_name
from boirl.demonstrations import Demonstrations
from boirl.problem import TabularProblem
from boirl.problem.walks import walk_from
from boirl.results.grouping import group_alike
from boirl.types import FloatArray, IntArray

PART_WAYS = 0.5
"""Two rewards behave differently where they are more likely than not to part ways on the way."""

WALKS = 128
"""Roll-outs that say where rewards go from a start."""

NAMED_STATES = 8
"""States of a path that are named."""

SHOWN_BEHAVIOURS = 5
"""Behaviours that are put into words."""

LEAVES = 0.01
"""Probability to leave a state by an action, below which the action stays there."""


@dataclass(frozen=True, eq=False)
class Behaviour:
    """What a group of rewards would do from a start.

    Attributes:
        weight: Share of the posterior that would.
        members: Numbers of the rewards in the ensemble, the most typical one first.
        theta: The most typical reward, `d`.
        path: The states of its likeliest way, or of one roll-out where states are vectors.
        words: The same in words.
    """

    weight: float
    members: IntArray
    theta: FloatArray
    path: NDArray[Any]
    words: str

    def __str__(self) -> str:
        return f"{self.weight:.0%}: {self.words}"


def behaviour_lines(behaviours: Sequence[Behaviour]) -> list[str]:
    """What rewards would do, a line for each of the most probable behaviours."""
    lines = [f"  {one}" for one in behaviours[:SHOWN_BEHAVIOURS]]
    rest = behaviours[SHOWN_BEHAVIOURS:]
    if rest:
        weight = sum(one.weight for one in rest)
        lines.append(f"  {weight:.0%}: {len(rest)} other ways")
    return lines


def behaviours_from(
    ensemble: Ensemble, start: Any, horizon: int, rng: np.random.Generator
) -> tuple[Behaviour, ...]:
    """What the rewards of an ensemble would do from a start, the most probable first.

    Two share a behaviour where they choose alike along the ways that any of them takes, or where
    the most typical rewards of their groups have the same likeliest way.
    """
    distances, groups = alike_from(ensemble, np.asarray(start)[None], horizon, rng)
    joined: dict[bytes, tuple[IntArray, NDArray[Any]]] = {}
    for members in groups:
        own = _typical_first(distances, members, ensemble.weights)
        path = _path(ensemble, int(own[0]), start, horizon, rng)
        known = joined.get(path.tobytes())
        joined[path.tobytes()] = (own if known is None else np.append(known[0], own), path)
    rows = [
        (float(ensemble.weights[members].sum()), members, path) for members, path in joined.values()
    ]
    rows.sort(key=lambda row: -row[0])
    words = describe_paths(ensemble, [path for _, _, path in rows])
    found = []
    for (weight, members, path), named in zip(rows, words, strict=True):
        own = _typical_first(distances, members, ensemble.weights)
        found.append(Behaviour(weight, own, ensemble.thetas[own[0]], path, named))
    return tuple(found)


def _typical_first(distances: FloatArray, members: IntArray, weights: FloatArray) -> IntArray:
    """Members of a group by their mean distance from the others, the least first."""
    inside = distances[np.ix_(members, members)] @ weights[members]
    return members[np.argsort(inside, kind="stable")]


def alike_from(
    ensemble: Ensemble, starts: Any, horizon: int, rng: np.random.Generator
) -> tuple[FloatArray, list[IntArray]]:
    """How differently rewards act from some starts, `m x m`, and groups of those that act alike.

    On a table, the distance is the probability to part ways: that two policies, which choose alike
    whenever they can, choose differently at some step. Elsewhere it is that of the problem.
    """
    walks = walk(ensemble, starts, horizon, rng)
    if isinstance(ensemble.problem, TabularProblem):
        distances = _parting(ensemble, walks.explained_steps)
        return distances, group_alike(distances, PART_WAYS)
    distances = walks.behaviour_distances(ensemble.policies)
    return distances, group_alike(distances, ensemble.problem.same_behaviour)


def _parting(ensemble: Ensemble, steps: Demonstrations) -> FloatArray:
    states, where = np.unique(steps.states, return_inverse=True)
    chances = np.exp(ensemble.log_policies[:, states])
    first = np.cumsum(steps.lengths) - steps.lengths
    found = np.empty((len(ensemble), len(ensemble)))
    for number, own in enumerate(chances):
        apart = 0.5 * np.abs(chances - own).sum(axis=2)
        together = np.log1p(-np.minimum(apart, 1.0 - 1e-12))[:, where]
        found[number] = 1.0 - np.exp(np.add.reduceat(together, first, axis=1)).mean(axis=1)
    return found


def walk(ensemble: Ensemble, starts: Any, horizon: int, rng: np.random.Generator) -> Any:
    """The problem with roll-outs of all rewards from some starts as its demonstrations."""
    problem = ensemble.problem
    repeats = max(1, WALKS // (len(ensemble) * len(starts)))
    chosen = np.repeat(starts, repeats, axis=0)
    parts = [walk_from(problem, one, chosen, horizon, rng) for one in ensemble.policies]
    moved = [part for part in parts if len(part.states)]
    return problem.with_demonstrations(Demonstrations.concatenate(moved))


def _path(
    ensemble: Ensemble, number: int, start: Any, horizon: int, rng: np.random.Generator
) -> NDArray[Any]:
    problem, policy = ensemble.problem, ensemble.policies[number]
    if not isinstance(problem, TabularProblem):
        drawn = walk_from(problem, policy, np.asarray(start)[None], horizon, rng)
        return np.concatenate([drawn.states, drawn.next_states[-1:]])
    mdp, n = problem.dynamics, problem.mdp.n_states
    states = [int(start)]
    for _ in range(horizon):
        state = states[-1]
        if mdp.is_terminal[state]:
            break
        row = state * mdp.n_actions + int(policy.log_probabilities[state].argmax())
        entries = slice(*mdp.transition.indptr[row : row + 2])
        following, chances = mdp.transition.indices[entries], mdp.transition.data[entries]
        leaves = following % n != state % n
        if float(chances[leaves].sum()) < LEAVES:
            states.append(int(following[int(chances.argmax())]))
            break
        # Sooner or later it goes on: chance may only delay it.
        states.append(int(following[leaves][int(chances[leaves].argmax())]))
    return np.array(states) % n


def describe_paths(ensemble: Ensemble, paths: Sequence[NDArray[Any]]) -> list[str]:
    """Ways in words that tell them apart.

    Where several would be called the same, each is told by where it parts from the first of the
    others; where that is not enough, from the one that it shares most steps with.
    """
    words = [describe_path(ensemble, path) for path in paths]
    found: list[str] = []
    for number, path in enumerate(paths):
        same = [
            _common_steps(path, other)
            for rival, other in enumerate(paths)
            if rival != number and words[rival] == words[number]
        ]
        told = [describe_path(ensemble, path, fork) for fork in [*same[:1], max(same, default=0)]]
        found.append(next((one for one in told if one not in found), told[-1]))
    return found


def _common_steps(one: NDArray[Any], other: NDArray[Any]) -> int:
    """How many of their first states two ways have in common."""
    n = min(len(one), len(other))
    equal = (one[:n] == other[:n]).reshape(n, -1).all(axis=1)
    return n if equal.all() else int(equal.argmin())


def describe_path(ensemble: Ensemble, path: NDArray[Any], fork: int = 0) -> str:
    """A way in words: where it goes and where it ends.

    Args:
        ensemble: Names the states.
        path: The states.
        fork: The step whose state is named in any case.
    """
    problem = ensemble.problem
    if path.ndim > 1:
        return f"ends at {state_name(problem, path[-1])} after {len(path) - 1} steps"
    states = path.tolist()
    stays = len(states) > 1 and states[-1] == states[-2]
    way = states[:-1] if stays else states
    if len(way) == 1:
        return "stays where it is"
    named = [state_name(problem, one) for one in way]
    first, other = named[0], next((one for one in named if one != named[0]), named[0])
    shown = [first] + [_shortened(one, other if one == first else first) for one in named[1:]]
    if len(shown) > NAMED_STATES:
        shown = _elided(shown, min(fork, len(shown) - 1))
    return " → ".join(shown) + (" and stays there" if stays else "")


def _elided(names: list[str], fork: int) -> list[str]:
    """The first and the last of many names, and those around a fork."""
    kept = NAMED_STATES - 2
    if fork < kept:
        return [*names[:kept], "...", names[-1]]
    around = names[fork - 1 : fork + kept - 3]
    missing = fork + kept - 3 < len(names) - 1
    last = [names[-1]] if fork + kept - 3 < len(names) else []
    return [names[0], "...", *around, *(["..."] if missing else []), *last]


def _shortened(name: str, first: str) -> str:
    """A name without the words that it shares with another, where a number is what is left.

    `state 4` after `state 3` is 4, and `link 4 on the way to 9` after `link 3 on the way to 9` too.
    """
    words, others = name.split(), first.split()
    while words and others and words[0] == others[0]:
        words, others = words[1:], others[1:]
    while words and others and words[-1] == others[-1]:
        words, others = words[:-1], others[:-1]
    return words[0] if len(words) == 1 and words[0].isdigit() else name
