"""What an answer is expected to say."""

from itertools import product

import numpy as np
import pytest

from boirl.decisions.ensemble import Ensemble, solved_ensemble
from boirl.decisions.information import SampledAnswers, TabularAnswers


def exact_information(ensemble, start, steps):
    """By going through all sequences of actions; dynamics are deterministic."""
    mdp, weights = ensemble.problem.mdp, ensemble.weights
    chances = np.exp(ensemble.log_policies)
    total = 0.0
    for actions in product(range(mdp.n_actions), repeat=steps):
        state, likelihood = start, np.ones(len(ensemble))
        for action in actions:
            likelihood = likelihood * chances[:, state, action]
            state = mdp.next_states[state, action]
        expected = weights @ likelihood
        total += (weights * likelihood * np.log(likelihood / expected)).sum()
    return total


@pytest.mark.parametrize("kind", [TabularAnswers, SampledAnswers])
def test_it_is_the_mutual_information_of_reward_and_answer(two, kind, monkeypatch):
    monkeypatch.setattr("boirl.decisions.information.DRAWS", 2000)
    answers = kind(two, 3)
    found, _ = answers.draw(4, answers.nothing(), np.random.default_rng(0))
    assert found == pytest.approx(exact_information(two, 4, 3), abs=0.05)


def test_rewards_that_act_alike_tell_nothing(junction):
    alike = solved_ensemble(junction, np.array([[9.0, 1.0], [9.0, 1.0]]))
    answers = TabularAnswers(alike, 4)
    assert answers.draw(4, answers.nothing(), np.random.default_rng(0))[0] == pytest.approx(0.0)


def test_bounds_are_above_and_a_second_answer_adds_less(two):
    answers, rng = TabularAnswers(two, 4), np.random.default_rng(0)
    first, logs = answers.draw(4, answers.nothing(), rng)
    second, _ = answers.draw(4, logs, rng)
    assert second < first <= answers.bounds()[4] + 1e-9
    assert first <= np.log(2.0) + 1e-9


def test_a_reward_without_weight_does_not_count(two):
    certain = Ensemble(two.problem, two.thetas, np.array([1.0, 0.0]), two.policies)
    answers = TabularAnswers(certain, 4)
    assert answers.draw(4, answers.nothing(), np.random.default_rng(0))[0] == pytest.approx(0.0)
