"""Is a Gaussian process ahead of weights where the reward is no weighted sum? (Levine and others.)

Objectworld with the original rule: near the first outer colour a cell pays, but only if it is near
the second one too. Rewards are learned from paths of 8 steps on features of two kinds: distances to
the next object of each inner and outer colour, which no weights turn into the rule, and whether
these are at most 1, 2, 3 ..., which weights can do a little more with.

The measure is the expected value difference: what the optimal policy of the learned reward misses
of the true reward, from a uniform start. `transfer` is the same in another world with other
objects, where nothing was demonstrated: both worlds are one problem of two parts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from boirl import baselines
from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError
from boirl.experiments.suite.objectworld import RULE_HEIGHT, Objects, grid_mdp, original_rule
from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    check_methods,
    quiet,
    run_trials,
    write_summary,
)
from boirl.policies import TabularPolicy, TabularSolver, expected_return
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward
from boirl.types import FloatArray

STREAM = 1511
GAMMA = 0.9
COLOURS = 2
OBJECTS_PER_CELL = 0.05
PATH_STEPS = 8
WEIGHT = 20.0
"""Bound of the weights of features, to either side."""

HORIZON = 200
"""Steps after which what is discounted no longer counts."""

EVALUATIONS = {"gp-irl": 300, "maxent": 100, "deep-maxent": 150}
"""Of each method, at most; several descents."""

FEATURES = ("distances", "thresholds")


@dataclass(frozen=True, eq=False)
class Worlds:
    """A world with demonstrations and one without: dynamics, features and rewards of both."""

    mdp: TabularMDP
    objects: tuple[Objects, Objects]

    @classmethod
    def draw(cls, side: int, rng: np.random.Generator) -> Worlds:
        """Objects at random; paths start anywhere in the first world."""
        one = grid_mdp(side, GAMMA)
        both = sp.csr_array(sp.block_diag([one.transition] * 2))
        start = np.repeat([1.0 / side**2, 0.0], side**2)
        mdp = TabularMDP(both, one.n_actions, GAMMA, start)
        return cls(mdp, (_objects(side, rng), _objects(side, rng)))

    def rewards(self) -> FloatArray:
        """Of all states, `S x 1`."""
        return RULE_HEIGHT * np.concatenate([original_rule(one) for one in self.objects])[:, None]

    def features(self, kind: str) -> FloatArray:
        """Of all states, `S x k`."""
        distances = np.concatenate([_distances(one) for one in self.objects])
        side = self.objects[0].side
        if kind == "distances":
            return distances / side
        within = distances[:, :, None] <= np.arange(1, side)
        return within.reshape(len(distances), -1).astype(np.float64)

    def value_difference(self, learned: FloatArray) -> tuple[float, float]:
        """What the optimal policy of a learned reward, `S x 1`, misses: in the first world, and in
        the second."""
        policies = np.stack([_greedy(self.mdp, self.rewards()), _greedy(self.mdp, learned)])
        missed = []
        for world in (0, 1):
            start = np.roll(self.mdp.start, world * self.objects[0].side ** 2)
            best, found = expected_return(self.mdp, policies, self.rewards(), start, HORIZON)
            missed.append(float(best - found))
        return missed[0], missed[1]


def _objects(side: int, rng: np.random.Generator) -> Objects:
    """At least one object of each pair of colours, so that the rule pays somewhere."""
    count = max(COLOURS**2, round(OBJECTS_PER_CELL * side**2))
    colours = rng.integers(COLOURS, size=(count, 2))
    colours[: COLOURS**2] = np.stack(np.divmod(np.arange(COLOURS**2), COLOURS), axis=1)
    return Objects(side, rng.choice(side**2, count, replace=False), colours)


def _distances(objects: Objects) -> FloatArray:
    """To the next object of each inner and each outer colour, `S x k`."""
    columns = [objects.distances(kind, colour) for kind in (0, 1) for colour in range(COLOURS)]
    return np.stack(columns, axis=1)


def _greedy(mdp: TabularMDP, rewards: FloatArray) -> FloatArray:
    """Log probabilities of the best actions for a table of rewards, `S x A`."""
    likely = TabularSolver("max").solve(mdp, rewards).log_probabilities
    best = likely >= likely.max(axis=1, keepdims=True) - 1e-9
    with np.errstate(divide="ignore"):
        return np.log(best / best.sum(axis=1, keepdims=True))


def objectworld_problem(
    worlds: Worlds, paths: int, kind: str, rng: np.random.Generator
) -> TabularProblem:
    """Paths of a maximum-entropy demonstrator who follows the rule."""
    features = worlds.features(kind)
    # A feature that is the same everywhere has no weight to be found.
    features = features[:, np.ptp(features, axis=0) > 0.0]
    reward = LinearReward(
        features, {f"w{number}": (-WEIGHT, WEIGHT) for number in range(features.shape[1])}
    )
    solver = TabularSolver("logsumexp")
    policy: TabularPolicy = solver.solve(worlds.mdp, worlds.rewards())
    starts = rng.choice(worlds.mdp.n_states, size=paths, p=worlds.mdp.start)
    shown = policy.sample(worlds.mdp, starts, PATH_STEPS, rng)
    return TabularProblem(worlds.mdp, reward, shown, solver, horizon=PATH_STEPS, name="objectworld")


def run_trial(method: str, kind: str, paths: int, side: int, evaluations: int, seed: int) -> Row:
    """Learn a reward in a world of this seed, and see what its optimal policy misses."""
    rng = np.random.default_rng([STREAM, seed])
    worlds = Worlds.draw(side, rng)
    problem = objectworld_problem(worlds, paths, kind, np.random.default_rng([STREAM, seed, paths]))
    found = baselines.get(method).run(problem, evaluations, seed)
    index = found.facts.get("most probable", found.best_index)
    chosen = found.evaluations[index]
    family = problem.reward if chosen.reward is None else chosen.reward
    learned = problem.mdp.expected_rewards(family, np.array([chosen.theta]))[0]
    missed, transfer = worlds.value_difference(learned)
    return {
        "method": method,
        "features": kind,
        "paths": paths,
        "side": side,
        "evaluations": evaluations,
        "seed": seed,
        "missed": missed,
        "transfer": transfer,
        "nll": chosen.nll,
        "seconds": float(found.seconds.sum()),
    }


KEY = ("method", "features", "paths", "side", "evaluations", "seed")


def run(
    out: Path,
    methods: Sequence[str] = tuple(EVALUATIONS),
    seeds: Sequence[int] = tuple(range(8)),
    evaluations: int | None = None,
    problems: Sequence[str] = FEATURES,
    paths: Sequence[int] = (16, 64, 256),
    side: int = 12,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Learn with every method from so many paths; see `Experiment`.

    Args:
        out: Folder for the results.
        methods: Some of `EVALUATIONS`.
        seeds: Of worlds, paths and methods.
        evaluations: Of each method; by default as in `EVALUATIONS`.
        problems: Some of `FEATURES`.
        paths: Numbers of demonstrations.
        side: Of the grid; 32 in the paper.
        on_trial: See `OnTrial`.
    """
    check_methods(methods, EVALUATIONS)
    unknown = sorted(set(problems) - set(FEATURES))
    if unknown:
        raise InvalidInputError(
            f"there are no features {', '.join(unknown)}; expected some of {', '.join(FEATURES)}"
        )
    lines = [(method, kind, n) for kind in problems for n in paths for method in methods]
    wanted: dict[Hashable, Callable[[], Row]] = {}
    for method, kind, n in lines:
        budget = evaluations or EVALUATIONS[method]
        for seed in seeds:
            key = (method, kind, n, side, budget, seed)
            wanted[key] = partial(run_trial, *key)
    rows = run_trials(out, wanted, lambda row: tuple(row[name] for name in KEY), on_trial)
    summary = [
        summarise([row for row in rows if (row["method"], row["features"], row["paths"]) == line])
        for line in lines
    ]
    write_summary(out, summary)
    return summary


def summarise(rows: Sequence[Row]) -> Row:
    """Means over worlds, with their standard errors."""
    line: Row = {name: rows[0][name] for name in KEY[:-1]}
    line["worlds"] = len(rows)
    for name in ("missed", "transfer", "nll", "seconds"):
        values = np.array([row[name] for row in rows])
        line[name] = float(values.mean())
        line[f"{name}_se"] = float(values.std() / max(1, len(values) - 1) ** 0.5)
    return line


EXPERIMENT = Experiment(
    run,
    {
        "features": lambda row: row["features"],
        "paths": lambda row: str(row["paths"]),
        "method": lambda row: row["method"],
        "misses": lambda row: f"{row['missed']:.2f} ± {row['missed_se']:.2f}",
        "transfer": lambda row: f"{row['transfer']:.2f} ± {row['transfer_se']:.2f}",
        "NLL": lambda row: f"{row['nll']:.2f}",
        "seconds": lambda row: f"{row['seconds']:.1f}",
    },
    tiny={"seeds": [1000], "paths": [8], "side": 6, "evaluations": 5, "problems": ["distances"]},
)
