"""Demonstrations of a policy that is trained for a known reward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boirl.demonstrations import Demonstrations
from boirl.environments.simulator import Simulator
from boirl.policies.solver import Solver
from boirl.problem.simulated import GymProblem, as_simulator
from boirl.rewards import RewardFamily

if TYPE_CHECKING:
    from boirl.environments.gym_simulator import EnvSource

DEMONSTRATION_STREAM = 8


def demonstrate(
    env: EnvSource | Simulator,
    reward: RewardFamily,
    theta: ArrayLike,
    solver: Solver,
    n: int = 50,
    seed: int = 0,
    **options: Any,
) -> Demonstrations:
    """Demonstrations of a policy that is trained for theta, to try things out with.

    Args:
        env: As of `GymProblem`.
        reward: The family.
        theta: What the demonstrator is after.
        solver: Learns the demonstrator's policy.
        n: Number of trajectories.
        seed: Of the training and the trajectories.
        **options: Further arguments of `GymProblem`, such as `gamma`.
    """
    simulator = as_simulator(env, options.get("set_start"), options.get("horizon"))
    # Nothing is demonstrated yet; random behaviour holds the place.
    rng = np.random.default_rng([seed, DEMONSTRATION_STREAM])
    nothing = simulator.roll_out(None, 1, options.get("horizon") or simulator.horizon, rng)
    problem = GymProblem(simulator, reward, nothing, solver, **options)
    policy = problem.best_policy(theta, seed)
    return simulator.roll_out(policy, n, problem.steps, rng)
