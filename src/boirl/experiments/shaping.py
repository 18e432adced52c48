"""Do directions that change nothing cost evaluations?

The Gridworld family of three parameters, alone and with the weights of six random potentials.
Shaping leaves the policy as it is, so that the search should not be slower for it. The projection
`canonical` does not see it at all, `log-rho` sees what is left of it at the end of a trajectory,
and a kernel on theta takes it for six parameters like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    check_methods,
    hard_start,
    quiet,
    run_trials,
    show_after,
    times,
    write_summary,
)
from boirl.metrics import evaluations_to_expert
from boirl.problem import TabularProblem, load_problem
from boirl.rewards import ShapedReward
from boirl.search import SearchSettings, explore

POTENTIALS = 6
HARD_NLL = 90.0
TOLERANCE = 1e-3
PROJECTED = {"kernel": "rho-rbf", "rollouts": "uniform"}
"""Roll-outs are those of the uniform policy, whatever the number of parameters is."""

CANONICAL = {**PROJECTED, "projection": "canonical"}
SEARCHES: dict[str, tuple[bool, dict[str, Any]]] = {
    "canonical, no shaping": (False, CANONICAL),
    "canonical": (True, CANONICAL),
    "rho-rbf": (True, PROJECTED),
    "rbf, no shaping": (False, {"kernel": "rbf"}),
    "rbf": (True, {"kernel": "rbf"}),
    "matern": (True, {"kernel": "matern"}),
}
"""Whether the family is shaped, and the settings of the search, by the name in tables."""


def shaped_gridworld(n: int = POTENTIALS, seed: int = 0) -> TabularProblem:
    """Gridworld, its family extended by random potentials."""
    problem: TabularProblem = load_problem("gridworld")
    potentials = np.random.default_rng(seed).standard_normal((problem.mdp.n_states, n))
    reward = ShapedReward(problem.reward, potentials, problem.gamma, weight=2.0)
    assert problem.truth is not None
    truth = (*problem.truth, *[0.0] * n)
    return replace(problem, reward=reward, truth=truth, name="gridworld-shaped", recipe=None)


def movement(problem: TabularProblem, projection: str, n: int = 64) -> float:
    """How far shaping moves a reward in a projection, at most, in any coordinate."""
    settings = SearchSettings(projection=projection)
    project = settings.build_surrogate(problem).projection
    thetas = problem.box.from_unit(np.random.default_rng(0).random((n, problem.box.dimension)))
    plain = thetas.copy()
    plain[:, -POTENTIALS:] = 0.0
    with torch.no_grad():
        moved = project.transform(thetas) - project.transform(plain)
    return float(moved.abs().max())


def run_trial(problem: TabularProblem, search: str, seed: int, evaluations: int) -> Row:
    """One search from a hard start."""
    start = hard_start(problem, seed, HARD_NLL)
    _, settings = SEARCHES[search]
    found = explore(problem, evaluations, seed=seed, initial=[start], **settings)
    return {
        "problem": problem.fingerprint(),
        "method": search,
        "seed": seed,
        "evaluations": evaluations,
        "best_nll": found.best_nll,
        "evaluations_to_expert": evaluations_to_expert(found, TOLERANCE),
    }


def run(
    out: Path,
    methods: Sequence[str] = tuple(SEARCHES),
    seeds: Sequence[int] = tuple(range(10)),
    evaluations: int = 40,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Compare `SEARCHES`, see `Experiment`."""
    check_methods(methods, SEARCHES)
    plain, shaped = load_problem("gridworld"), shaped_gridworld()
    wanted: dict[Hashable, Callable[[], Row]] = {}
    for search in methods:
        problem = shaped if SEARCHES[search][0] else plain
        for seed in seeds:
            key = (problem.fingerprint(), search, seed, evaluations)
            wanted[key] = partial(run_trial, problem, search, seed, evaluations)
    rows = run_trials(out, wanted, _key, on_trial)
    moved = {
        name: movement(shaped, projection)
        for name, projection in (("canonical", "canonical"), ("rho-rbf", "log-rho"))
    }
    summary = []
    for search in methods:
        own = [row for row in rows if row["method"] == search]
        summary.append(
            {
                "method": search,
                "trials": len(own),
                **times([row["evaluations_to_expert"] for row in own]),
                "best_nll": float(np.mean([row["best_nll"] for row in own])),
                "moved": moved.get(search),
            }
        )
    write_summary(out, summary)
    return summary


def _key(row: Row) -> Hashable:
    return row["problem"], row["method"], row["seed"], row["evaluations"]


EXPERIMENT = Experiment(
    run,
    {
        "method": lambda row: row["method"],
        "reached": lambda row: f"{row['reached']:.0%}",
        "after": show_after,
        "best NLL": lambda row: f"{row['best_nll']:.2f}",
        "moved by shaping": lambda row: "-" if row["moved"] is None else f"{row['moved']:.1e}",
    },
    tiny={"methods": ["canonical", "rbf"], "seeds": [1000], "evaluations": 4},
)
