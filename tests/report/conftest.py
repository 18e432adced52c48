"""A small answer to report on, with names that would run as scripts if they could."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import boirl
from boirl.problem import TabularProblem
from boirl.report.answer import Answer, answer_of
from boirl.report.content import content_of
from boirl.results import RewardSet
from boirl.search import SearchSettings

HOSTILE = "<script>alert(1)</script>"
QUOTED = '"noise" & <b>\''
EVALUATIONS = 14


def rewards_of(problem: Any, count: int = EVALUATIONS, **settings: Any) -> RewardSet:
    """A result of random thetas, without a search."""
    chosen = SearchSettings(kernel="rbf", **settings)
    unit = np.random.default_rng(0).random((count, problem.box.dimension))
    evaluations = tuple(problem.evaluate(theta) for theta in problem.box.from_unit(unit))
    surrogate = chosen.build_surrogate(problem)
    return RewardSet(problem, evaluations, surrogate, asdict(chosen))


def near_best(fitted: Any, count: int, n: int, rng: Any, *given: Any) -> Any:
    """In place of a posterior, which takes seconds: thetas around the best."""
    unit = fitted.best_unit + 0.2 * rng.standard_normal((n, fitted.box.dimension))
    return fitted.box.from_unit(np.clip(unit, 0.0, 1.0))


@pytest.fixture(scope="session")
def street() -> TabularProblem:
    """Seven houses in a row, with hostile names."""
    houses = np.arange(7)
    table = np.stack([np.maximum(houses - 1, 0), np.minimum(houses + 1, 6)], axis=1)
    mdp = boirl.TabularMDP.from_next_states(table, gamma=0.9)
    rng = np.random.default_rng(0)
    features = np.stack([rng.random(7), rng.random(7), houses == 5], axis=1)
    bounds = {HOSTILE: (0.0, 3.0), QUOTED: (-3.0, 0.0), "bakery": (0.0, 5.0)}
    walks = boirl.Demonstrations.from_trajectories(
        [([2, 3, 4, 5, 6, 5, 6], [1, 1, 1, 1, 0, 1, 0]), ([0, 1, 2, 3, 4, 5], [1, 1, 1, 1, 1, 1])]
    )
    return boirl.TabularProblem(mdp, boirl.LinearReward(features, bounds), walks, name=HOSTILE)


@contextmanager
def quick_posterior() -> Iterator[None]:
    """Samples of the posterior are thetas around the best, for as long as it lasts."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("boirl.results.reward_set.sample_rewards", near_best)
        yield


@pytest.fixture(autouse=True)
def quick_samples() -> Iterator[None]:
    with quick_posterior():
        yield


@pytest.fixture(scope="session")
def found(street: TabularProblem) -> RewardSet:
    """Treat it as read-only."""
    return rewards_of(street)


@pytest.fixture(scope="session")
def answer(found: RewardSet) -> Answer:
    with quick_posterior():
        return answer_of(found)


@pytest.fixture(scope="session")
def content(answer: Answer) -> dict[str, Any]:
    with quick_posterior():
        return content_of(answer)
