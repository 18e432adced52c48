"""Which of two trajectories is better?"""

import numpy as np
import pytest

from boirl.decisions.comparisons import _choose, _returns, _trajectories, ask_comparisons
from boirl.errors import InvalidInputError


def test_a_comparison_that_divides_rewards_tells_one_bit():
    chances = np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    chosen = list(_choose(np.array([0.5, 0.5]), chances, 3))
    assert chosen[0][0] == 0
    assert chosen[0][1] == pytest.approx(np.log(2.0))
    assert chosen[1][1] == pytest.approx(0.0, abs=1e-12)
    assert chosen[2][1] == pytest.approx(0.0, abs=1e-12)


def test_answers_are_evidence(found):
    (question,) = ask_comparisons(found, 1, starts=[4], policies=8)
    assert 0.0 <= question.information <= np.log(2.0)
    assert question.start == 4
    for better in (True, False):
        answer = question.answer(better)
        first = answer.better if better else answer.worse
        np.testing.assert_array_equal(first.states, question.first.states)
        assert answer.inverse_temperature == found.problem.solver.inverse_temperature
    chances = np.exp(question.answer(True).log_likelihoods(found.problem, found.sample(200)))
    assert 0.0 < question.probability < 1.0
    assert abs(chances.mean() - question.probability) < 0.35
    assert "which is better?" in str(question)


def test_what_no_reward_tells_apart_is_not_compared(two):
    """At home, where nothing is paid, it does not matter what is done."""
    pool = _trajectories(two, 4, np.random.default_rng(0))
    ways = {one.states.tobytes() for one in pool}
    assert 1 < len(pool) == len(ways)
    returns = _returns(two.problem, two.thetas, pool)
    assert len(np.unique(returns.round(9), axis=1).T) == len(pool)


def test_wrong_numbers_are_refused(found):
    with pytest.raises(InvalidInputError, match="at least one question"):
        ask_comparisons(found, 0)
