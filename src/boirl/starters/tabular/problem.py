"""What does a walker care about? Dynamics and demonstrations as arrays.

Run it:  boirl run problem.py --evaluations 30 --out results
"""

import numpy as np

import boirl

# Dynamics: the state after each action in each state, S x A. Here a street of seven houses.
# Others: from_probabilities (stochastic), from_gymnasium (FrozenLake, Taxi, ...), from_table (CSV).
houses = np.arange(7)
next_states = np.stack([np.maximum(houses - 1, 0), np.minimum(houses + 1, 6)], axis=1)
mdp = boirl.TabularMDP.from_next_states(next_states, gamma=0.9)
mdp = mdp.with_names(states=[f"house {n}" for n in houses], actions=["left", "right"])

# Rewards: what the walker may care about, S x p, and bounds for the weight of each.
shade = np.array([0.9, 0.8, 0.1, 0.2, 0.5, 0.4, 0.9])
noise = np.array([0.0, 0.1, 0.9, 0.8, 0.3, 0.6, 0.2])
features = np.stack([shade, noise, houses == 5], axis=1)
reward = boirl.LinearReward(features, {"shade": (0, 3), "noise": (-3, 0), "bakery": (0, 5)})

# Demonstrations: the states of each walk, and the action taken in each. Names work, too.
walks = boirl.Demonstrations.from_trajectories(
    [([2, 3, 4, 5, 6, 5, 6], [1, 1, 1, 1, 0, 1, 0]), ([0, 1, 2, 3, 4, 5], [1, 1, 1, 1, 1, 1])]
)

# The solver says how the walker chooses: "max" (and then softly among actions), "logsumexp", ...
problem = boirl.TabularProblem(mdp, reward, walks, boirl.TabularSolver("max"), name="street")

if __name__ == "__main__":
    print(boirl.explore(problem, evaluations=30, progress=True))
