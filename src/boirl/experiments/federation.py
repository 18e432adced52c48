"""Is the answer of two sites that of all demonstrations in one place?

The demonstrations of Gridworld are at one site, at two sites in this process, and at two sites
behind HTTP. The three searches have to agree to the last bit. Beside them a search that knows
nothing of sites: its NLLs, gradients and projections are the same but for rounding, and what a
search makes of rounding is measured by one in which the last bit of every NLL is another one. Two
more sites answer with noise.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from boirl.evaluation import Evaluation
from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    check_methods,
    quiet,
    run_trials,
    write_summary,
)
from boirl.federation import (
    FederatedProblem,
    HttpSite,
    Ledger,
    LocalSite,
    PrivacyTerms,
    SiteServer,
)
from boirl.federation.problem import without_demonstrations
from boirl.problem import Problem, TabularProblem, load_problem
from boirl.projections import LogRho
from boirl.search import SearchSettings, explore
from boirl.types import FloatArray, Report

SHARE = 0.4
"""Of the demonstrations, that are at the first of two sites."""

PRIVATE_DEMONSTRATIONS = 4000
EPSILONS = (1.0, 10.0)
DELTA, CLIP = 1e-6, 60.0
"""Most trajectories of Gridworld have an NLL below `CLIP` under most rewards."""

REFERENCE = "one site"
METHODS = (
    REFERENCE,
    "two sites",
    "two sites, HTTP",
    "no sites",
    "no sites, last bit",
    *(f"two sites, epsilon {epsilon:g}" for epsilon in EPSILONS),
)


class LastBit(TabularProblem):
    """A problem whose NLLs are the next numbers that a computer knows: what rounding may do."""

    def _evaluate(self, theta: FloatArray, seed: int | None, report: Report) -> Evaluation:
        found = super()._evaluate(theta, seed, report)
        return replace(found, nll=float(np.nextafter(found.nll, np.inf)))


def parts_of(problem: TabularProblem) -> list[TabularProblem]:
    """The problems of two sites."""
    shown = problem.demonstrations
    cut = int(SHARE * len(shown))
    ranges = (range(cut), range(cut, len(shown)))
    return [problem.with_demonstrations(shown.subset(list(own))) for own in ranges]


def federated(problem: TabularProblem, method: str, stack: ExitStack) -> Problem[Any]:
    """The problem that a search of this method is on; the stack ends servers."""
    parts, known = parts_of(problem), without_demonstrations(problem)
    names = [f"site-{number}" for number in range(len(parts))]
    if method == "no sites":
        return problem
    if method == "no sites, last bit":
        return LastBit(**{one.name: getattr(problem, one.name) for one in fields(problem)})
    if method == REFERENCE:
        return FederatedProblem.split(problem, [len(problem.demonstrations)])
    if method == "two sites":
        return FederatedProblem.split(problem, [len(one.demonstrations) for one in parts])
    token = secrets.token_urlsafe(24)
    servers = [
        stack.enter_context(SiteServer(LocalSite(one, name), token))
        for one, name in zip(parts, names, strict=True)
    ]
    sites = [stack.enter_context(HttpSite(one.address, token)) for one in servers]
    return FederatedProblem(known, sites)


def run_trial(problem: TabularProblem, method: str, seed: int, evaluations: int) -> Row:
    """One search, and how far the functions behind it are from those of all demonstrations."""
    began = time.perf_counter()
    with ExitStack() as stack:
        chosen = federated(problem, method, stack)
        found = explore(chosen, evaluations, seed=seed)
        seconds = time.perf_counter() - began
        here = [problem.nll_and_gradient(theta) for theta in found.thetas]
        gradients = np.array([one.gradient for one in found.evaluations])
        settings = SearchSettings(seed=seed)
        pooled = settings.build_surrogate(problem).projection
        assert isinstance(pooled, LogRho)
        at = torch.tensor(found.thetas)
        own = settings.build_surrogate(chosen).projection.project(at)
        projected = float((own - pooled.project(at)).abs().max())
    return {
        "problem": problem.fingerprint(),
        "evaluations": evaluations,
        "method": method,
        "seed": seed,
        "thetas": found.thetas.tolist(),
        "nll": found.nll.tolist(),
        "best_nll": found.best_nll,
        "nll_error": float(np.abs(found.nll - [nll for nll, _ in here]).max()),
        "gradient_error": float(np.abs(gradients - [own for _, own in here]).max()),
        "projection_error": projected,
        "seconds": seconds,
    }


def run_private(problem: TabularProblem, method: str, seed: int, evaluations: int) -> Row:
    """A search on noisy sums, judged by exact NLLs of the same demonstrations."""
    epsilon = float(method.rpartition(" ")[2])
    assert problem.truth is not None
    many = problem.with_demonstrations(
        problem.demonstrate(problem.truth, PRIVATE_DEMONSTRATIONS, seed)
    )
    terms = PrivacyTerms(epsilon, DELTA, CLIP, evaluations)
    sites = [
        LocalSite(one, f"site-{number}", Ledger(terms)) for number, one in enumerate(parts_of(many))
    ]
    began = time.perf_counter()
    private = FederatedProblem(without_demonstrations(many), sites)
    found = explore(private, evaluations, seed=seed, kernel="matern")
    exact = explore(many, evaluations, seed=seed)
    return {
        "problem": problem.fingerprint(),
        "evaluations": evaluations,
        "method": method,
        "seed": seed,
        "epsilon": epsilon,
        "delta": DELTA,
        "clip": CLIP,
        "demonstrations": PRIVATE_DEMONSTRATIONS,
        "nll_se": float(found.nll_se[0]),
        "regret": many.nll(found.expected_best) - exact.best_nll,
        "tolerance": exact.likelihood_ratio_tolerance(),
        "seconds": time.perf_counter() - began,
    }


def run(
    out: Path,
    methods: Sequence[str] = METHODS,
    seeds: Sequence[int] = (0, 1, 2),
    evaluations: int = 40,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Compare where demonstrations are, see `Experiment`."""
    check_methods(methods, METHODS)
    problem = load_problem("gridworld")
    wanted: dict[Hashable, Callable[[], Row]] = {}
    for method in methods:
        for seed in seeds:
            trial = run_private if "epsilon" in method else run_trial
            key = (problem.fingerprint(), evaluations, method, seed)
            wanted[key] = partial(trial, problem, method, seed, evaluations)
    rows = run_trials(
        out,
        wanted,
        lambda row: (row["problem"], row["evaluations"], row["method"], row["seed"]),
        on_trial,
    )
    summary = [
        summarise(
            [row for row in rows if row["method"] == method],
            [row for row in rows if row["method"] == REFERENCE],
        )
        for method in methods
    ]
    write_summary(out, summary)
    return summary


