"""A corridor that leads to a junction: which prize is the demonstrator after?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boirl
from boirl.decisions.ensemble import Ensemble, solved_ensemble
from boirl.experiments.worst_case import problem_of
from boirl.problem import TabularProblem
from boirl.results import RewardSet

LEFT, RIGHT = (9.0, 1.0), (1.0, 9.0)
"""Thetas: what the prizes to the left and to the right are worth."""


@pytest.fixture(autouse=True)
def quick_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of the posterior are drawn from all over the box: they are not the subject here."""

    def drawn(fitted: Any, count: int, n: int, rng: Any, *others: Any) -> Any:
        return fitted.box.from_unit(rng.random((n, fitted.box.dimension)))

    monkeypatch.setattr("boirl.results.reward_set.sample_rewards", drawn)


@pytest.fixture(scope="session")
def junction() -> TabularProblem:
    return problem_of("ambiguous", 1000)


@pytest.fixture(scope="session")
def two(junction: TabularProblem) -> Ensemble:
    """Two incompatible rewards, equally probable."""
    return solved_ensemble(junction, np.array([LEFT, RIGHT]))


@pytest.fixture(scope="session")
def found(junction: TabularProblem) -> RewardSet:
    return boirl.explore(junction, 6, kernel="rbf", acquisition="random", seed=1000)
