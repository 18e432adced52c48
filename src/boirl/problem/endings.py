"""How trajectories end: in terminal states, at a horizon, or in a state nobody recorded."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import DemonstrationError, InvalidInputError
from boirl.rewards import RewardFamily

MOST_STEPS = 1000
"""Steps after which a demonstrator stops who was given no horizon."""

WEIGHT_LEFT = 0.01
"""Share of the discounted weight that later steps may have for a demonstrator to stop."""


def default_horizon(mdp: TabularMDP) -> int:
    """Steps of a demonstrator who was given no horizon: up to the end, or while rewards matter."""
    if mdp.terminal.size:
        return MOST_STEPS
    if mdp.gamma == 1.0:
        raise InvalidInputError(
            "gamma is 1 and no state is terminal, so that trajectories have no natural length; "
            "pass horizon=..."
        )
    return min(MOST_STEPS, max(1, math.ceil(math.log(WEIGHT_LEFT) / math.log(mdp.gamma))))


def without_ended_steps(demonstrations: Demonstrations, mdp: TabularMDP) -> Demonstrations:
    """The demonstrations up to the terminal states that they reach.

    Raises:
        DemonstrationError: A trajectory starts in a terminal state, or leaves one.
    """
    ended = mdp.is_terminal[demonstrations.states]
    if not ended.any():
        return demonstrations
    numbers, steps = demonstrations.trajectory_numbers, demonstrations.step_numbers
    leaving = ended & ~np.append(ended[1:], True)
    leaving[:-1] &= numbers[1:] == numbers[:-1]
    for wrong, what in (
        (ended & (steps == 0), "a trajectory cannot start there: leave it out"),
        (leaving, "no action leaves it: check which states are terminal"),
    ):
        if wrong.any():
            step = int(wrong.argmax())
            raise DemonstrationError(
                f"trajectory {numbers[step]}, step {steps[step]}: state "
                f"{demonstrations.states[step]} is terminal; {what}"
            )
    kept = ~ended
    return replace(
        demonstrations,
        states=demonstrations.states[kept],
        actions=demonstrations.actions[kept],
        next_states=demonstrations.next_states[kept],
        lengths=np.bincount(numbers[kept], minlength=len(demonstrations)),
    )


def check_lengths(demonstrations: Demonstrations, horizon: int) -> None:
    """Refuse trajectories that go on after the horizon."""
    longest = int(demonstrations.lengths.argmax())
    if demonstrations.lengths[longest] > horizon:
        raise DemonstrationError(
            f"trajectory {longest} has {demonstrations.lengths[longest]} steps; expected at most "
            f"{horizon}, the horizon of the solver: raise it, or shorten the trajectory"
        )


def check_ends(demonstrations: Demonstrations, reward: RewardFamily) -> None:
    """Refuse trajectories whose end is unknown where the reward depends on it."""
    unknown = demonstrations.unknown_ends
    if unknown.any() and reward.depends_on == "transition":
        raise DemonstrationError(
            f"trajectory {demonstrations.trajectory_numbers[unknown.argmax()]} does not say "
            "where its last action led, and the reward depends on it; give one state more than "
            "actions (in a list of steps or a table: the next state of the last step, or a last "
            "row with a state and no action)"
        )
