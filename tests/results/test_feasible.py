"""Solutions and what constraints rule out."""

import numpy as np
import pytest

import boirl
from boirl.constraints import bounds, reaches
from boirl.errors import BoirlError
from boirl.results.feasible import allowed_nll

QUICK = {"kernel": "rbf", "acquisition": "random", "seed": 1000, "n_initial": 8}


@pytest.fixture(scope="module")
def problem():
    return boirl.load_problem("gridworld2d")


@pytest.fixture(scope="module")
def found(problem):
    return boirl.explore(problem, 8, constraints=[reaches([7], at_most=0.75)], **QUICK)


def reached(problem, theta):
    return boirl.constraints.Reach([7]).measure(problem, problem.policy(theta)).value


def test_no_solution_breaks_a_constraint(problem, found):
    free = boirl.explore(problem, 8, **QUICK)
    np.testing.assert_array_equal(free.nll, found.nll)
    assert reached(problem, free.best) > 0.75
    reported = [found.best, *found.within(5.0), *(g.representative for g in found.groups(5.0))]
    assert all(reached(problem, theta) <= 0.75 for theta in reported)
    assert found.feasible.sum() < len(found)


def test_what_is_ruled_out_is_shown_apart(problem, found):
    groups = found.infeasible_groups(5.0)
    assert groups
    assert all(reached(problem, one.representative) > 0.75 for one in groups)
    solutions = {int(n) for one in found.groups(5.0) for n in one.indices}
    assert solutions.isdisjoint(int(n) for one in groups for n in one.indices)


def test_a_file_keeps_them_apart(found, tmp_path):
    found.save(tmp_path / "rewards.npz")
    again = boirl.load_result(tmp_path / "rewards.npz")
    np.testing.assert_array_equal(again.feasible, found.feasible)
    assert again.best_index == found.best_index


def test_a_search_without_solution_says_what_is_in_the_way(problem):
    none = boirl.explore(problem, 3, constraints=[reaches([7], at_least=0.999)], **QUICK)
    assert "no solution" in repr(none)
    assert "none of 3 evaluations meets the constraints" in str(none)
    with pytest.raises(BoirlError, match="reaching state 7"):
        _ = none.best
    with pytest.raises(BoirlError, match="none of 3 evaluations meets"):
        none.sample(3)


def test_volumes_are_those_of_solutions(problem):
    half = boirl.explore(problem, 8, constraints=[bounds(steepness=(None, -1.9))], **QUICK)
    wide = 100.0 * half.best_nll
    assert sum(one.volume for one in half.groups(wide, absolute=True)) == pytest.approx(
        0.1 / 4.0, rel=0.05
    )


def test_exact_answers_keep_to_them(problem, found):
    thetas = found.thetas[:6]
    nll = allowed_nll(found, thetas)
    np.testing.assert_array_equal(np.isnan(nll), ~found.feasible[:6])
    np.testing.assert_allclose(nll[found.feasible[:6]], found.nll[:6][found.feasible[:6]])
    on_theta = boirl.explore(problem, 2, constraints=[bounds(steepness=(0.0, None))], **QUICK)
    np.testing.assert_array_equal(np.isnan(allowed_nll(on_theta, thetas)), thetas[:, 0] < 0.0)


def test_a_study_remembers_its_constraints(problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    boirl.explore(problem, 2, storage=storage, constraints=[reaches([7], at_most=0.75)], **QUICK)
    with pytest.raises(BoirlError, match="was made with other constraints"):
        boirl.explore(problem, 2, storage=storage, **QUICK)
