"""Imitation in a simulator: odds of steps, and a policy that goes on learning."""

import numpy as np
import pytest
import torch

from boirl.rewards import Transitions

pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")

from boirl.baselines.imitation_networks import NetworkImitator
from tests.baselines.small_maze import small_maze


def test_odds_tell_demonstrated_actions_from_others():
    problem = small_maze()
    imitator = NetworkImitator(problem, 0, steps=20, hidden=(16,), odds_rate=0.03, penalty=0.0)
    rng = np.random.default_rng(0)
    first = imitator.policy()
    weights = first.weights[0].copy()
    for _ in range(3):
        steps, facts = imitator.improve(rng)
    assert steps == 64 * 25
    assert facts["accuracy"] > 0.6
    np.testing.assert_array_equal(first.weights[0], weights)
    assert not np.array_equal(imitator.policy().weights[0], weights)
    shown = problem.demonstrations
    theta = imitator.odds.box.high[None] / 2.0
    paid = imitator.odds(
        torch.as_tensor(theta), Transitions(shown.states, shown.actions, shown.next_states)
    )
    assert float(paid.detach().mean()) > 0.0
