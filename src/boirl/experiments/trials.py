"""What experiments share: hard starts, searches, and trials that are kept as they finish."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError, StorageError
from boirl.files import make_folder, write_bytes
from boirl.problem import Problem
from boirl.results import RewardSet
from boirl.search import explore
from boirl.types import FloatArray

METHODS: dict[str, dict[str, Any]] = {
    "rho-matern": {"kernel": "rho-matern"},
    "rho-rbf": {"kernel": "rho-rbf"},
    "rbf": {"kernel": "rbf"},
    "matern": {"kernel": "matern"},
    "random": {"kernel": "rbf", "acquisition": "random"},
}
"""Settings of the searches that are compared, by the name in tables."""

HARD_START_STREAM = 90
HARD_DRAWS = 64 * 64
DRAWN_AT_ONCE = 64

Row = dict[str, Any]
OnTrial = Callable[[int, int], None]
"""Called after each trial with how many are done, and how many there are."""


@dataclass(frozen=True)
class Experiment:
    """What to run, and how to print the lines of its summary, by heading.

    All `run` take `out`, the folder for `trials.json`, whose trials are not run again, and for
    `summary.json`; and `on_trial`. Most take some of `methods` to compare, `seeds` of the trials
    and the number of `evaluations` of each. They return the lines of the summary.

    `tiny` are options with which it runs in seconds, to see that it runs.
    """

    run: Callable[..., list[Row]]
    columns: Mapping[str, Callable[[Row], str]]
    tiny: Mapping[str, Any]


def quiet(done: int, total: int) -> None:
    """Report a finished trial to nobody."""


def hard_start(
    problem: Problem[Any], seed: int, at_least: float, at_once: int = DRAWN_AT_ONCE
) -> FloatArray:
    """The first of a sequence of uniformly drawn thetas whose NLL is above `at_least`.

    Thetas are evaluated so many at once: many where that is cheap, one where each has to learn.
    """
    rng = np.random.default_rng([seed, 0, HARD_START_STREAM])
    highest = -np.inf
    for _ in range(HARD_DRAWS // at_once):
        thetas = problem.box.from_unit(rng.random((at_once, problem.box.dimension)))
        nll = problem.nll_batch(thetas)
        hard = np.flatnonzero(nll > at_least)
        if hard.size:
            return thetas[hard[0]]
        highest = max(highest, float(np.nan_to_num(nll, nan=-np.inf).max()))
    raise InvalidInputError(
        f"none of {HARD_DRAWS} rewards has an NLL above {at_least:g}, the highest has "
        f"{highest:.4g}; expected demonstrations like the paper's"
    )


@lru_cache(maxsize=8)
def expert_esor(problem: Problem[Any]) -> float:
    """The expected true return of the true theta's policy, learned once per problem."""
    return float(problem.esor(np.array(problem.truth)))


def check_methods(methods: Sequence[str], known: Iterable[str] = tuple(METHODS)) -> None:
    """Refuse names that are no methods."""
    unknown = set(methods) - set(known)
    if unknown:
        raise InvalidInputError(
            f"there is no method {', '.join(sorted(unknown))}; expected some of {'; '.join(known)}"
        )


