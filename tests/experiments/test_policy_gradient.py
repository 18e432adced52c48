"""REINFORCE: its gradient is that of the return, and it learns."""

import numpy as np
import pytest

from boirl.baselines.cloning import BoltzmannClone
from boirl.experiments.policy_gradient import _reinforce, learn, table_policy, total_return
from boirl.policies import expected_return


@pytest.fixture(scope="module")
def world(random_mdp):
    mdp = random_mdp(0)
    return mdp, np.random.default_rng(1).standard_normal((4, 3))


def test_its_gradient_is_that_of_the_return(world):
    mdp, rewards = world
    policy = BoltzmannClone(np.eye(4), np.random.default_rng(2).standard_normal((4, 3)))
    rng = np.random.default_rng(3)
    estimate = _reinforce(mdp, policy, rewards, 20_000, 5, rng).reshape(4, 3)

    def exact(weights):
        log_policy = table_policy(mdp, BoltzmannClone(np.eye(4), weights)).log_probabilities
        return float(expected_return(mdp, log_policy[None], rewards, mdp.start, 5)[0])

    for place in ((0, 0), (2, 1)):
        step = np.zeros((4, 3))
        step[place] = 1e-5
        slope = (exact(policy.weights + step) - exact(policy.weights - step)) / 2e-5
        assert estimate[place] == pytest.approx(slope, abs=0.03)


def test_returns_are_summed_without_a_discount(world):
    mdp, _ = world
    policy = table_policy(mdp, BoltzmannClone(np.eye(4), np.zeros((4, 3))))
    assert total_return(mdp, policy, np.ones((4, 3)), 7) == pytest.approx(7.0)


def test_learning_raises_the_return_whatever_the_scale(world):
    mdp, rewards = world
    curves = [
        learn(mdp, np.eye(4), scale * rewards, rewards, 15, 30, 10, 0.2, np.random.default_rng(4))
        for scale in (1.0, 1000.0)
    ]
    assert curves[0].shape == (16,)
    assert curves[0][-1] > curves[0][0] + 0.5
    np.testing.assert_allclose(curves[0], curves[1], atol=1e-3)