def summarise(rows: Sequence[Row], reference: Sequence[Row]) -> Row:
    """The largest differences over all seeds; with noise, means over them."""
    first = rows[0]
    line: Row = {
        "method": first["method"],
        "trials": len(rows),
        "evaluations": first["evaluations"],
    }
    line["seconds"] = float(np.mean([row["seconds"] for row in rows]))
    if "epsilon" in first:
        line |= {key: first[key] for key in ("epsilon", "delta", "clip", "demonstrations")}
        line |= {
            key: float(np.mean([row[key] for row in rows]))
            for key in ("nll_se", "regret", "tolerance")
        }
        return line
    for key in ("nll_error", "gradient_error", "projection_error"):
        line[key] = max(row[key] for row in rows)
    line["best_nll"] = [row["best_nll"] for row in rows]
    pairs = list(zip(rows, reference, strict=False))
    for key in ("thetas", "nll"):
        apart = [float(np.abs(np.subtract(one[key], other[key])).max()) for one, other in pairs]
        line[f"{key}_apart"] = max(apart, default=None)
    return line


def _show(key: str) -> Callable[[Row], str]:
    return lambda row: f"{row[key]:.2g}" if row.get(key) is not None else "-"


EXPERIMENT = Experiment(
    run,
    {
        "demonstrations at": lambda row: row["method"],
        "thetas apart": _show("thetas_apart"),
        "NLLs apart": _show("nll_apart"),
        "NLL, error": _show("nll_error"),
        "gradient": _show("gradient_error"),
        "projection": _show("projection_error"),
        "NLL, noise": _show("nll_se"),
        "regret": _show("regret"),
        "seconds": _show("seconds"),
    },
    tiny={
        "methods": [REFERENCE, "two sites", "two sites, HTTP"],
        "seeds": [1000],
        "evaluations": 3,
    },
)
