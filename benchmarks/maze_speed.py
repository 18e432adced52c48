"""One policy optimisation in the maze: ours against PPO of stable-baselines3.

For each of eight targets and some seeds, ours is trained with its fixed budget. Then PPO of
stable-baselines3 with its default settings trains on the MuJoCo environment until it has the same
return (within 2 % of what ours gained over random actions), or for at most `--steps`. Its return is
measured after every batch of experience, with the clock stopped. All run on one core, one after the
other. Results go to a file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import stable_baselines3
import torch
from rich.progress import track
from stable_baselines3.common.callbacks import BaseCallback

from boirl.domains.maze.env import ENV_ID
from boirl.files import write_bytes
from boirl.policies.network import NetworkPolicy
from boirl.policies.ppo import VectorPPO
from boirl.policies.solver import Run
from boirl.policies.stable_baselines import network_policy
from boirl.problem import load_problem
from boirl.problem.likelihood import negative_log_likelihood
from boirl.problem.simulated import GymProblem

TARGETS = (
    (0.3, 0.5),
    (0.4, 0.5),
    (0.2, 0.5),
    (0.5, 0.5),
    (0.3, 0.9),
    (0.0, 0.1),
    (0.5, 0.0),
    (0.9, 0.3),
)
SAME = 0.02
ROLLOUTS = 500
TINY_STEPS = 2_000

Theta = tuple[float, float]


def mean_return(problem: GymProblem, policy: NetworkPolicy | None, theta: Theta) -> float:
    rng = np.random.default_rng(0)
    trajectories = problem.simulator.roll_out(policy, ROLLOUTS, problem.steps, rng)
    return float(problem.returns(trajectories, theta).mean())


class UntilAsGood(BaseCallback):
    """Stops training when the return is as good, and keeps the time spent on training alone."""

    def __init__(self, problem: GymProblem, theta: Theta, threshold: float) -> None:
        super().__init__()
        self.problem, self.theta, self.threshold = problem, theta, threshold
        self.seconds = 0.0
        self.reached = -np.inf
        self._began = time.perf_counter()

    def _on_rollout_start(self) -> None:
        """Called before each batch of experience: after an update."""
        self.seconds += time.perf_counter() - self._began
        if self.num_timesteps:
            policy = network_policy(self.model, self.problem.simulator)
            self.reached = mean_return(self.problem, as_seen(policy), self.theta)
        self._began = time.perf_counter()

    def _on_step(self) -> bool:
        return self.reached < self.threshold


def as_seen(policy: NetworkPolicy) -> NetworkPolicy:
    """Stable-baselines3 learned on observations as they are."""
    return replace(policy, centre=0.0, scale=1.0)


def compare(
    problem: GymProblem, solver: VectorPPO, theta: Theta, seed: int, steps: int
) -> dict[str, Any]:
    """A row: one training run of ours and one of theirs."""
    began = time.perf_counter()
    ours = solver.solve(problem.task(theta), Run(seed))
    seconds = time.perf_counter() - began
    chance = mean_return(problem, None, theta)
    our_return = mean_return(problem, ours, theta)
    threshold = our_return - SAME * abs(our_return - chance)
    theirs = train_theirs(problem, theta, seed, steps, threshold)
    return {
        "target": list(theta),
        "seed": seed,
        "seconds": seconds,
        "return": our_return,
        "nll": negative_log_likelihood(ours, problem.demonstrations),
        **theirs,
        "return_of_chance": chance,
        "ratio": theirs["sb3_seconds"] / seconds,
    }


def train_theirs(
    problem: GymProblem, theta: Theta, seed: int, steps: int, threshold: float
) -> dict[str, Any]:
    """What PPO of stable-baselines3 took until its return was above a threshold."""
    stop = UntilAsGood(problem, theta, threshold)
    env = gymnasium.make(ENV_ID, target=theta)
    model = stable_baselines3.PPO("MlpPolicy", env, gamma=problem.gamma, seed=seed, device="cpu")
    model.learn(steps, callback=stop)
    policy = as_seen(network_policy(model, problem.simulator))
    env.close()
    return {
        "sb3_seconds": stop.seconds,
        "sb3_steps": int(model.num_timesteps),
        "sb3_return": stop.reached,
        "sb3_nll": negative_log_likelihood(policy, problem.demonstrations),
        "sb3_as_good": bool(stop.reached >= threshold),
    }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/bench"))
    parser.add_argument("--targets", type=int, default=len(TARGETS), help="the first so many")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=150_000, help="of stable-baselines3 at most")
    parser.add_argument("--tiny", action="store_true", help="one short run, to see that it runs")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    solver = VectorPPO(steps=TINY_STEPS) if arguments.tiny else VectorPPO()
    if arguments.tiny:
        arguments.targets, arguments.seeds, arguments.steps = 1, 1, TINY_STEPS
    problem = load_problem("point-mass-maze", steps=solver.steps)
    VectorPPO(steps=1).solve(problem.task((0.0, 0.0)), Run(0))  # compiles
    rows = []
    wanted = list(product(TARGETS[: arguments.targets], range(arguments.seeds)))
    for theta, seed in track(wanted, "targets and seeds"):
        rows.append(compare(problem, solver, theta, seed, arguments.steps))
        summary = {
            "median_ratio": float(np.median([row["ratio"] for row in rows])),
            "smallest_ratio": float(min(row["ratio"] for row in rows)),
            "median_seconds": float(np.median([row["seconds"] for row in rows])),
            "median_sb3_seconds": float(np.median([row["sb3_seconds"] for row in rows])),
            "sb3_as_good": sum(row["sb3_as_good"] for row in rows),
            "runs": len(rows),
        }
        text = json.dumps({"summary": summary, "rows": rows}, indent=1)
        write_bytes(arguments.out / "maze_speed.json", text.encode())
    for row in rows:
        print(
            f"{row['target']!s:>12} seed {row['seed']}  "
            f"ours {row['seconds']:5.1f} s, return {row['return']:7.3f}, NLL {row['nll']:6.1f}   "
            f"SB3 {row['sb3_seconds']:6.1f} s ({row['sb3_steps']} steps), "
            f"return {row['sb3_return']:7.3f}, NLL {row['sb3_nll']:6.1f}   "
            f"{'' if row['sb3_as_good'] else 'at least '}{row['ratio']:.1f} times"
        )
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
