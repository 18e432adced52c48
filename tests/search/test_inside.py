"""The way down under constraints. The lowest NLL is at (0.7, 0.7); the sum is at most 1."""

import numpy as np
import pytest
import torch

import boirl
from boirl.constraints import Constraints, bounds, custom
from boirl.constraints.region import constrain
from boirl.estimation.descent import LONGEST_STEP
from boirl.projections import Identity
from boirl.search.acquisitions import _better
from boirl.search.inside import best_inside, has_limits, has_solution
from boirl.surrogate import Observations, Surrogate
from boirl.surrogate.kernels import get_kernel

ENOUGH = 1e-3


@pytest.fixture(scope="module")
def problem():
    return boirl.load_problem("gridworld2d")


@pytest.fixture(scope="module")
def after(problem):
    """The surrogate after evaluations at some points of the unit cube."""

    def build(units, limits=None):
        units = np.asarray(units)
        limits = [custom(len, at_most=0.0, name="sum")] if limits is None else limits
        constraints = Constraints.of(limits, problem)
        width = problem.box.high - problem.box.low
        evaluations = [
            boirl.Evaluation(
                tuple(theta.tolist()),
                float(np.square(unit - 0.7).sum()),
                gradient=2.0 * (unit - 0.7) / width,
                facts={"constraints": {"sum": [float(unit.sum() - 1.0), 0.0, 1.0 / width]}},
            )
            for unit, theta in zip(units, problem.box.from_unit(units), strict=True)
        ]
        surrogate = Surrogate(get_kernel("rbf"), Identity(problem.box), problem.box, "linear", 10)
        seen = Observations.of(evaluations)
        fitted = surrogate.fit(seen.thetas, seen.nll, gradients=seen.gradients, draws=1)
        return constrain(fitted, surrogate, constraints, evaluations)

    return build


def spread(inside):
    """Points all over the cube that meet the constraint, or break it."""
    units = np.random.default_rng(1000).random((30, 2))
    total = units.sum(axis=1)
    return units[total < 0.9 if inside else total > 1.1][:6]


def test_it_ends_at_the_border(after):
    fitted = after(np.concatenate([spread(True), spread(False)]))
    found = best_inside(fitted, ENOUGH)
    np.testing.assert_allclose(found, [0.5, 0.5], atol=0.02)
    with torch.no_grad():
        assert fitted.feasibility.log_probability(torch.tensor(found[None])) > np.log(0.5)


def test_without_a_solution_the_border_is_looked_for(after):
    """Expected improvement has nothing to compare with; any solution is worth having."""
    fitted = after(spread(False))
    assert not has_solution(fitted)
    proposal = _better(fitted)
    assert proposal is not None
    assert proposal.purpose == "improve"
    assert 0.9 < proposal.unit.sum() <= 1.0 + 1e-3


def test_the_best_of_all_evaluations_leads_to_the_border_too(after):
    """From the only solution, it is farther away than a step."""
    fitted = after([[0.02, 0.02], [0.7, 0.7], [0.9, 0.6], [0.6, 0.9]])
    assert fitted.best_index == 0
    np.testing.assert_allclose(best_inside(fitted, ENOUGH), [0.5, 0.5], atol=0.02)


def test_it_is_no_farther_than_a_step_of_a_descent(after):
    corner = np.array([[0.0, 0.0], [0.05, 0.0], [0.0, 0.05]])
    fitted = after(corner)
    found = best_inside(fitted, ENOUGH)
    assert np.abs(found - fitted.best_unit).max() <= LONGEST_STEP + 1e-9
    assert found.min() > 0.1


def test_limits_on_theta_are_kept_exactly(after, problem):
    middle = 0.5 * (problem.box.low + problem.box.high)
    name = problem.box.names[0]
    fitted = after(
        np.concatenate([spread(True), spread(False)]), bounds(**{name: (None, middle[0])})
    )
    found = best_inside(fitted, ENOUGH)
    assert 0.4999 < found[0] <= 0.5
    assert found[1] == pytest.approx(0.7, abs=0.01)
    assert fitted.feasibility.worth(torch.tensor(found[None]), torch.zeros(1)) >= 0.0


def test_without_constraints_there_are_no_limits(after):
    fitted = after(spread(True), [])
    assert not has_limits(fitted)
    assert has_solution(fitted)
