"""Recordings of a hiker who goes to -0.7 and stays there, as a Minari dataset."""

import gymnasium
import minari
import numpy as np
from minari.data_collector import EpisodeBuffer

NAME = "valley/hikes-v0"
if NAME in minari.list_local_datasets():
    raise SystemExit(f"{NAME} is there already; to record it again: minari delete {NAME}")

env = gymnasium.make("MountainCarContinuous-v0", max_episode_steps=60)
rng = np.random.default_rng(0)
hikes = []
for number in range(20):
    observation, _ = env.reset(seed=number)
    seen, done = [observation], []
    for _ in range(60):
        position, velocity = observation
        push = -8 * (position + 0.7) - 40 * velocity + 0.2 * rng.normal()
        action = np.clip([push], -1, 1).astype(np.float32)
        observation, *_ = env.step(action)
        seen.append(observation)
        done.append(action)
    hikes.append(
        EpisodeBuffer(
            id=number,
            observations=seen,
            actions=done,
            rewards=[0.0] * 60,
            terminations=[False] * 60,
            truncations=[False] * 59 + [True],
        )
    )
minari.create_dataset_from_buffers(
    NAME,
    hikes,
    env,
    eval_env=env.spec,
    algorithm_name="a rule",
    author="somebody",
    author_email="somebody@example.org",
    code_permalink="record.py",
    description="made up by a rule",
)
