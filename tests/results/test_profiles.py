"""Profile intervals by the NLL that a search expects."""

import numpy as np
import pytest

import boirl
from boirl.errors import InvalidInputError


@pytest.fixture(scope="module")
def problem():
    """A ring whose two weights many walks pin down."""
    states = np.arange(8)
    steps = np.stack([(states + 1) % 8, (states - 1) % 8], axis=1)
    mdp = boirl.TabularMDP.from_next_states(steps, 0.8)
    features = np.random.default_rng(0).standard_normal((8, 2))
    reward = boirl.LinearReward(features, {"first": (-2, 2), "second": (-2, 2)})
    solver = boirl.TabularSolver("logsumexp")
    policy = solver.solve(mdp, (features @ [0.8, -0.5])[:, None])
    rng = np.random.default_rng(1)
    shown = policy.sample(mdp, rng.integers(8, size=60), 10, rng)
    return boirl.TabularProblem(mdp, reward, shown, solver)


@pytest.fixture(scope="module")
def found(problem):
    return boirl.explore(problem, evaluations=16, seed=1000)


@pytest.mark.parametrize("name", ["first", "second"])
def test_it_is_the_exact_one_where_the_search_knows_the_landscape(problem, found, name):
    exact = boirl.maximum_likelihood(problem).profile_interval(name)
    own = found.profile_interval(name)
    width = exact.high - exact.low
    assert own.low == pytest.approx(exact.low, abs=0.05 * width)
    assert own.high == pytest.approx(exact.high, abs=0.05 * width)
    assert (own.open_low, own.open_high) == (exact.open_low, exact.open_high)


def test_it_is_wider_at_a_higher_level(found):
    narrow, wide = (found.profile_interval("first", level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_it_refuses_what_there_is_not(found):
    with pytest.raises(InvalidInputError, match="no parameter 'third'; expected one of first"):
        found.profile_interval("third")
    with pytest.raises(InvalidInputError, match="level is 95"):
        found.profile_interval("first", 95)
