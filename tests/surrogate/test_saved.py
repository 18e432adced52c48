"""A surrogate that is written to a file and read again."""

import json

import numpy as np
import pytest

from boirl.files import read_arrays, write_arrays
from boirl.projections import Identity
from boirl.search.growth import GrowingRollouts
from boirl.search.settings import SearchSettings
from boirl.surrogate.saved import surrogate_from_parts, surrogate_parts


def through_a_file(surrogate, problem, folder):
    facts, arrays = surrogate_parts(surrogate)
    write_arrays(folder / "surrogate.npz", arrays)
    return surrogate_from_parts(
        problem,
        json.loads(json.dumps(facts)),
        read_arrays(folder / "surrogate.npz", "a surrogate"),
    )


def assert_same(found, expected, problem):
    assert type(found.projection) is type(expected.projection)
    assert found.projection.fingerprint() == expected.projection.fingerprint()
    assert (found.kernel, found.scale, found.n_demonstrations) == (
        expected.kernel,
        expected.scale,
        expected.n_demonstrations,
    )
    unit = np.random.default_rng(1000).random((7, problem.box.dimension))
    thetas = problem.box.from_unit(unit)
    nll = problem.nll_batch(thetas)
    first, second = (one.build(thetas[:5], nll[:5]).posterior(thetas) for one in (found, expected))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"projection": "rho", "linear": False},
        {"projection": "canonical", "scale": "log"},
        {"kernel": "rbf", "linear": True},
        {"kernel": "matern", "smoothness": 2.5, "scale": "linear"},
        {"n_demonstrations": 3, "n_rollouts": 2},
    ],
    ids=str,
)
def test_a_surrogate_survives_a_file(random_problem, options, tmp_path):
    problem = random_problem(1000, "logsumexp")
    surrogate = SearchSettings(**options).build_surrogate(problem)
    again = through_a_file(surrogate, problem, tmp_path)
    assert_same(again, surrogate, problem)


def test_a_surrogate_on_theta_needs_no_arrays(random_problem):
    problem = random_problem(1000)
    facts, arrays = surrogate_parts(SearchSettings(kernel="rbf").build_surrogate(problem))
    assert arrays == {}
    assert isinstance(surrogate_from_parts(problem, facts, arrays).projection, Identity)


def test_roll_outs_that_have_grown_survive(random_problem, tmp_path):
    problem = random_problem(1000, "logsumexp")
    evaluations = [problem.evaluate(theta) for theta in ((1.0, 1.0), (-1.0, 0.5))]
    start = SearchSettings(n_rollouts=3).build_surrogate(problem)
    grown = GrowingRollouts(problem, start, seed=7)(evaluations)
    again = through_a_file(grown, problem, tmp_path)
    assert again.projection.compares_policies
    assert_same(again, grown, problem)


def test_dropped_parameters_stay_dropped(random_problem, tmp_path):
    free = random_problem(1000)
    problem = random_problem(1000, reward=free.reward.fix(second=1.5))
    surrogate = SearchSettings(drop=("second",)).build_surrogate(problem)
    again = through_a_file(surrogate, problem, tmp_path)
    assert [one.fixed for one in again.projection.reward.parameters] == [None, 0.0]
    assert_same(again, surrogate, problem)
