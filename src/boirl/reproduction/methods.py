"""The rows of Table 1: searches by kernel, as published and as they are here, and all baselines."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from boirl.baselines import BASELINES
from boirl.errors import SaturationWarning
from boirl.evaluation import Evaluation
from boirl.experiments.baselines import BUDGETS
from boirl.experiments.trials import DRAWN_AT_ONCE, METHODS, check_methods, hard_start
from boirl.problem import Problem
from boirl.reproduction.environments import ENVIRONMENTS, hard_nll
from boirl.results import RewardSet
from boirl.search import Study
from boirl.search.driver import evaluation_seed

AS_PUBLISHED = ", as published"
"""Ending of the names of searches with the paper's settings: `K` and `M` of its appendix, rho
rather than its logarithm, roll-outs of the uniform policy, expected improvement, no gradients."""

WITH_LOG_RHO = f"rho-rbf{AS_PUBLISHED} but log rho"
"""The search that differs from the published one in nothing but the logarithm."""

PUBLISHED_KERNELS = ("rho-rbf", "rbf", "matern")
SEARCHES = (*METHODS, *(f"{kernel}{AS_PUBLISHED}" for kernel in PUBLISHED_KERNELS), WITH_LOG_RHO)

KERNELS_SHOWN = ("rho-rbf", "rbf", "matern")
"""Of the figures that compare kernels."""


def baselines() -> dict[str, tuple[str, dict[str, Any], int]]:
    """Name in the registry, settings and evaluations at most, by the name in tables.

    Every registered baseline has a row, also one of another package. Random search is a search.
    """
    used = {name for name, _, _ in BUDGETS.values()} | {"random"}
    others: dict[str, tuple[str, dict[str, Any], int]] = {
        name: (name, {}, kind.default_evaluations)
        for name, kind in BASELINES.items()
        if name not in used
    }
    return BUDGETS | others


def all_methods() -> tuple[str, ...]:
    """All rows, in the order of the table."""
    return (*SEARCHES, *baselines())


def chosen_methods(wanted: Sequence[str] | None) -> tuple[str, ...]:
    """All rows, or those wanted; a name that is no row is refused."""
    if wanted is None:
        return all_methods()
    check_methods(wanted, all_methods())
    return tuple(wanted)


def search_settings(environment: str, method: str) -> dict[str, Any]:
    """Settings of a search, for `Study`."""
    kernel, dash, _ = method.partition(AS_PUBLISHED)
    if not dash:
        return dict(METHODS[method])
    own = ENVIRONMENTS[environment]
    return {
        **METHODS[kernel],
        "acquisition": "log-ei",
        "projection": "log-rho" if method == WITH_LOG_RHO else "rho",
        "rollouts": "uniform",
        "linear": False,
        "scale": "linear",
        "n_demonstrations": own.projected,
        "n_rollouts": own.rollouts,
        "drop": list(own.dropped),
    }


def run_search(
    problem: Problem[Any],
    environment: str,
    method: str,
    seed: int,
    evaluations: int,
    quick: bool,
    callback: Callable[[Evaluation, int], bool] = lambda evaluation, number: False,
) -> RewardSet:
    """A search from an initial point of high NLL, until a callback ends it by returning True."""
    at_once = 1 if problem.is_model_free else DRAWN_AT_ONCE
    start = hard_start(problem, seed, hard_nll(environment, quick), at_once)
    settings = search_settings(environment, method)
    if quick:
        settings["n_rollouts"] = min(settings.get("n_rollouts", 5), 5)
    with warnings.catch_warnings():
        # That uniform roll-outs tell nothing apart on roads is one of the findings.
        warnings.simplefilter("ignore", SaturationWarning)
        study = Study(problem, seed=seed, initial=[start], **settings)
        for number in range(evaluations):
            question = study.ask()
            evaluation = problem.evaluate(question.theta, evaluation_seed(seed, number))
            if AS_PUBLISHED in method:
                evaluation = replace(evaluation, gradient=None)
            study.tell(question, evaluation)
            if callback(evaluation, number):
                break
        return study.result()
