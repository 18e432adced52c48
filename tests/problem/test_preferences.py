"""Comparisons of trajectories as evidence."""

import numpy as np
import pytest
import torch

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.problem.preferences import Preferences, discounted_returns

THETA = np.array([[0.5, -1.0]])


@pytest.fixture
def problem(random_problem):
    return random_problem(1000)


@pytest.fixture
def compared(problem):
    shown = problem.demonstrations
    return Preferences(shown.subset([0, 1]), shown.subset([2, 3]), inverse_temperature=2.0)


def test_returns_are_discounted_sums_of_rewards(problem):
    shown = problem.demonstrations
    found = discounted_returns(problem.reward, problem.gamma, torch.tensor(THETA), shown)[0]
    paid = problem.mdp.expected_rewards(problem.reward, THETA)[0, :, 0]
    for one, total in zip(shown, found, strict=True):
        by_hand = sum(problem.gamma**t * paid[state] for t, state in enumerate(one.states))
        assert float(total) == pytest.approx(by_hand)


def test_one_of_the_two_is_better(problem, compared):
    other = Preferences(compared.worse, compared.better, compared.inverse_temperature)
    one, two = (np.exp(each.log_likelihoods(problem, THETA)) for each in (compared, other))
    np.testing.assert_allclose(one + two, 1.0)


def test_the_gradient_is_that_of_the_nll(problem, compared):
    theta, step = THETA[0], 1e-6

    def scored(at):
        return compared.scored(problem, problem.evaluate(at))

    found = scored(theta)
    for axis in range(2):
        ahead, behind = theta.copy(), theta.copy()
        ahead[axis] += step
        behind[axis] -= step
        slope = (scored(ahead).nll - scored(behind).nll) / (2 * step)
        assert found.gradient[axis] == pytest.approx(slope, abs=1e-6)


def test_arrays_bring_them_back(problem, compared):
    again = Preferences.from_dict(compared.to_dict())
    np.testing.assert_array_equal(
        again.log_likelihoods(problem, THETA), compared.log_likelihoods(problem, THETA)
    )
    assert len(Preferences.concatenate([compared, again])) == 4


def test_wrong_comparisons_are_refused(compared):
    with pytest.raises(InvalidInputError, match="2 better and 1 worse"):
        Preferences(compared.better, compared.worse.subset([0]))
    with pytest.raises(InvalidInputError, match="expected a positive number"):
        Preferences(compared.better, compared.worse, 0.0)
    with pytest.raises(InvalidInputError, match=r"expected boirl\.Demonstrations"):
        Preferences([0], compared.worse)
    with pytest.raises(InvalidInputError, match="expected one for all"):
        Preferences.concatenate([compared, Preferences(compared.better, compared.worse)])


def test_trajectories_have_to_fit(problem, compared):
    outside = Demonstrations.from_trajectories([([9], [0])])
    with pytest.raises(InvalidInputError, match="expected a number below"):
        Preferences(outside, compared.worse.subset([0])).fitted_to(problem)


def test_answers_turn_pairs_or_leave_them_out(compared):
    found = compared.answered([False, None])
    assert len(found) == 1
    np.testing.assert_array_equal(found.better.states, compared.worse.subset([0]).states)
    np.testing.assert_array_equal(found.worse.states, compared.better.subset([0]).states)
    assert found.inverse_temperature == compared.inverse_temperature


def test_comparisons_are_kept_in_files(compared, tmp_path):
    compared.save(tmp_path / "pairs.npz")
    found = Preferences.load(tmp_path / "pairs.npz")
    np.testing.assert_array_equal(found.better.states, compared.better.states)
    compared.better.save(tmp_path / "shown.npz")
    with pytest.raises(InvalidInputError, match=r"Preferences\.save"):
        Preferences.load(tmp_path / "shown.npz")
