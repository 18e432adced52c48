"""The grid and its coins."""

import numpy as np
import torch

from boirl.domains.gridworld.environment import (
    COINS,
    SIDE,
    SINK,
    gridworld_mdp,
    gridworld_reward,
)
from boirl.rewards import Transitions


def next_states():
    table = gridworld_mdp().next_states
    assert table is not None
    return table


def test_moves_change_one_coordinate_or_stay_at_the_wall():
    table = next_states()
    middle, corner = 2 + SIDE * 2, 0
    assert table[middle].tolist() == [middle + 1, middle + SIDE, middle - 1, middle - SIDE, middle]
    assert table[corner].tolist() == [1, SIDE, corner, corner, corner]


def test_coins_can_be_taken_once():
    table = next_states()
    assert (table[list(COINS)] == SINK).all()
    assert (table[SINK] == SINK).all()


def test_only_coins_lead_to_the_sink():
    entered_from = np.argwhere(next_states() == SINK)[:, 0]
    assert set(entered_from.tolist()) == {*COINS, SINK}


def test_walks_start_in_the_first_row():
    start = gridworld_mdp().start
    assert np.flatnonzero(start).tolist() == list(range(SIDE))


def test_the_true_reward_prefers_the_square_with_most_coins():
    truth = torch.tensor([[1.25, 5.0, 0.0]], dtype=torch.float64)
    rewards = gridworld_reward()(truth, Transitions(np.arange(SINK + 1)))[0]
    assert int(rewards.argmax()) == 7
    assert float(rewards[SINK]) == 0.0