def run_trials(
    out: Path,
    wanted: Mapping[Hashable, Callable[[], Row]],
    key: Callable[[Row], Hashable],
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """The rows of all trials wanted; those that `trials.json` holds already are not run again.

    Args:
        out: Folder of `trials.json`, written after each trial.
        wanted: How to run each trial, by its key.
        key: The key of a row.
        on_trial: See `OnTrial`.
    """
    make_folder(out)
    path = out / "trials.json"
    kept = _read(path)
    rows = []
    for wanted_key, run in wanted.items():
        row = next((row for row in kept if key(row) == wanted_key), None)
        if row is None:
            row = run()
            kept.append(row)
            write_bytes(path, (json.dumps(kept, indent=1) + "\n").encode())
        rows.append(row)
        on_trial(len(rows), len(wanted))
    return rows


def run_seeds(
    out: Path,
    run_trial: Callable[[int, int], Row],
    summarise: Callable[[Sequence[Row]], Row],
    seeds: Sequence[int],
    evaluations: int,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Run one trial for each seed, and write the one line of the summary.

    Args:
        out: See `run_trials`.
        run_trial: From a seed and a number of evaluations to a row with these.
        summarise: From all rows to the line.
        seeds: Of the trials.
        evaluations: Of each search.
        on_trial: See `OnTrial`.
    """
    wanted: dict[Hashable, Callable[[], Row]] = {
        (seed, evaluations): partial(run_trial, seed, evaluations) for seed in seeds
    }
    rows = run_trials(out, wanted, lambda row: (row["seed"], row["evaluations"]), on_trial)
    summary = [summarise(rows)]
    write_summary(out, summary)
    return summary


def run_searches(
    out: Path,
    problem: Problem[Any],
    run_trial: Callable[[Any, str, int, int], Row],
    summarise: Callable[[Sequence[Row]], Row],
    methods: Sequence[str],
    seeds: Sequence[int],
    evaluations: int,
    on_trial: OnTrial = quiet,
    known: Iterable[str] = tuple(METHODS),
) -> list[Row]:
    """Search with every method and seed, and write a line of the summary for each method.

    Args:
        out: See `run_trials`.
        problem: To search on.
        run_trial: From problem, method, seed and evaluations to a row with these, where `problem`
            is the fingerprint.
        summarise: From the rows of a method to its line.
        methods: Some of those `known`.
        seeds: Of the searches.
        evaluations: Of each search.
        on_trial: See `OnTrial`.
        known: All methods that there are.
    """
    check_methods(methods, known)
    fingerprint = problem.fingerprint()
    wanted: dict[Hashable, Callable[[], Row]] = {
        (fingerprint, evaluations, method, seed): partial(
            run_trial, problem, method, seed, evaluations
        )
        for method in methods
        for seed in seeds
    }
    rows = run_trials(
        out,
        wanted,
        lambda row: (row["problem"], row["evaluations"], row["method"], row["seed"]),
        on_trial,
    )
    summary = [summarise([row for row in rows if row["method"] == method]) for method in methods]
    write_summary(out, summary)
    return summary


def search_and_time(
    problem: Problem[Any],
    method: str,
    seed: int,
    evaluations: int,
    hard_nll: float,
    n_demonstrations: int,
) -> tuple[RewardSet, Row]:
    """A search from a hard start where policies are learned, and what is kept of any such."""
    start = hard_start(problem, seed, hard_nll, at_once=1)
    began = time.perf_counter()
    found = explore(
        problem,
        evaluations,
        seed=seed,
        initial=[start],
        n_demonstrations=n_demonstrations,
        **METHODS[method],
    )
    seconds = time.perf_counter() - began
    return found, {
        "problem": problem.fingerprint(),
        "evaluations": evaluations,
        "method": method,
        "seed": seed,
        "thetas": found.thetas.tolist(),
        "nll": found.nll.tolist(),
        "nll_se": found.nll_se.tolist(),
        "seconds": seconds,
        "evaluation_seconds": float(found.seconds.sum()),
    }


def times(hits: Sequence[int | None]) -> Row:
    """How many trials got somewhere, and after how many evaluations those that did; None is never.

    Mean and standard deviation are over the trials that did, as in the paper.
    """
    reached = [hit for hit in hits if hit is not None]
    return {
        "reached": len(reached) / len(hits),
        "after_mean": float(np.mean(reached)) if reached else None,
        "after_sd": float(np.std(reached)) if reached else None,
    }


def show_after(row: Row) -> str:
    """The mean and standard deviation of `times`, for a table."""
    return "-" if row["after_mean"] is None else f"{row['after_mean']:.1f} ± {row['after_sd']:.1f}"


def write_summary(out: Path, summary: Sequence[Row]) -> None:
    """Write `summary.json`."""
    write_bytes(out / "summary.json", (json.dumps(summary, indent=2) + "\n").encode())


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    try:
        rows: list[Row] = json.loads(path.read_text())
    except ValueError as error:
        raise StorageError(
            f"{str(path)!r} is damaged ({error}); move it away to run its trials again"
        ) from error
    return rows
