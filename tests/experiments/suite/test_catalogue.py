"""Every problem of the suite is a pure function of its name and seed."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments.suite.catalogue import GENERATORS, check_problems, suite_problem

TABLES = ("frozen-lake", "cliff-walking", "taxi")


def build(name, seed):
    if name in TABLES:
        pytest.importorskip("gymnasium", reason="needs the extra boirl[rl]")
    return suite_problem(name, seed)


@pytest.mark.parametrize("name", list(GENERATORS))
def test_name_and_seed_decide_everything(name):
    first, again, other = build(name, 1000), build(name, 1000), build(name, 1001)
    assert first.fingerprint() == again.fingerprint() != other.fingerprint()
    assert first.name == f"{name}-1000"
    np.random.default_rng().random(3)
    np.testing.assert_array_equal(first.demonstrations.states, again.demonstrations.states)


@pytest.mark.parametrize("name", list(GENERATORS))
@pytest.mark.parametrize("seed", [1000, 1001])
def test_a_problem_can_be_solved_and_differentiated(name, seed):
    problem = build(name, seed)
    assert 2 <= problem.box.dimension <= 10
    assert 10 <= len(problem.demonstrations) <= 500
    middle = 0.5 * (problem.box.low + problem.box.high)
    theta = middle if problem.truth is None else np.array(problem.truth)
    nll, gradient = problem.nll_and_gradient(theta)
    assert nll == pytest.approx(problem.nll_batch(theta[None])[0], rel=1e-9)
    step = 1e-6 * (problem.box.high - problem.box.low)
    for column in range(problem.box.dimension):
        moved = np.tile(theta, (2, 1))
        moved[:, column] += [step[column], -step[column]]
        if not ((moved >= problem.box.low) & (moved <= problem.box.high)).all():
            continue
        slope = np.diff(problem.nll_batch(moved))[0] / (-2.0 * step[column])
        assert gradient[column] == pytest.approx(slope, rel=1e-3, abs=1e-4)


def test_the_truth_explains_better_than_most(random_problem):
    for name in ("mdp-few", "mdp-network", "town"):
        problem = suite_problem(name, 1000)
        unit = np.random.default_rng(0).random((100, problem.box.dimension))
        others = problem.nll_batch(problem.box.from_unit(unit))
        assert problem.nll(problem.truth) < np.nanquantile(others, 0.1)


def test_unknown_names_and_seeds_are_refused():
    with pytest.raises(InvalidInputError, match=r"no suite problem maze; expected some of mdp-few"):
        suite_problem("maze", 0)
    with pytest.raises(InvalidInputError, match=r"seed is -1; expected 0 or more"):
        suite_problem("mdp-few", -1)
    check_problems(["mdp-few"])
