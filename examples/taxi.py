"""What is a taxi driver after? 500 states, of which four end a ride."""

import gymnasium
import numpy as np

import boirl

mdp = boirl.TabularMDP.from_gymnasium(gymnasium.make("Taxi-v4"), gamma=0.95)
arrives = mdp.expect_next(mdp.is_terminal[:, None] * 1.0)[..., 0]
drive, pick, put = (np.tile(np.isin(range(6), kind), (500, 1)) for kind in (range(4), 4, 5))
features = np.stack([arrives, drive, pick, put - arrives], axis=2)
bounds = {"delivery": (0, 30), "drive": (-3, 0), "pick up": (-15, 0), "put down": (-15, 0)}
reward, truth = boirl.LinearReward(features, bounds), [20.0, -1.0, -4.0, -6.0]
problem = boirl.TabularProblem(mdp, reward, name="taxi")
problem = problem.with_demonstrations(problem.demonstrate(truth, 50, seed=0))
print(found := boirl.explore(problem, evaluations=30, seed=0))
