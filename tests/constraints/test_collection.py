"""All constraints of a search."""

import json
from dataclasses import replace

import numpy as np
import pytest

from boirl.constraints import NO_CONSTRAINTS, Constraints, bounds, custom, expects, reaches
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.experiments.worst_case import problem_of
from boirl.policies import TabularSolver


@pytest.fixture(scope="module")
def problem():
    return problem_of("ambiguous", 1000)


@pytest.fixture(scope="module")
def constraints(problem):
    return Constraints.of([reaches([6], at_most=0.5), bounds(right=(None, 8.0))], problem)


def test_evaluations_are_feasible_where_all_hold(problem, constraints):
    thetas = [(9.0, 1.0), (1.0, 7.0), (1.0, 9.0)]
    measured = [constraints.measured(problem, problem.evaluate(theta)) for theta in thetas]
    failed = Evaluation((1.0, 1.0), float("nan"), failure="no luck")
    np.testing.assert_array_equal(
        constraints.feasible([*measured, failed], problem.box), [False, True, False, False]
    )
    assert "reaching state 6" in constraints.violations(measured[0], problem.box)[0]
    assert "theta is beyond it" in constraints.violations(measured[2], problem.box)[0]
    assert constraints.measured(problem, failed) is failed


def test_no_constraints_leave_everything(problem):
    evaluation = problem.evaluate((9.0, 1.0))
    assert not NO_CONSTRAINTS
    assert NO_CONSTRAINTS.measured(problem, evaluation) is evaluation
    assert NO_CONSTRAINTS.feasible([evaluation], problem.box).all()


def test_a_file_brings_back_what_was_decided(problem, constraints):
    again = Constraints.from_facts(constraints.facts())
    assert again.facts() == constraints.facts()
    one = constraints.measured(problem, problem.evaluate((9.0, 1.0)))
    assert again.violations(one, problem.box) == constraints.violations(one, problem.box)


def test_wrong_constraints_are_refused(problem):
    with pytest.raises(InvalidInputError, match=r"expected those of boirl\.constraints"):
        Constraints.of([lambda theta: True], problem)
    with pytest.raises(InvalidInputError, match="pass name="):
        Constraints.of([reaches([6], at_most=0.5), reaches([6], at_most=0.4)], problem)
    with pytest.raises(InvalidInputError, match="keeps no policy"):
        Constraints.of([reaches([6], at_most=0.5)], problem).measured(
            problem, Evaluation((1.0, 1.0), 3.0)
        )
    both = Constraints.of([custom(len, at_most=1), Constraints()], problem)
    assert len(both.behaviour) == 1


def test_files_carry_what_is_measured_unless_it_is_a_function(problem, constraints):
    steps = expects(None, at_most=9.0, until=[10], steps=7)
    table = expects(np.arange(11.0), at_most=3.0, name="toll")
    held = Constraints.of([constraints, steps, table], problem)
    again = Constraints.from_facts(json.loads(json.dumps(held.facts())))
    assert again.is_measurable
    evaluation = problem.evaluate((9.0, 1.0))
    one, other = (each.measured(problem, evaluation).facts for each in (held, again))
    assert one == other
    code = Constraints.of([custom(lambda *given: 1.0, at_least=0.9)], problem)
    assert code.is_measurable
    assert not Constraints.from_facts(code.facts()).is_measurable


@pytest.mark.parametrize("bellman", ["max", "boltzmann", "logsumexp"])
@pytest.mark.parametrize("horizon", [None, 8])
def test_exact_measurements_know_their_derivatives(problem, bellman, horizon):
    softer = replace(problem, solver=TabularSolver(bellman, 1.0, horizon=horizon), horizon=8)
    if bellman == "logsumexp" and horizon is None:
        softer = replace(problem, solver=TabularSolver(bellman, 1.0), horizon=8).with_gamma(0.5)
    cost = np.random.default_rng(0).random((softer.mdp.n_states, softer.mdp.n_actions))
    limits = [reaches([6], at_least=0.5), expects(cost, until=[4], at_most=3.0)]
    constraints = Constraints.of(limits, softer)

    def measured(theta):
        return constraints.values(constraints.measured(softer, softer.evaluate(theta)))

    theta, step = np.array([6.2, 4.1]), 1e-5
    for number, one in enumerate(constraints.behaviour):
        found = measured(theta)[number]
        differences = [
            (measured(theta + move)[number].value - measured(theta - move)[number].value)
            / (2.0 * step)
            for move in step * np.eye(2)
        ]
        np.testing.assert_allclose(found.gradient, differences, atol=1e-7)
        sign = -1.0 if one.at_most else 1.0
        np.testing.assert_allclose(one.margin_gradient(found), sign * np.array(found.gradient))


def test_functions_of_users_have_no_derivative(problem):
    constraints = Constraints.of(custom(lambda *given: 0.3, at_most=1.0, name="own"), problem)
    evaluation = constraints.measured(problem, problem.evaluate((9.0, 1.0)))
    assert constraints.values(evaluation)[0].gradient is None
    assert constraints.behaviour[0].margin_gradient(constraints.values(evaluation)[0]) is None
