"""How much does somebody mind the edge of a cliff? Without a discount, since every walk ends."""

import gymnasium
import numpy as np

import boirl

mdp = boirl.TabularMDP.from_gymnasium(gymnasium.make("CliffWalking-v1"), gamma=1.0)
row, fall = np.arange(48) // 12, np.zeros((48, 4))
fall[25:35, 2] = 1.0
features = np.stack([np.ones((48, 4)), np.tile(row == 2, (4, 1)).T, fall], axis=2)
bounds = {"step": (-3, -1.5), "edge": (-3, 0), "fall": (-20, 0)}
reward, truth = boirl.LinearReward(features, bounds), [-2.0, -0.5, -8.0]
problem = boirl.TabularProblem(mdp, reward, solver=boirl.TabularSolver("logsumexp"), name="cliff")
problem = problem.with_demonstrations(problem.demonstrate(truth, 100, seed=0))
print(found := boirl.explore(problem, evaluations=30, seed=0))
