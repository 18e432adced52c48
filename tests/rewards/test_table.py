"""Rewards that are tables."""

import numpy as np
import torch

from boirl.rewards import Transitions
from boirl.rewards.table import ONE, table_reward

THETA = torch.tensor([ONE], dtype=torch.float64)


def test_at_scale_one_a_table_pays_what_it_says():
    paid = np.array([[1.0, 2.0], [3.0, 4.0]])
    steps = Transitions(np.array([0, 1]), np.array([1, 0]), np.array([1, 1]))
    family = table_reward(paid)
    assert family(THETA, steps).tolist() == [[2.0, 3.0]]
    assert family(2.0 * THETA, steps).tolist() == [[4.0, 6.0]]
    assert family.depends_on == "state_action"


def test_a_column_is_paid_for_states_or_for_those_that_follow():
    paid = np.array([[1.0], [3.0]])
    steps = Transitions(np.array([0, 1, 0]), None, np.array([1, 0, 0]))
    assert table_reward(paid)(THETA, steps).tolist() == [[1.0, 3.0, 1.0]]
    assert table_reward(paid, of_next=True)(THETA, steps).tolist() == [[3.0, 1.0, 1.0]]
    family = table_reward(paid)
    family.box.check(ONE)
