"""Acting under ambiguity."""

from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.constraints import Constraints, Reach, reaches
from boirl.decisions.acting import _broken, decide
from boirl.decisions.ensemble import solved_ensemble
from boirl.decisions.facts import decision_facts
from boirl.decisions.returns import DrawnPolicy
from boirl.errors import InvalidInputError


def test_the_worst_case_policy_hedges_between_incompatible_rewards(two):
    decision = decide(two, two.thetas[0], 1.0, "worst")
    assert decision.worst_regret <= 0.5 * decision.single_worst_regret
    assert decision.single_regrets[0] == 0.0
    assert decision.mean_regret <= decision.worst_regret
    assert len(decision.groups) == 2
    assert sum(one.weight for one in decision.groups) == pytest.approx(1.0)
    assert "single best" in str(decision)
    assert "risk='worst'" in repr(decision)
    many = replace(decision, groups=decision.groups * 6)
    assert "and 2 more behaviours" in str(many)


def test_on_average_nothing_beats_the_mean(two):
    mean = decide(two, two.thetas[0], 0.0, "mean")
    for level in (0.5, 1.0):
        assert mean.mean_regret <= decide(two, two.thetas[0], level, level).mean_regret + 1e-9
    assert mean.mean_regret <= mean.single_mean_regret + 1e-9


def test_without_ambiguity_it_costs_nothing(junction):
    certain = solved_ensemble(junction, np.array([[9.0, 1.0], [8.0, 0.5]]))
    decision = decide(certain, certain.thetas[0], 1.0, "worst")
    assert decision.worst_regret == pytest.approx(0.0, abs=1e-6)


def test_a_decision_can_be_used_as_a_policy(found):
    decision = found.policy(risk="worst", policies=8)
    assert decision.probabilities.shape == decision.policy.probabilities.shape
    open_states = ~found.problem.mdp.is_terminal
    np.testing.assert_allclose(decision.probabilities.sum(axis=1)[open_states], 1.0)
    earned = found.problem.true_return(decision)
    assert np.isfinite(earned)
    assert found.policy(risk=0.5, policies=8).risk == 0.5
    with pytest.raises(AttributeError):
        _ = decision.nothing_of_the_kind


def test_an_evaluation_has_its_policy_as_before(found):
    one, other = found.policy(0), found.problem.policy(found.thetas[0])
    np.testing.assert_allclose(one.probabilities, other.probabilities)


@pytest.mark.parametrize("risk", ["best", 2.0, None])
def test_unknown_risks_are_refused(found, risk):
    with pytest.raises(InvalidInputError, match="expected 'mean', 'worst' or a level"):
        found.policy(risk=risk)


def test_what_does_not_fit_together_is_refused(found):
    with pytest.raises(InvalidInputError, match="expected one of them"):
        found.policy(0, risk="mean")
    with pytest.raises(InvalidInputError, match=r"found\.policy\(risk='worst'\)"):
        found.policy()
    with pytest.raises(InvalidInputError, match="probabilities of states"):
        found.policy(risk="mean", start=[1.0], policies=4)


def test_constraints_that_the_policy_itself_breaks_are_named():
    """The demonstrator errs now and then; the best policy for the same rewards does not."""
    problem = boirl.load_problem("gridworld2d")
    initial = [(0.88, 9.77), (2.0, 7.3)]
    given = {"kernel": "rbf", "acquisition": "random", "initial": initial}
    free = boirl.explore(problem, 2, **given)
    held = boirl.explore(problem, 2, constraints=[reaches([7], at_most=0.75)], **given)
    assert held.feasible.tolist() == [True, False]
    decision = held.policy(risk="worst", policies=0)
    assert Reach([7]).measure(problem, decision.policy).value > 0.75
    assert len(decision.broken) == 1
    assert decision_facts(decision)["broken"] == list(decision.broken)
    assert "! the policy itself breaks reaching state 7: " in str(decision)
    assert free.policy(risk="worst", policies=0).broken == ()
    (one, other) = (problem.policy(theta) for theta in held.thetas[:2])
    drawn = DrawnPolicy((one, other), np.array([0.25, 0.75]))
    chance = [Reach([7]).measure(problem, each).value for each in (one, other)]
    for limit in (0.99, 1.01):
        at_most = min(1.0, limit * (0.25 * chance[0] + 0.75 * chance[1]))
        kept = replace(held, constraints=Constraints.of(reaches([7], at_most=at_most), problem))
        assert len(_broken(kept, drawn)) == (limit < 1.0)
