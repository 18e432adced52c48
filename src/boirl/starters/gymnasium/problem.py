"""A hiker in a valley likes some place and spares his legs. Which place, and how much?

Needs:   pip install 'boirl[rl,minari]'
First:   python record.py          (writes recordings to start from, as a Minari dataset)
Run it:  boirl run problem.py --evaluations 15 --storage sqlite:///hikes.db --out results
"""

import torch

import boirl


# The reward of T transitions for each of n thetas, n x T, in torch.
def comfort(theta, transitions):
    position = torch.as_tensor(transitions.next_states)[:, 0]
    effort = torch.as_tensor(transitions.actions)[:, 0].square()
    return -10 * (position - theta[:, :1]).abs() - theta[:, 1:] * effort


reward = boirl.CallableReward(comfort, {"place": (-1.1, 0.1), "effort": (0, 5)}, "transition")
valley = boirl.GymSimulator("MountainCarContinuous-v0", horizon=60)

# Recordings: a Minari dataset by its id, such as one of `minari list remote`.
hikes = boirl.Demonstrations.from_minari("valley/hikes-v0")

# Each evaluation trains policies; steps is what you can afford, repeats measure the noise.
solver = boirl.PPO(steps=16_000, copies=8, n_steps=64, batch_size=128, learning_rate=2e-3)
problem = boirl.GymProblem(valley, reward, hikes, solver, gamma=0.95, repeats=2, name="valley")

if __name__ == "__main__":
    print(boirl.explore(problem, evaluations=15, progress=True))
