"""Do walkers mind noise, and shade? Tests between nested families, and held-out walks."""

from dataclasses import replace

import numpy as np

import boirl

# A park of 8 x 8 squares with the exit in a corner; walks start anywhere.
x, y = np.arange(64) % 8, np.arange(64) // 8
steps = ((1, 0), (0, 1), (-1, 0), (0, -1))
moved = [np.clip(x + dx, 0, 7) + 8 * np.clip(y + dy, 0, 7) for dx, dy in steps]
park = boirl.TabularMDP.from_next_states(np.stack(moved, axis=1), gamma=0.95, terminal=[63])

# These walkers mind every step and noise, and do not care about shade.
rng = np.random.default_rng(0)
features = np.stack([np.ones(64), rng.random(64), rng.random(64)], axis=1)
bounds = {"step": (-5.0, 0.0), "noise": (-5.0, 5.0), "shade": (-5.0, 5.0)}
reward, solver = boirl.LinearReward(features, bounds), boirl.TabularSolver("logsumexp")
problem = boirl.TabularProblem(park, reward, solver=solver, name="park")
problem = problem.with_demonstrations(problem.demonstrate([-2.0, -1.0, 0.0], 100, seed=0))

no_shade = replace(problem, reward=reward.fix(shade=0.0))
no_noise = replace(problem, reward=reward.fix(shade=0.0, noise=0.0))
fit, smaller = boirl.maximum_likelihood(problem), boirl.maximum_likelihood(no_shade)
print(fit)
print(fit.profile_interval("noise"))
print(fit.likelihood_ratio_test(smaller))

print(comparison := boirl.compare({"all": fit, "no shade": smaller, "no noise": no_noise}))
print(discounts := boirl.compare(no_shade, gammas=[0.8, 0.95]))
