"""What do several workers at once gain, and what do they lose? (Paper, future work: batch mode.)

With `q` workers, a search asks for `q` thetas, then is told all `q` evaluations: the proposals of
a batch know nothing of each other's outcomes, which are taken to come out as expected. Per round a
batch gets on faster, per evaluation slower. On a cluster `Study.run` asks for another theta as soon
as a worker is free, and loses less.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from boirl.experiments.look_ahead import show_within
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
    quiet,
    run_trials,
    times,
    write_summary,
)
from boirl.search import Study

SIZES = (1, 2, 4, 8)
EVIDENCE = ("values", "gradients")
PROBLEMS = ("mdp-few", "mdp-some")
KEY = ("problem", "evidence", "workers", "evaluations", "seed")


def run_trial(name: str, evidence: str, workers: int, evaluations: int, seed: int) -> Row:
    """One search in batches, and how far from the optimum it is as it goes on."""
    whole = tabular_problem(name, seed)
    problem = ValuesAlone.of(whole) if evidence == "values" else whole
    study = Study(problem, n_initial=2, seed=seed)
    nll: list[float] = []
    asking = 0.0
    while len(nll) < evaluations:
        began = time.process_time()
        asked = [study.ask() for _ in range(min(workers, evaluations - len(nll)))]
        asking += time.process_time() - began
        for question in asked:
            evaluation = problem.evaluate(question.theta)
            study.tell(question, evaluation)
            nll.append(evaluation.nll)
    return {
        **dict(zip(KEY, (name, evidence, workers, evaluations, seed), strict=True)),
        "regret": regrets(whole, np.array(nll)).tolist(),
        "cpu_seconds": asking / evaluations,
    }


def run(
    out: Path,
    seeds: Sequence[int] = tuple(range(100, 106)),
    evaluations: int = 24,
    problems: Sequence[str] = PROBLEMS,
    workers: Sequence[int] = SIZES,
    evidence: Sequence[str] = EVIDENCE,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Compare sizes of batches, see `Experiment`; each seed is a problem of its own."""
    keys = [
        (name, kind, count, evaluations, seed)
        for kind in evidence
        for name in problems
        for seed in seeds
        for count in workers
    ]
    wanted: dict[Hashable, Callable[[], Row]] = {key: partial(run_trial, *key) for key in keys}
    rows = run_trials(out, wanted, lambda row: tuple(row[name] for name in KEY), on_trial)
    summary = [
        summarise([row for row in rows if (row["evidence"], row["workers"]) == (kind, count)])
        for kind in evidence
        for count in workers
    ]
    write_summary(out, summary)
    return summary


def summarise(rows: Sequence[Row]) -> Row:
    """Regret per evaluation and per round."""
    workers = rows[0]["workers"]
    curves = [np.array(row["regret"]) for row in rows]
    by_round = [one[workers - 1 :: workers] for one in curves]
    return {
        "evidence": rows[0]["evidence"],
        "workers": workers,
        "problems": len(rows),
        "evaluations": rows[0]["evaluations"],
        "log_regret": float(np.nanmean([mean_log_regret(one) for one in curves])),
        "last_log_regret": float(np.nanmean([mean_log_regret(one[-1:]) for one in curves])),
        "within_1": times([first_within(one, 1.0) for one in curves]),
        "rounds_within_1": times([first_within(one, 1.0) for one in by_round]),
        "cpu_seconds": float(np.mean([row["cpu_seconds"] for row in rows])),
    }


def _rounds(row: Row) -> str:
    mean = row["rounds_within_1"]["after_mean"]
    return "-" if mean is None else f"{mean:.1f}"


EXPERIMENT = Experiment(
    run,
    {
        "evidence": lambda row: row["evidence"],
        "workers": lambda row: str(row["workers"]),
        "problems": lambda row: str(row["problems"]),
        "log10 regret": lambda row: f"{row['log_regret']:.2f}",
        "at the end": lambda row: f"{row['last_log_regret']:.2f}",
        "within 1": partial(show_within, "1"),
        "rounds": _rounds,
        "CPU s each": lambda row: f"{row['cpu_seconds']:.2f}",
    },
    tiny={
        "seeds": [1002],
        "evaluations": 4,
        "problems": ["mdp-few"],
        "workers": [1, 2],
        "evidence": ["values"],
    },
)
