"""Do the fast and the plain route to a Fetch-Reach policy agree?

`replay` learns from one shared set of transitions, relabelled for each reward; `sac` (with
hindsight) and `ppo` learn in the environment. For a few rewards: what each takes, how well its
policy explains the same demonstrations, and how often it succeeds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from boirl.domains.fetch.environment import success_rate
from boirl.domains.fetch.problem import ROUTES, Route, action_model_of, route
from boirl.experiments.trials import Experiment, OnTrial, Row, quiet, run_trials, write_summary
from boirl.problem import load_problem
from boirl.problem.simulated import GymProblem

THETAS = ((0.05, -1.0), (0.02, -1.0), (0.12, -1.0), (0.05, -0.3), (0.05, 0.5))
EPISODES = 50


def run_one(
    problem: GymProblem, solver: Route, theta: tuple[float, ...], seed: int, tiny: bool = False
) -> Row:
    """One training run and its measures."""
    episodes = 2 if tiny else EPISODES
    other = replace(
        problem,
        solver=route(solver, tiny),
        likelihood=action_model_of(solver),
        repeats=1,
        workers=0,
    )
    began = time.perf_counter()
    outcome = other.learn(theta, seed)[0]
    seconds = time.perf_counter() - began
    return {
        "problem": problem.fingerprint(),
        "solver": solver,
        "settings": repr(other.solver),
        "theta": list(theta),
        "seed": seed,
        "nll": outcome.nll,
        "success": success_rate(outcome.policy, episodes, act="sample").at_end,
        "success_of_mode": success_rate(outcome.policy, episodes, act="mode").at_end,
        "seconds": seconds,
    }


def run(
    out: Path, seeds: Sequence[int] = (0, 1), on_trial: OnTrial = quiet, tiny: bool = False
) -> list[Row]:
    """Run all that `trials.json` does not hold yet, and write `summary.json` at the end.

    Args:
        out: Folder for both files.
        seeds: Of the training runs.
        on_trial: See `OnTrial`.
        tiny: Whether to train next to nothing, for one theta.
    """
    problem = load_problem("fetch-reach", tiny=tiny)
    fingerprint = problem.fingerprint()
    thetas = THETAS[:1] if tiny else THETAS
    wanted: dict[Hashable, Callable[[], Row]] = {
        (fingerprint, repr(route(solver, tiny)), theta, seed): partial(
            run_one, problem, solver, theta, seed, tiny
        )
        for theta in thetas
        for solver in ROUTES
        for seed in seeds
    }
    rows = run_trials(out, wanted, _key, on_trial)
    summary = []
    for theta in thetas:
        for solver in ROUTES:
            own = [r for r in rows if (tuple(r["theta"]), r["solver"]) == (theta, solver)]
            means = {
                measure: float(np.mean([row[measure] for row in own]))
                for measure in ("nll", "success", "success_of_mode", "seconds")
            }
            summary.append({"theta": list(theta), "solver": solver, "runs": len(own), **means})
    write_summary(out, summary)
    return summary


def _key(row: Row) -> Hashable:
    return row["problem"], row["settings"], tuple(row["theta"]), row["seed"]


EXPERIMENT = Experiment(
    run,
    {
        "threshold, penalty": lambda row: ", ".join(f"{value:g}" for value in row["theta"]),
        "solver": lambda row: row["solver"],
        "NLL": lambda row: f"{row['nll']:.2f}",
        "success": lambda row: f"{row['success']:.0%}",
        "success of mode": lambda row: f"{row['success_of_mode']:.0%}",
        "seconds": lambda row: f"{row['seconds']:.1f}",
    },
    tiny={"seeds": [1000], "tiny": True},
)
