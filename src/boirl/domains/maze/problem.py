"""The point mass maze with demonstrations of the true target's policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.cache import cached_arrays
from boirl.demonstrations import Demonstrations
from boirl.domains.maze import simulator as maze
from boirl.policies.network import NetworkPolicy
from boirl.policies.ppo import VectorPPO
from boirl.problem.simulated import GymProblem
from boirl.types import Report, silent

ANCHOR = (0.5, 0.5)
"""A target just behind the gap. Targets above the barrier have a local optimum below it, which a
policy that passes the gap already does not get stuck in."""

ANCHOR_SEED = 0
WARM_STARTS = 1
EXPERT_STREAM, DEMONSTRATION_STREAM = 11, 12

Arrays = dict[str, NDArray[Any]]


def build_point_mass_maze(
    seed: int = 0,
    n_demonstrations: int = 100,
    action_cost: float = 0.0,
    steps: int = VectorPPO.steps,
    repeats: int = 3,
    workers: int | None = None,
    report: Report = silent,
) -> GymProblem:
    """The problem of the paper.

    Args:
        seed: Of the expert and its demonstrations.
        n_demonstrations: Of 100 steps each.
        action_cost: Weight of the squared force in the reward: 0 as in the paper's text, or 0.001
            as in its code.
        steps: Training budget of a run.
        repeats: Training runs from scratch, for each theta; one more starts from a policy that
            passes the gap. Those with the highest return under theta are kept.
        workers: Training processes at a time, by default one per core.
        report: Called with how far the training of the expert is, which happens once.
    """
    solver = VectorPPO(steps=steps)
    reward = maze.TargetReward(action_cost)
    truth = tuple(maze.TRUTH[name] for name in reward.box.names)
    simulator = maze.PointMassMaze()
    # Nothing is demonstrated yet; random behaviour holds the place.
    start = GymProblem(
        simulator,
        reward,
        simulator.roll_out(None, 1, maze.HORIZON, np.random.default_rng(0)),
        solver,
        gamma=maze.GAMMA,
        repeats=repeats,
        keep="best",
        workers=workers,
        truth=truth,
        name=simulator.name,
    )
    settings = (repr(solver), repeats, action_cost)

    def make_anchor() -> Arrays:
        return start.best_policy(ANCHOR, ANCHOR_SEED, report).to_dict()

    anchor = NetworkPolicy.from_dict(
        cached_arrays(simulator.name, ("anchor", settings), make_anchor)
    )
    problem = replace(start, anchors=(anchor,) * WARM_STARTS)

    def demonstrate() -> Arrays:
        expert = problem.best_policy(truth, [seed, EXPERT_STREAM], report)
        rng = np.random.default_rng([seed, DEMONSTRATION_STREAM])
        return simulator.roll_out(expert, n_demonstrations, maze.HORIZON, rng).to_dict()

    key = ("demonstrations", settings, seed, n_demonstrations)
    demonstrations = Demonstrations.from_dict(cached_arrays(simulator.name, key, demonstrate))
    return problem.with_demonstrations(demonstrations)
