"""What rewards would do from a start, sorted by behaviour and put into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.decisions.ensemble import Ensemble
from boirl.decisions.starts import state_name
from boirl.demonstrations import Demonstrations
from boirl.problem import TabularProblem
from boirl.results.grouping import group_alike
from boirl.types import FloatArray, IntArray

PART_WAYS = 0.5
"""Two rewards behave differently where they are more likely than not to part ways on the way."""

WALKS = 128
"""Roll-outs that say where rewards go from a start."""

NAMED_STATES = 8
"""States of a path that are named."""


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


def behaviours_from(
    ensemble: Ensemble, start: Any, horizon: int, rng: np.random.Generator
) -> tuple[Behaviour, ...]:
    """What the rewards of an ensemble would do from a start, the most probable first.

    Two share a behaviour where they choose alike along the ways that any of them takes.
    """
    distances, groups = alike_from(ensemble, np.asarray(start)[None], horizon, rng)
    found = []
    for members in groups:
        inside = distances[np.ix_(members, members)] @ ensemble.weights[members]
        own = members[np.argsort(inside, kind="stable")]
        path = _path(ensemble, int(own[0]), start, horizon, rng)
        weight = float(ensemble.weights[own].sum())
        words = describe_path(ensemble, path)
        found.append(Behaviour(weight, own, ensemble.thetas[own[0]], path, words))
    return tuple(sorted(found, key=lambda one: -one.weight))


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
    parts = [problem.roll_out(one, chosen, horizon, rng) for one in ensemble.policies]
    moved = [part for part in parts if len(part.states)]
    return problem.with_demonstrations(Demonstrations.concatenate(moved))


def _path(
    ensemble: Ensemble, number: int, start: Any, horizon: int, rng: np.random.Generator
) -> NDArray[Any]:
    problem, policy = ensemble.problem, ensemble.policies[number]
    if not isinstance(problem, TabularProblem):
        drawn = problem.roll_out(policy, np.asarray(start)[None], horizon, rng)
        return np.concatenate([drawn.states, drawn.next_states[-1:]])
    mdp, n = problem.dynamics, problem.mdp.n_states
    states = [int(start)]
    for _ in range(horizon):
        state = states[-1]
        if mdp.is_terminal[state]:
            break
        row = state * mdp.n_actions + int(policy.log_probabilities[state].argmax())
        entries = slice(*mdp.transition.indptr[row : row + 2])
        likeliest = int(mdp.transition.data[entries].argmax())
        states.append(int(mdp.transition.indices[entries][likeliest]))
        if states[-1] % n == state % n:
            break
    return np.array(states) % n


def describe_path(ensemble: Ensemble, path: NDArray[Any]) -> str:
    """A way in words: where it goes and where it ends."""
    problem = ensemble.problem
    if path.ndim > 1:
        return f"ends at {state_name(problem, path[-1])} after {len(path) - 1} steps"
    states = path.tolist()
    stays = len(states) > 1 and states[-1] == states[-2]
    way = states[:-1] if stays else states
    if len(way) == 1:
        return "stays where it is"
    named = [state_name(problem, one) for one in way]
    shown = named[:1] + [one.removeprefix("state ") for one in named[1:]]
    if len(shown) > NAMED_STATES:
        shown = [*shown[: NAMED_STATES - 2], "...", shown[-1]]
    return " → ".join(shown) + (" and stays there" if stays else "")
