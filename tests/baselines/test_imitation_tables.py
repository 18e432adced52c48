"""Imitation in tables: exact advantages, and steps that follow them."""

import numpy as np

from boirl.baselines.imitation_tables import TableImitator


def test_one_step_gives_likelier_actions_more(gridworld):
    imitator = TableImitator(gridworld, steps=5)
    before = imitator.policy()
    advantages = imitator._advantages(before)
    np.testing.assert_allclose((before.probabilities * advantages).sum(axis=1), 0.0, atol=1e-9)
    imitator.improve(np.random.default_rng(0))
    better = imitator._advantages(before)
    after = imitator.policy()
    gain = (after.probabilities * better).sum(axis=1)
    assert gain.min() > -1e-9
    assert gain.max() > 0.0
    np.testing.assert_allclose(before.probabilities[:30].sum(axis=1), 1.0)
