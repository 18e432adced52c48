"""Fetch-Reach with demonstrations of the true reward's policy."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from boirl.cache import cached_arrays
from boirl.demonstrations import Demonstrations
from boirl.domains.fetch import environment as fetch
from boirl.domains.fetch.replay_sac import ReplaySAC
from boirl.domains.fetch.transitions import FetchTransitions
from boirl.errors import InvalidInputError
from boirl.policies.actions import (
    ActionModel,
    CensoredGaussian,
    PartOfActions,
    SquashedGaussian,
    UniformMixture,
)
from boirl.policies.solver import Solver
from boirl.problem.simulated import GymProblem
from boirl.types import Report, silent

GAMMA = 0.95
EXPERT_STREAM, DEMONSTRATION_STREAM = 11, 12
TINY_STEPS, TINY_DEMONSTRATIONS = 256, 4

Route = Literal["replay", "sac", "ppo"]
ROUTES: tuple[Route, ...] = get_args(Route)


def build_fetch_reach(
    seed: int = 0,
    n_demonstrations: int = 100,
    solver: Route = "replay",
    repeats: int = 2,
    workers: int | None = None,
    report: Report = silent,
    tiny: bool = False,
) -> GymProblem:
    """The problem of the paper.

    Args:
        seed: Of the expert and its demonstrations.
        n_demonstrations: Each ends with its first success, after about three steps.
        solver: `"replay"`: soft actor-critic on one shared set of transitions, relabelled for each
            theta; `"sac"`: on the environment, with hindsight; `"ppo"`: on the environment.
        repeats: Training runs for each theta.
        workers: Training processes at a time, by default one per core.
        report: Called with how far the collection of transitions and the training of the expert
            are, which happen once.
        tiny: Whether to train next to nothing, once, for few demonstrations, to see that
            everything runs.
    """
    from boirl.environments.gym_simulator import GymSimulator

    chosen = route(solver, tiny)
    if tiny:
        n_demonstrations, repeats = min(n_demonstrations, TINY_DEMONSTRATIONS), 1
    simulator = GymSimulator(
        fetch.make_fetch_reach, fetch.set_start, fetch.HORIZON, fetch.CENTRE, fetch.SCALE
    )
    reward = fetch.FetchReachReward()
    truth = tuple(fetch.TRUTH[name] for name in reward.box.names)
    if isinstance(chosen, ReplaySAC):
        # Once, here, so that the training processes need not collect them.
        chosen.transitions.load(report)
    start = GymProblem(
        simulator,
        reward,
        # Nothing is demonstrated yet; random behaviour holds the place.
        simulator.roll_out(None, 1, fetch.HORIZON, np.random.default_rng(0)),
        chosen,
        gamma=GAMMA,
        repeats=repeats,
        likelihood=action_model_of(solver),
        workers=workers,
        truth=truth,
        name="fetch-reach",
    )

    def demonstrate() -> dict[str, NDArray[Any]]:
        expert = start.best_policy(truth, [seed, EXPERT_STREAM], report)
        rng = np.random.default_rng([seed, DEMONSTRATION_STREAM])
        drawn = simulator.roll_out(expert, n_demonstrations, fetch.HORIZON, rng)
        return until_success(drawn).to_dict()

    key = ("demonstrations", repr(chosen), repeats, seed, n_demonstrations)
    demonstrations = Demonstrations.from_dict(cached_arrays(start.name, key, demonstrate))
    return start.with_demonstrations(demonstrations)


def route(name: Route, tiny: bool = False) -> Solver:
    """The solver of a route, with settings that were found to work (or, for PPO, not to).

    A tiny one trains next to nothing.
    """
    if name == "replay":
        few = FetchTransitions(TINY_STEPS)
        return ReplaySAC(updates=20, batch=32, transitions=few) if tiny else ReplaySAC()
    from boirl.policies.stable_baselines import PPO, SAC

    if name == "sac":
        return SAC(
            steps=TINY_STEPS if tiny else 2_000,
            hindsight=True,
            learning_rate=1e-3,
            ent_coef=ReplaySAC.temperature,
            tau=0.02,
            learning_starts=200,
            policy_kwargs={"net_arch": [64, 64]},
            replay_buffer_kwargs={"n_sampled_goal": 4},
        )
    if name == "ppo":
        steps, copies = (TINY_STEPS, 2) if tiny else (40_000, 8)
        return PPO(steps=steps, copies=copies, n_steps=128, batch_size=128, learning_rate=1e-3)
    raise InvalidInputError(f"solver is {name!r}; expected one of {', '.join(ROUTES)}")


def until_success(trajectories: Demonstrations) -> Demonstrations:
    """The same trajectories up to and including the step of their first success."""
    distance = fetch.goal_distance(trajectories.next_states)
    parts = []
    for number, one in enumerate(trajectories):
        reached = distance[trajectories.trajectory_numbers == number] <= fetch.SUCCESS_DISTANCE
        steps = int(reached.argmax()) + 1 if reached.any() else len(reached)
        parts.append(tuple(column[:steps] for column in one))
    return Demonstrations.from_trajectories(parts)


def action_model_of(solver: Route) -> ActionModel | None:
    """How to understand a route's policies, where not as the solver says.

    The fingers do nothing; policies that move them nevertheless are not judged by it.
    """
    if solver == "replay":
        return None
    kind = SquashedGaussian if solver == "sac" else CensoredGaussian
    bounds = (-1.0,) * len(fetch.MOVING_ACTIONS), (1.0,) * len(fetch.MOVING_ACTIONS)
    moving = PartOfActions(
        kind(*bounds), fetch.MOVING_ACTIONS, fetch.ACTION_SIZE, outputs_for_all=True
    )
    return UniformMixture(moving)
