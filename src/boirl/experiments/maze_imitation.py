"""Does GAIL reach the expert's return from a few demonstrations? (Ho and Ermon 2016, in the maze.)

Performance is scaled as there: 0 is what random actions get, 1 what the expert got over all
demonstrations, by the true reward, which the method never sees. It is noted every few iterations,
and so is the NLL of the demonstrations that were shown.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boirl import baselines
from boirl.evaluation import Evaluation
from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    quiet,
    run_trials,
    show_after,
    times,
    write_summary,
)
from boirl.problem import load_problem
from boirl.problem.simulated import GymProblem

EVERY = 20
"""Iterations between two measures of the return."""

REACHED = 0.95
KEY = ("shown", "evaluations", "seed")


def run_trial(problem: GymProblem, shown: int, evaluations: int, seed: int) -> Row:
    """Imitate some of the demonstrations, drawn by the seed."""
    assert problem.truth is not None
    expert = float(problem.returns(problem.demonstrations, problem.truth).mean())
    chance = float(problem.returns(problem.uniform_rollouts, problem.truth).mean())
    rng = np.random.default_rng([seed, 1523])
    chosen = rng.choice(len(problem.demonstrations), size=shown, replace=False)
    fewer = problem.with_demonstrations(problem.demonstrations.subset(chosen))
    noted: list[int] = []
    performance: list[float] = []

    def note(evaluation: Evaluation, number: int) -> None:
        if number % EVERY == EVERY - 1 or number == evaluations - 1:
            noted.append(number + 1)
            found = fewer.true_return(fewer.policy_of(evaluation))
            performance.append((found - chance) / (expert - chance))

    run = baselines.get("gail").run(fewer, evaluations, seed, note)
    return {
        **dict(zip(KEY, (shown, evaluations, seed), strict=True)),
        "expert": expert,
        "chance": chance,
        "noted": noted,
        "performance": performance,
        "nll": run.nll[[number - 1 for number in noted]].tolist(),
        "steps": run.environment_steps,
        "seconds": float(run.seconds.sum()),
    }


def run(
    out: Path,
    seeds: Sequence[int] = (100, 101),
    evaluations: int = 300,
    shown: Sequence[int] = (1, 4, 16),
    problem_options: dict[str, Any] | None = None,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Imitate so many demonstrations; see `Experiment`."""
    problem = load_problem("point-mass-maze", **(problem_options or {}))
    assert isinstance(problem, GymProblem)
    keys = [(count, evaluations, seed) for count in shown for seed in seeds]
    wanted: dict[Hashable, Callable[[], Row]] = {
        key: partial(run_trial, problem, *key) for key in keys
    }
    rows = run_trials(out, wanted, lambda row: tuple(row[name] for name in KEY), on_trial)
    summary = [summarise([row for row in rows if row["shown"] == count]) for count in shown]
    write_summary(out, summary)
    return summary


def summarise(rows: Sequence[Row]) -> Row:
    """Performance at the end and at best, and when it came close to the expert's."""
    reached = []
    for row in rows:
        close = [
            at for at, one in zip(row["noted"], row["performance"], strict=True) if one >= REACHED
        ]
        reached.append(close[0] if close else None)
    return {
        **{name: rows[0][name] for name in ("shown", "evaluations", "expert", "chance", "steps")},
        "trials": len(rows),
        **times(reached),
        "last": float(np.mean([row["performance"][-1] for row in rows])),
        "best": float(np.mean([max(row["performance"]) for row in rows])),
        "nll": float(np.mean([row["nll"][-1] for row in rows])),
        "seconds": float(np.mean([row["seconds"] for row in rows])),
    }


EXPERIMENT = Experiment(
    run,
    {
        "demonstrations": lambda row: str(row["shown"]),
        "reached": lambda row: f"{row['reached']:.0%}",
        "after": show_after,
        "performance": lambda row: f"{row['last']:.2f}",
        "at best": lambda row: f"{row['best']:.2f}",
        "NLL": lambda row: f"{row['nll']:.1f}",
        "steps": lambda row: f"{row['steps']:,}",
        "seconds": lambda row: f"{row['seconds']:.0f}",
    },
    tiny={
        "seeds": [1000],
        "evaluations": 2,
        "shown": [2],
        "problem_options": {"steps": 2_000, "repeats": 1, "n_demonstrations": 10},
    },
)
