"""What do mice want of a labyrinth, how sure is that, and how well does it foretell their steps?

Whole runs of stretches are held out. Methods: uniform choice; a Markov chain on observed turns;
maximum likelihood of rewards with five and with six parameters; and `deep-maxent`, a network on the
six features or on the nodes of the maze. For the six parameters, the estimates of all stretches
with their standard errors, and with errors that hold even if the steps of a stretch go together
more than the model says. Writes `labyrinth.png` for the first discount that foretells best, too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boirl import baselines
from boirl.datasets import data_folder
from boirl.domains.labyrinth.made_up import make_up_recordings
from boirl.domains.labyrinth.maps import arrival_rewards, labyrinth_map
from boirl.domains.labyrinth.problem import Family, LabyrinthProblem, labyrinth_problem
from boirl.domains.labyrinth.recordings import Recordings, read_recordings
from boirl.domains.labyrinth.turns import (
    bits_per_decision,
    hold_out,
    observed_turns,
    uniform_turns,
)
from boirl.estimation import maximum_likelihood
from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    check_methods,
    quiet,
    run_trials,
    write_summary,
)
from boirl.files import save_figure

HELD_OUT = 0.2
"""Share of stretches that are held out, at least."""

DISCOUNTS = (0.7, 0.9, 0.97, 0.99)
WITHOUT_DISCOUNT = ("uniform", "markov")
FAMILIES: dict[str, Family] = {
    "uniform": "six",
    "markov": "six",
    "five": "five",
    "six": "six",
    "deep-maxent": "six",
    "deep-maxent map": "map",
}
"""The family of rewards that each method knows."""


def run(
    out: Path,
    methods: Sequence[str] = tuple(FAMILIES),
    seeds: Sequence[int] = tuple(range(1000, 1005)),
    evaluations: int = 300,
    data: str | None = None,
    discounts: Sequence[float] = DISCOUNTS,
    made_up_stretches: int | None = None,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Foretell held-out stretches with every method, discount and seed; see `Experiment`.

    Args:
        out: Folder for the results.
        methods: Some of `FAMILIES`.
        seeds: Of which runs are held out, and of the networks.
        evaluations: Of `deep-maxent`.
        data: Folder with `labyrinth.npz`, by default the cache.
        discounts: Of those methods that plan ahead.
        made_up_stretches: That many stretches in a small made-up maze, not the recorded ones.
        on_trial: See `OnTrial`.
    """
    check_methods(methods, FAMILIES)
    recordings = (
        read_recordings(data_folder("labyrinth", data))
        if made_up_stretches is None
        else make_up_recordings(made_up_stretches)
    )
    lines = [
        (method, gamma)
        for method in methods
        for gamma in (discounts[:1] if method in WITHOUT_DISCOUNT else discounts)
    ]
    wanted: dict[Hashable, Callable[[], Row]] = {}
    problems = {}
    for method, gamma in lines:
        problem = labyrinth_problem(recordings, gamma, FAMILIES[method])
        problems[method, gamma] = problem
        fingerprint = problem.fingerprint()
        for seed in seeds:
            key = (fingerprint, method, gamma, evaluations, seed)
            wanted[key] = partial(
                run_trial, problem, recordings, method, evaluations, seed, fingerprint
            )
    rows = run_trials(
        out,
        wanted,
        lambda row: tuple(row[k] for k in ("problem", "method", "gamma", "evaluations", "seed")),
        on_trial,
    )
    summary = [
        summarise(
            [row for row in rows if (row["method"], row["gamma"]) == line],
            problems[line],
        )
        for line in lines
    ]
    write_summary(out, summary)
    _draw(out, summary, problems)
    return summary


def run_trial(
    problem: LabyrinthProblem,
    recordings: Recordings,
    method: str,
    evaluations: int,
    seed: int,
    fingerprint: str,
) -> Row:
    """Learn from some runs of stretches, and foretell the others."""
    kept, held = (problem.demonstrations.subset(one) for one in _split(recordings, seed))
    learning = problem.with_demonstrations(kept)
    theta = None
    if method == "uniform":
        probabilities = uniform_turns(problem.maze)
    elif method == "markov":
        probabilities = observed_turns(problem.maze, kept)
    elif method.startswith("deep-maxent"):
        found = baselines.get("deep-maxent").run(learning, evaluations, seed)
        probabilities = found.policy(found.best_index).probabilities
    else:
        estimate = maximum_likelihood(learning, seed=seed)
        theta = estimate.theta.tolist()
        probabilities = problem.policy(estimate.theta).probabilities
    return {
        "problem": fingerprint,
        "method": method,
        "gamma": problem.gamma,
        "evaluations": evaluations,
        "seed": seed,
        "stretches": len(kept),
        "held_out_stretches": len(held),
        "bits": bits_per_decision(problem.maze, probabilities, kept),
        "held_out_bits": bits_per_decision(problem.maze, probabilities, held),
        "theta": theta,
    }


def _split(recordings: Recordings, seed: int) -> tuple[Any, Any]:
    return hold_out(recordings.runs, HELD_OUT, seed)


def summarise(rows: Sequence[Row], problem: LabyrinthProblem) -> Row:
    """Mean bits of a method; for rewards, the estimates of all stretches."""
    held = np.array([row["held_out_bits"] for row in rows])
    method = rows[0]["method"]
    line: Row = {
        "method": method,
        "gamma": None if method in WITHOUT_DISCOUNT else rows[0]["gamma"],
        "trials": len(rows),
        "bits": float(np.mean([row["bits"] for row in rows])),
        "held_out_bits": float(held.mean()),
        "held_out_sd": float(held.std()),
        "held_out_by_seed": {str(row["seed"]): row["held_out_bits"] for row in rows},
    }
    if rows[0]["theta"] is not None:
        estimate = maximum_likelihood(problem)
        line |= {
            "names": list(estimate.names),
            "theta": estimate.theta.tolist(),
            "standard_errors": estimate.standard_errors.tolist(),
            "clustered_errors": estimate.robust_standard_errors().tolist(),
            "log_likelihood": estimate.log_likelihood,
            "spread_of_folds": np.std([row["theta"] for row in rows], axis=0).tolist(),
        }
    return line


def _draw(
    out: Path, summary: Sequence[Row], problems: Mapping[tuple[str, float], LabyrinthProblem]
) -> None:
    fitted = [row for row in summary if row["method"] == "six"]
    if not fitted:
        return
    best = min(fitted, key=lambda row: row["held_out_bits"])
    problem = problems["six", best["gamma"]]
    worth = arrival_rewards(problem, problem.reward, best["theta"])
    save_figure(labyrinth_map(problem, problem.policy(best["theta"]), worth), out / "labyrinth.png")


def _wants(row: Row) -> str:
    if "theta" not in row:
        return "-"
    parts = zip(row["names"], row["theta"], row["clustered_errors"], strict=True)
    return ", ".join(f"{name} {value:.2f} ± {error:.2f}" for name, value, error in parts)


EXPERIMENT = Experiment(
    run,
    {
        "method": lambda row: row["method"],
        "gamma": lambda row: "-" if row["gamma"] is None else f"{row['gamma']:g}",
        "bits": lambda row: f"{row['bits']:.4f}",
        "held-out bits": lambda row: f"{row['held_out_bits']:.4f} ± {row['held_out_sd']:.4f}",
        "wants": _wants,
    },
    tiny={
        "seeds": [1000],
        "evaluations": 3,
        "discounts": [0.9],
        "made_up_stretches": 9,
    },
)
