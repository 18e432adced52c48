"""A hiker in a valley likes some place and spares his legs. Which place, and how much?"""

import torch

import boirl


def comfort(theta, transitions):
    """Minus the distance from the place, less what effort costs."""
    position = torch.as_tensor(transitions.next_states)[:, 0]
    effort = torch.as_tensor(transitions.actions)[:, 0].square()
    return -10 * (position - theta[:, :1]).abs() - theta[:, 1:] * effort


reward = boirl.CallableReward(comfort, {"place": (-1.1, 0.1), "effort": (0, 5)}, "transition")
valley = boirl.GymSimulator("MountainCarContinuous-v0", horizon=60)
solver = boirl.PPO(steps=16_000, copies=8, n_steps=64, batch_size=128, learning_rate=2e-3)

# Here the hiker is a policy trained for a place and an effort; yours come from a file.
walks = boirl.demonstrate(valley, reward, [-0.7, 1.0], solver, n=40, seed=7, gamma=0.95)

problem = boirl.GymProblem(valley, reward, walks, solver, gamma=0.95, repeats=2, name="valley")
found = boirl.explore(problem, evaluations=15, seed=0, progress=True)
print(found)
