"""What does a walker care about? A problem of one's own, from dynamics to rewards."""

import numpy as np

import boirl

# A street of seven houses; action 0 walks left, action 1 walks right; the ends are walls.
houses = np.arange(7)
next_states = np.stack([np.maximum(houses - 1, 0), np.minimum(houses + 1, 6)], axis=1)
mdp = boirl.TabularMDP.from_next_states(next_states, gamma=0.9)

# What may the walker care about? Shade, noise and the bakery at house 5.
shade = np.array([0.9, 0.8, 0.1, 0.2, 0.5, 0.4, 0.9])
noise = np.array([0.0, 0.1, 0.9, 0.8, 0.3, 0.6, 0.2])
features = np.stack([shade, noise, houses == 5], axis=1)
reward = boirl.LinearReward(features, {"shade": (0, 3), "noise": (-3, 0), "bakery": (0, 5)})

# Two walks that somebody wrote down: the houses, and the way taken at each.
demonstrations = boirl.Demonstrations.from_trajectories(
    [([2, 3, 4, 5, 6, 5, 6], [1, 1, 1, 1, 0, 1, 0]), ([0, 1, 2, 3, 4, 5], [1, 1, 1, 1, 1, 1])]
)

problem = boirl.TabularProblem(mdp, reward, demonstrations, name="street")
found = boirl.explore(problem, evaluations=25, seed=0)
print(found)
