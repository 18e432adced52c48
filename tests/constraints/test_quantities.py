"""Numbers that describe behaviour: exact on a table, estimated by roll-outs elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from boirl.constraints.quantities import ExpectedTotal, Function, Measured, Reach
from boirl.errors import InvalidInputError
from boirl.experiments.worst_case import problem_of
from boirl.policies import TabularPolicy, TabularSolver


@pytest.fixture(scope="module")
def problem():
    return problem_of("ambiguous", 1000)


@pytest.fixture(scope="module")
def policy(problem):
    return problem.policy((9.0, 1.0))


def by_rolling_out(problem, policy, count=4000):
    rng = np.random.default_rng(0)
    return problem.roll_out(policy, np.zeros(count, dtype=int), problem.steps, rng)


def test_reaching_is_what_roll_outs_show(problem, policy):
    drawn = by_rolling_out(problem, policy)
    for states in ([6], [8, 9], [0]):
        hits = np.isin(drawn.states, states) | np.isin(drawn.next_states, states)
        share = (np.bincount(drawn.trajectory_numbers, hits) > 0).mean()
        assert Reach(states).measure(problem, policy).value == pytest.approx(share, abs=0.03)
    assert Reach([0]).measure(problem, policy) == Measured(1.0, 0.0)


def test_totals_are_what_roll_outs_show(problem, policy):
    drawn = by_rolling_out(problem, policy)
    worth = np.random.default_rng(1).random(problem.mdp.n_states)
    total = np.bincount(drawn.trajectory_numbers, worth[drawn.states]).mean()
    assert ExpectedTotal(worth).measure(problem, policy).value == pytest.approx(total, rel=0.03)
    assert ExpectedTotal().measure(problem, policy).value == pytest.approx(problem.steps)
    ended = ExpectedTotal(until=[6, 8, 9, 10]).measure(problem, policy).value
    assert 5.0 < ended < problem.steps


def test_state_actions_may_add_up(problem, policy):
    table = np.zeros((problem.mdp.n_states, problem.mdp.n_actions))
    table[0, 0] = 1.0
    single = ExpectedTotal(table, steps=1).measure(problem, policy).value
    assert single == pytest.approx(policy.probabilities[0, 0])


def test_policies_may_depend_on_the_steps_left(problem):
    short = replace(problem, solver=TabularSolver("max", 3.0, horizon=8), horizon=8)
    policy = short.policy((9.0, 1.0))
    assert Reach([6], steps=5).measure(short, policy).value == 0.0
    assert 0.0 < Reach([6]).measure(short, policy).value <= 1.0


def test_elsewhere_it_is_an_estimate_with_an_error(problem, monkeypatch):
    uniform = TabularPolicy.uniform(problem.mdp)
    exact = Reach([4], start=None).measure(problem, uniform).value
    longer = problem.with_demonstrations(by_rolling_out(problem, uniform, 5))
    monkeypatch.setattr("boirl.constraints.quantities.TabularProblem", type(None))
    for quantity, expected in ((Reach([4]), exact), (ExpectedTotal(), 12.0)):
        found = quantity.measure(longer, uniform)
        assert found.value == pytest.approx(expected, abs=5 * found.standard_error)
        assert found.standard_error > 0.0
    assert Reach(lambda states: states == 4).measure(longer, uniform).value == pytest.approx(
        Reach([4]).measure(longer, uniform).value
    )
    ended = ExpectedTotal(until=[4]).measure(longer, uniform)
    assert ended.value < 12.0


def test_any_function_will_do(problem, policy):
    assert Function(lambda *given: 0.5).measure(problem, policy) == Measured(0.5, 0.0)
    assert Function(lambda *given: (0.5, 0.1)).measure(problem, policy) == Measured(0.5, 0.1)


def test_what_does_not_fit_is_refused(problem, policy):
    with pytest.raises(InvalidInputError, match="expected numbers from 0 to 10"):
        Reach([11]).check(problem)
    with pytest.raises(InvalidInputError, match="one per state"):
        ExpectedTotal([1.0, 2.0]).check(problem)
    with pytest.raises(InvalidInputError, match="expected numbers from 0"):
        ExpectedTotal(until=[-1]).check(problem)
    with pytest.raises(InvalidInputError, match="11 probabilities"):
        Reach([1], start=[1.0]).measure(problem, policy)


def test_what_a_step_adds_may_be_a_function(problem, policy):
    ups = ExpectedTotal(lambda states, actions: (actions == 0) * 1.0, name="ups")
    ups.check(problem)
    table = np.zeros((problem.mdp.n_states, problem.mdp.n_actions))
    table[:, 0] = 1.0
    expected = ExpectedTotal(table)
    assert ups.measure(problem, policy) == expected.measure(problem, policy)
    np.testing.assert_array_equal(
        ups.by_choice(problem, policy), expected.by_choice(problem, policy)
    )
    with pytest.raises(InvalidInputError, match=r"gives shape \(\) for 44"):
        ExpectedTotal(lambda states, actions: 1.0).check(problem)
