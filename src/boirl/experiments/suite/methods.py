"""The methods that the suite compares, under one signature."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from boirl.baselines import get as get_baseline
from boirl.errors import BoirlWarning
from boirl.experiments.suite import pyvbmc
from boirl.maximise import maximise
from boirl.problem import Problem
from boirl.results import RewardSet
from boirl.search import explore
from boirl.search.acquisitions import ACQUISITIONS, Proposal, ResolvePosterior, resolve, sharpen
from boirl.surrogate import FittedSurrogate
from boirl.types import FloatArray

SAMPLES = 1000
"""Draws from each posterior."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method found.

    Attributes:
        best_nll: The lowest.
        evaluations: Exact NLLs that it took, with or without gradients.
        failures: How many of them failed.
        seconds: In all.
        samples: Of the posterior over rewards, `n x d`; None where the method has none.
        found: The result of a search.
        warnings: What it warned of.
    """

    best_nll: float
    evaluations: int
    failures: int
    seconds: float
    samples: FloatArray | None = None
    found: RewardSet | None = None
    warnings: tuple[str, ...] = ()


Run = Callable[[Problem[Any], int, int], Answer]


@dataclass(frozen=True)
class Method:
    """How to run a method, and the evaluations that it gets: `base + per_parameter * d`."""

    run: Run
    base: int
    per_parameter: int

    def evaluations(self, dimension: int) -> int:
        return self.base + self.per_parameter * dimension


def _search(problem: Problem[Any], evaluations: int, seed: int, **settings: Any) -> Answer:
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BoirlWarning)
        found = explore(problem, evaluations, seed=seed, **settings)
        samples = found.sample(SAMPLES, seed)
    seconds = time.perf_counter() - began
    own = [str(one.message) for one in caught if issubclass(one.category, BoirlWarning)]
    return Answer(
        found.best_nll,
        len(found),
        int(np.isnan(found.nll).sum()),
        seconds,
        samples,
        found,
        tuple(dict.fromkeys(own)),
    )


def _descents(problem: Problem[Any], evaluations: int, seed: int) -> Answer:
    began = time.perf_counter()
    run = get_baseline("maxent").run(problem, evaluations, seed)
    seconds = time.perf_counter() - began
    return Answer(run.best_nll, len(run), int(np.isnan(run.nll).sum()), seconds)


def _variational(problem: Problem[Any], evaluations: int, seed: int) -> Answer:
    fitted = pyvbmc.run(problem, evaluations, seed, SAMPLES)
    return Answer(
        float(np.nanmin(fitted.nll)),
        len(fitted.nll),
        int(np.isnan(fitted.nll).sum()),
        fitted.seconds,
        fitted.samples,
    )


def _uncertain(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """`resolve` without turns that improve the best, without checks and without descents."""
    unit, _ = maximise(ResolvePosterior(surrogate), surrogate.best_unit, rng)
    return Proposal(unit, "resolve")


def _without_descents(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """`resolve`, under another name: a search descends where the acquisition is that function."""
    return resolve(surrogate, rng)


ACQUISITIONS.register("resolve-uncertain", _uncertain)
ACQUISITIONS.register("resolve-no-checks", sharpen)
ACQUISITIONS.register("resolve-no-descents", _without_descents)

METHODS: dict[str, Method] = {
    "search": Method(_search, 20, 10),
    "search-few": Method(_search, 10, 2),
    "few-rho-rbf": Method(partial(_search, kernel="rho-rbf"), 10, 2),
    "few-theta": Method(partial(_search, kernel="matern", smoothness=2.5), 10, 2),
    "few-log-ei": Method(partial(_search, acquisition="log-ei"), 10, 2),
    "few-uncertain": Method(partial(_search, acquisition="resolve-uncertain"), 10, 2),
    "few-no-descents": Method(partial(_search, acquisition="resolve-no-descents"), 10, 2),
    "few-no-checks": Method(partial(_search, acquisition="resolve-no-checks"), 10, 2),
    "no-checks": Method(partial(_search, acquisition="resolve-no-checks"), 20, 10),
    "few-uniform": Method(partial(_search, rollouts="uniform"), 10, 2),
    "random": Method(partial(_search, acquisition="random"), 20, 10),
    "maxent": Method(_descents, 20, 10),
    "pyvbmc": Method(_variational, 10, 4),
}
"""By the name in tables. Those with `few-` are `search-few` with one part replaced, to see what it
is worth. `random` evaluates uniformly drawn thetas and models them as a search."""
