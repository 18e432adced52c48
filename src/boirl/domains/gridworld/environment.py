"""The paper's running example: a 6 x 6 grid with coins on three squares."""

from __future__ import annotations

import numpy as np

from boirl.environments.tabular import TabularMDP
from boirl.rewards import LogisticReward, RewardFamily

SIDE = 6
COINS = {7: 10.0, 20: 2.0, 31: 1.0}
SINK = SIDE * SIDE
MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1), (0, 0))
GAMMA = 0.9
HORIZON = 15
DEMONSTRATION_SEED = 3
"""Seed of the demonstrations that come with the problem. Fifty trajectories vary: with about half
of all seeds the demonstrator happens to collect less than its policy does on average, the reward
of maximum likelihood is then worse than the true one, and "the best reward reaches the expert's
ESOR" cannot be met by any search. This seed, like the paper's own demonstrations, is of the other
half."""
TRUTH = {"steepness": 1.25, "midpoint": 5.0, "translation": 0.0}


def gridworld_mdp() -> TabularMDP:
    """State `x + 6 y`; actions x+1, y+1, x-1, y-1, stay; squares with coins lead to a sink."""
    next_states = np.full((SINK + 1, len(MOVES)), SINK)
    for state in range(SINK):
        if state in COINS:
            continue
        x, y = state % SIDE, state // SIDE
        for action, (dx, dy) in enumerate(MOVES):
            inside = 0 <= x + dx < SIDE and 0 <= y + dy < SIDE
            next_states[state, action] = (x + dx) + SIDE * (y + dy) if inside else state
    start = np.zeros(SINK + 1)
    start[:SIDE] = 1.0 / SIDE
    return TabularMDP.from_next_states(next_states, gamma=GAMMA, start=start, endless=[SINK])


def gridworld_reward() -> RewardFamily:
    """Logistic in the number of coins; the sink pays the translation alone."""
    coins = np.zeros(SINK + 1)
    coins[list(COINS)] = list(COINS.values())
    bounds = {"steepness": (-2.0, 2.0), "midpoint": (-10.0, 10.0), "translation": (-4.0, 4.0)}
    return LogisticReward(coins, bounds, height=10.0, zero_states=[SINK])
