"""Demonstrations of a policy that is trained for a known reward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from boirl.demonstrations import Demonstrations
from boirl.environments.simulator import Simulator
from boirl.policies.solver import Solver
from boirl.problem.simulated import GymProblem
from boirl.rewards import RewardFamily

if TYPE_CHECKING:
    from boirl.environments.gym_simulator import EnvSource


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
    nothing_yet = cast(Demonstrations, None)
    return GymProblem(env, reward, nothing_yet, solver, **options).demonstrate(theta, n, seed)
