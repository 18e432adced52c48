"""Is it worth looking two evaluations ahead? (Paper, future work: nonmyopic search.)

Expected improvement and the same with a look ahead (`boirl.search.lookahead`), from the same
start, on the same surrogate; and the default of boirl, which has descents beside. On problems of
the suite, with gradients and with values alone, as where policies are learned. CPU seconds are of a
proposal and its evaluation, which takes milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from boirl.experiments.regrets import (
    ValuesAlone,
    first_within,
    mean_log_regret,
    regrets,
    tabular_problem,
)
from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    check_methods,
    quiet,
    run_trials,
    times,
    write_summary,
)
from boirl.search import explore

ACQUISITIONS = ("log-ei", "two-step", "resolve")
EVIDENCE = ("values", "gradients")
PROBLEMS = ("mdp-few", "mdp-logistic")
KEY = ("problem", "evidence", "method", "evaluations", "seed")


def run_trial(name: str, evidence: str, method: str, evaluations: int, seed: int) -> Row:
    """One search, and how far from the optimum it is as it goes on."""
    whole = tabular_problem(name, seed)
    problem = ValuesAlone.of(whole) if evidence == "values" else whole
    began = time.process_time()
    found = explore(problem, evaluations, n_initial=2, seed=seed, acquisition=method)
    seconds = time.process_time() - began
    return {
        **dict(zip(KEY, (name, evidence, method, evaluations, seed), strict=True)),
        "regret": regrets(whole, found.nll).tolist(),
        "cpu_seconds": seconds / evaluations,
    }


def run(
    out: Path,
    methods: Sequence[str] = ACQUISITIONS,
    seeds: Sequence[int] = tuple(range(100, 106)),
    evaluations: int = 20,
    problems: Sequence[str] = PROBLEMS,
    evidence: Sequence[str] = EVIDENCE,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Compare acquisitions, see `Experiment`; each seed is a problem of its own."""
    check_methods(methods, ACQUISITIONS)
    keys = [
        (name, kind, method, evaluations, seed)
        for kind in evidence
        for name in problems
        for seed in seeds
        for method in methods
    ]
    wanted: dict[Hashable, Callable[[], Row]] = {key: partial(run_trial, *key) for key in keys}
    rows = run_trials(out, wanted, lambda row: tuple(row[name] for name in KEY), on_trial)
    summary = [
        summarise([row for row in rows if (row["evidence"], row["method"]) == (kind, method)])
        for kind in evidence
        for method in methods
    ]
    write_summary(out, summary)
    return summary


def summarise(rows: Sequence[Row]) -> Row:
    """Regret over all evaluations, and when within a tolerance of the optimum."""
    curves = [np.array(row["regret"]) for row in rows]
    return {
        "evidence": rows[0]["evidence"],
        "method": rows[0]["method"],
        "problems": len(rows),
        "evaluations": rows[0]["evaluations"],
        "log_regret": float(np.nanmean([mean_log_regret(one) for one in curves])),
        "last_log_regret": float(np.nanmean([mean_log_regret(one[-1:]) for one in curves])),
        "within_1": times([first_within(one, 1.0) for one in curves]),
        "within_0.1": times([first_within(one, 0.1) for one in curves]),
        "cpu_seconds": float(np.mean([row["cpu_seconds"] for row in rows])),
    }


def show_within(level: str, row: Row) -> str:
    """Share of trials that came within a level, and after how many evaluations on average."""
    found = row[f"within_{level}"]
    after = "" if found["after_mean"] is None else f" after {found['after_mean']:.1f}"
    return f"{found['reached']:.0%}{after}"


EXPERIMENT = Experiment(
    run,
    {
        "evidence": lambda row: row["evidence"],
        "method": lambda row: row["method"],
        "problems": lambda row: str(row["problems"]),
        "log10 regret": lambda row: f"{row['log_regret']:.2f}",
        "at the end": lambda row: f"{row['last_log_regret']:.2f}",
        "within 1": partial(show_within, "1"),
        "within 0.1": partial(show_within, "0.1"),
        "CPU s each": lambda row: f"{row['cpu_seconds']:.2f}",
    },
    tiny={"seeds": [1002], "evaluations": 4, "problems": ["mdp-few"], "evidence": ["values"]},
)
