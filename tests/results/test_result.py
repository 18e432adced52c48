"""What searches and baselines have in common: evaluations and what follows from them."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import boirl
from boirl.errors import BoirlError, InvalidInputError, SolverError
from boirl.evaluation import Evaluation
from boirl.policies.bellman import TabularSolver
from boirl.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class Plain(Result):
    """A result with nothing of its own."""

    kind: ClassVar[str] = "plain"
    title = "plain"

    def parts(self):
        return {}, {}

    @classmethod
    def from_parts(cls, problem, evaluations, facts, arrays):
        return cls(problem, evaluations)


@pytest.fixture
def count_solves(monkeypatch):
    """Number of reward tables that were solved for since the start of the test."""
    solved = []
    solve_batch = TabularSolver.solve_batch

    def spy(self, mdp, rewards, *rest):
        solved.append(len(rewards))
        return solve_batch(self, mdp, rewards, *rest)

    monkeypatch.setattr(TabularSolver, "solve_batch", spy)
    return lambda: sum(solved)


def test_columns_follow_from_the_evaluations(found):
    evaluations = (
        Evaluation((1.0, 2.0, 0.0), 12.0, 0.5, seconds=2.0, n_policies=3, environment_steps=40),
        Evaluation((1.0, 3.0, 0.0), 11.0, seconds=1.0, failure="lost"),
    )
    result = Plain(found.problem, evaluations)
    assert len(result) == 2
    assert result.names == ("steepness", "midpoint", "translation")
    np.testing.assert_array_equal(result.thetas, [[1.0, 2.0, 0.0], [1.0, 3.0, 0.0]])
    np.testing.assert_array_equal(result.nll, [12.0, np.nan])
    np.testing.assert_array_equal(result.nll_se, [0.5, 0.0])
    np.testing.assert_array_equal(result.seconds, [2.0, 1.0])
    assert result.failures == (None, "lost")
    assert result.n_policies == 4
    assert result.environment_steps == 40
    assert repr(result) == "Plain('gridworld', plain, 2 evaluations, best NLL 12.0000)"


def test_best_and_within_are_about_the_lowest_nll(found, made_up):
    result = made_up([20.0, 10.0, np.nan, 10.05, 10.9, 11.1])
    np.testing.assert_array_equal(result.best, found.thetas[1])
    assert (result.best_index, result.best_nll) == (1, 10.0)
    assert result.indices_within(0.01).tolist() == [1, 3]
    assert result.indices_within(0.10).tolist() == [1, 3, 4]
    assert result.indices_within(0.05, absolute=True).tolist() == [1, 3]
    np.testing.assert_array_equal(result.within(0.0), found.thetas[[1]])


def test_a_relative_tolerance_works_below_zero(made_up):
    assert made_up([-10.0, -9.95, -9.0]).indices_within(0.01).tolist() == [0, 1]


@pytest.mark.parametrize("tolerance", [-0.1, float("nan")])
def test_a_tolerance_below_zero_is_refused(found, tolerance):
    with pytest.raises(InvalidInputError, match=f"the tolerance is {tolerance}"):
        found.within(tolerance)


def test_where_all_evaluations_failed_the_reasons_are_named(found):
    failed = [Evaluation((1.0, 2.0, 0.0), 0.0, failure=why) for why in ("lost", "late", "lost")]
    result = Plain(found.problem, tuple(failed))
    with pytest.raises(BoirlError, match="none of 3 evaluations succeeded; lost; late"):
        _ = result.best
    assert "all failed" in repr(result)


@pytest.mark.parametrize(
    # Table of the chi-squared distribution, three degrees of freedom.
    ("confidence", "quantile"),
    [(0.90, 6.251), (0.95, 7.815), (0.99, 11.345)],
)
def test_the_likelihood_ratio_test_rejects_by_half_a_quantile_of_chi_squared(
    found, confidence, quantile
):
    tolerance = found.likelihood_ratio_tolerance(confidence)
    assert tolerance == pytest.approx(0.5 * quantile / 50, rel=1e-4)
    kept = found.within(tolerance, absolute=True)
    log_ratio = 50 * (found.problem.nll_batch(kept) - found.best_nll)
    assert (2.0 * log_ratio <= quantile + 1e-3).all()


def test_the_likelihood_ratio_test_has_a_confidence_of_95_per_cent_by_default(found):
    assert found.likelihood_ratio_tolerance() == found.likelihood_ratio_tolerance(0.95)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_a_confidence_of_nothing_or_all_is_refused(found, confidence):
    with pytest.raises(InvalidInputError, match=f"the confidence is {confidence}"):
        found.likelihood_ratio_tolerance(confidence)


def test_a_truncated_result_is_the_result_cut_short(found):
    short = found.truncate(5)
    assert len(short) == len(short.failures) == 5
    assert short.evaluations == found.evaluations[:5]
    np.testing.assert_array_equal(short.thetas, found.thetas[:5])
    assert short.best_nll == found.nll[:5].min()


def test_kept_policies_are_not_solved_for_again(found, count_solves):
    policies = found.policies([0, found.best_index])
    assert count_solves() == 0
    for policy, index in zip(policies, (0, found.best_index), strict=True):
        solved = found.problem.policy(found.thetas[index])
        np.testing.assert_array_equal(policy.log_probabilities, solved.log_probabilities)


def test_policies_that_were_not_kept_are_solved_for_again(found, made_up, count_solves):
    without = made_up(found.nll)
    again = without.policy(3).log_probabilities
    assert count_solves() == 1
    np.testing.assert_array_equal(again, found.policy(3).log_probabilities)


def test_the_policy_of_another_family_is_that_of_its_own_reward(found):
    other = found.problem.reward.fix(translation=0.0)
    evaluation = Evaluation((1.0, 2.0), 12.0, reward=other)
    policy = Plain(found.problem, (evaluation,)).policy(0)
    expected = found.problem.policy((1.0, 2.0, 0.0))
    np.testing.assert_allclose(policy.log_probabilities, expected.log_probabilities, atol=1e-12)


def test_a_failed_evaluation_has_no_policy(found):
    failed = Evaluation((1.0, 2.0, 0.0), 0.0, failure="lost")
    with pytest.raises(SolverError, match="lost"):
        Plain(found.problem, (failed,)).policy(0)


def test_the_truth_is_evaluated_once(found, count_solves):
    result = replace(found)
    assert result.truth.nll == pytest.approx(found.problem.nll(found.problem.truth))
    before = count_solves()
    assert result.truth is result.truth
    assert count_solves() == before
    assert Plain(replace(found.problem, truth=None), ()).truth is None


def test_groups_differ_most_where_their_policies_do(found):
    groups = found.groups()
    first, last = groups[0], groups[-1]
    differences = found.differences(first, last, n=4)
    assert len(differences) == 4
    apart = [one.distance for one in differences]
    assert apart == sorted(apart, reverse=True)
    one, other = (found.problem.policy(g.representative).probabilities for g in (first, last))
    state = differences[0].state
    assert apart[0] == pytest.approx(0.5 * np.abs(one[state] - other[state]).sum())
    assert differences[0].action == one[state].argmax()
    assert differences[0].other_action == other[state].argmax()


@pytest.mark.parametrize("by", ["behaviour", "starc", "epic"])
def test_distances_are_between_the_evaluations_with_these_numbers(found, by):
    distances = found.distances([4, 0, 4], by)
    assert distances.shape == (3, 3)
    np.testing.assert_allclose(distances, distances.T)
    assert distances[0, 2] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(found.distances(np.arange(5), by)[4, 0], distances[0, 1])


def test_without_a_surrogate_volumes_are_unknown(found):
    result = Plain(found.problem, found.evaluations)
    assert all(np.isnan(group.volume) for group in result.groups())
    assert result.returned == {}


def test_a_file_of_another_kind_of_result_is_refused(found, tmp_path):
    found.save(tmp_path / "rewards.npz")
    with pytest.raises(InvalidInputError, match=r"holds a RewardSet; expected a Plain"):
        Plain.load(tmp_path / "rewards.npz")
    assert isinstance(Result.load(tmp_path / "rewards.npz"), boirl.RewardSet)
