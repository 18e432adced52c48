"""Where a search takes constraints to be met."""

import numpy as np
import pytest
import torch

import boirl
from boirl.constraints import Constraints, bounds, custom
from boirl.constraints.region import ConstrainedFeasibility, constrain
from boirl.projections import Identity
from boirl.search.acquisitions import _better
from boirl.surrogate import Observations, Surrogate
from boirl.surrogate.feasibility import Feasibility
from boirl.surrogate.kernels import get_kernel


@pytest.fixture(scope="module")
def problem():
    return boirl.load_problem("gridworld2d")


@pytest.fixture(scope="module")
def known(problem):
    """Evaluations all over the box, of a constraint that is the sum of both parameters."""

    def total(problem, policy):
        return 0.0

    constraints = Constraints.of(
        [custom(total, at_most=0.0, name="sum"), bounds(midpoint=(None, 5.0))], problem
    )
    units = np.random.default_rng(1000).random((14, 2))
    evaluations = [
        boirl.Evaluation(
            tuple(theta.tolist()),
            float(np.square(unit - 0.7).sum()),
            facts={"constraints": {"sum": [float(unit.sum() - 1.0), 0.0]}},
        )
        for unit, theta in zip(units, problem.box.from_unit(units), strict=True)
    ]
    surrogate = Surrogate(get_kernel("rbf"), Identity(problem.box), problem.box, "linear", 10)
    seen = Observations.of(evaluations)
    fitted = surrogate.fit(seen.thetas, seen.nll, draws=1)
    return constrain(fitted, surrogate, constraints, evaluations), evaluations, constraints


def test_it_is_probable_where_margins_are_positive(known):
    fitted, _, _ = known
    inside = torch.tensor([[0.2, 0.3], [0.4, 0.2]], dtype=torch.float64)
    outside = torch.tensor([[0.9, 0.7], [0.7, 0.7]], dtype=torch.float64)
    beyond = torch.tensor([[0.05, 0.9]], dtype=torch.float64)
    region = fitted.feasibility
    with torch.no_grad():
        assert (region.log_probability(inside) > np.log(0.5)).all()
        assert (region.log_probability(outside) < np.log(0.5)).all()
        assert torch.isinf(region.log_probability(beyond)).all()
        worth = torch.zeros(2, dtype=torch.float64)
        assert (region.worth(inside, worth) > region.worth(outside, worth)).all()


def test_slopes_lead_back_to_where_they_are_met(known):
    fitted, _, _ = known
    at = torch.tensor([[0.75, 0.6]], dtype=torch.float64, requires_grad=True)
    worth = fitted.feasibility.worth(at, torch.zeros(1, dtype=torch.float64))
    (slopes,) = torch.autograd.grad(worth.sum(), at)
    assert (slopes < 0.0).all()


def test_the_best_is_a_solution(known, problem):
    fitted, evaluations, constraints = known
    allowed = constraints.feasible(evaluations, problem.box)
    best = min(one.nll for one, fine in zip(evaluations, allowed, strict=True) if fine)
    assert fitted.best_nll == best
    assert allowed[fitted.best_index]


def test_without_constraints_nothing_changes(known):
    fitted, evaluations, _ = known
    assert constrain(fitted, None, Constraints(), evaluations) is fitted


def test_the_way_down_ends_at_the_border(known):
    """The lowest NLL is at (0.7, 0.7), beyond the limit; the lowest that keeps it at (0.5, 0.5)."""
    fitted, _, _ = known
    proposal = _better(fitted)
    assert proposal is not None
    np.testing.assert_allclose(proposal.unit, [0.5, 0.5], atol=0.05)
    with torch.no_grad():
        assert (fitted.feasibility.safe_margins(torch.tensor(proposal.unit[None])) > -1e-4).all()


def test_without_constraints_there_are_no_margins(known):
    plain = Feasibility(np.zeros((1, 2)), np.zeros((0, 2)))
    assert plain.safe_margins(torch.zeros((3, 2), dtype=torch.float64)).shape == (3, 0)


def test_derivatives_of_a_margin_say_where_the_border_is(problem):
    """Two evaluations with derivatives know a plane that two without do not."""
    constraints = Constraints.of(custom(len, at_most=0.0, name="sum"), problem)
    width = problem.box.high - problem.box.low
    surrogate = Surrogate(get_kernel("rbf"), Identity(problem.box), problem.box, "linear", 10)
    wrong = []
    for known in (True, False):
        evaluations = [
            boirl.Evaluation(
                tuple(problem.box.from_unit(unit).tolist()),
                float(np.square(unit - 0.7).sum()),
                facts={
                    "constraints": {
                        "sum": [
                            1e3 * (unit.sum() - 1.0),
                            0.0,
                            (1e3 / width).tolist() if known else None,
                        ]
                    }
                },
            )
            for unit in np.array([[0.5, 0.45], [0.2, 0.3]])
        ]
        seen = Observations.of(evaluations)
        fitted = surrogate.fit(seen.thetas, seen.nll, draws=1)
        region = constrain(fitted, surrogate, constraints, evaluations).feasibility
        assert isinstance(region, ConstrainedFeasibility)
        border = torch.tensor([[0.4, 0.6], [0.6, 0.4], [0.7, 0.3]], dtype=torch.float64)
        with torch.no_grad():
            mean, _ = region.margins[0].marginals(border)
        wrong.append(float(mean.abs().max()))
    assert wrong[0] < 0.2 * wrong[1]
