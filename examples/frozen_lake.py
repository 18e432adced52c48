"""Why does somebody walk over a frozen lake as they do? From a table of Gymnasium to rewards."""

import gymnasium
import numpy as np

import boirl

env = gymnasium.make("FrozenLake-v1", map_name="8x8")
mdp = boirl.TabularMDP.from_gymnasium(env, gamma=0.98)
letters = np.asarray(env.get_wrapper_attr("desc")).astype(str).reshape(-1)
features = np.stack([letters == "G", letters == "H", letters != "?"], axis=1)
bounds = {"goal": (0, 10), "hole": (-10, 0), "step": (-1, 0)}
reward = boirl.LinearReward(features, bounds, of_next=True)
problem, truth = boirl.TabularProblem(mdp, reward, name="frozen lake"), [5.0, -2.0, -0.1]
problem = problem.with_demonstrations(problem.demonstrate(truth, 40, seed=0))
print(found := boirl.explore(problem, evaluations=30, seed=0))
