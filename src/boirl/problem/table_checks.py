"""What is checked when a tabular problem is made: what does not fit, and what looks wrong."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from boirl.demonstrations import UNKNOWN, Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import BoirlWarning, InvalidInputError, SolverError, StorageError
from boirl.rewards import RewardFamily
from boirl.types import FloatArray


def check_covers(reward: RewardFamily, mdp: TabularMDP) -> None:
    """Refuse a reward family that does not know all states and actions."""
    expected = (mdp.n_states, mdp.n_actions)
    sizes = reward.table_shape
    if sizes is not None and sizes != expected[: len(sizes)]:
        raise InvalidInputError(
            f"the features of the reward are for {' x '.join(map(str, sizes))} states"
            f"{' and actions' if len(sizes) > 1 else ''}, and the environment has "
            f"{expected[0]} states and {expected[1]} actions; give one row per state"
        )
    middle = 0.5 * (reward.box.low + reward.box.high)
    try:
        mdp.expected_rewards(reward, np.stack([middle, middle]))
    except IndexError as error:
        raise InvalidInputError(
            f"the reward family does not cover the {expected[0]} states and "
            f"{expected[1]} actions of the environment ({error}); give it a feature for each"
        ) from error


def refuse_constant_rewards(rewards: FloatArray, mdp: TabularMDP, name: str) -> None:
    """Refuse a family that pays the same everywhere, which makes nobody act differently.

    Where trajectories end, a constant says whether to hurry.

    Args:
        rewards: Of all transitions that may be paid for at some thetas, `n x T`.
        mdp: The dynamics.
        name: Of the problem.
    """
    if mdp.terminal.size or not np.allclose(rewards, rewards[:, :1], rtol=1e-12, atol=0.0):
        return
    raise InvalidInputError(
        f"the reward of problem {name!r} is the same in all {mdp.n_states} states, whatever theta "
        "is, and trajectories never end: no theta changes what the demonstrator does; give states "
        "features that differ"
    )


def warn_of_absorbing_states(mdp: TabularMDP) -> None:
    """Under `logsumexp`, the free choice in a state that nothing leaves is worth a lot."""
    absorbing = mdp.absorbing
    if not absorbing.size or mdp.n_actions == 1:
        return
    worth = (
        "adds up without end"
        if mdp.gamma == 1.0
        else f"is worth log({mdp.n_actions}) / (1 - gamma) = "
        f"{np.log(mdp.n_actions) / (1.0 - mdp.gamma):.4g} nats"
    )
    warnings.warn(
        f"no action leaves {mdp.state_label(absorbing[0])}"
        + (f" (nor {len(absorbing) - 1} others)" if len(absorbing) > 1 else "")
        + f", and it is not terminal: under logsumexp the free choice there {worth}, beside what "
        f"it pays; give the MDP terminal={absorbing[:5].tolist()}"
        f"{'...' if len(absorbing) > 5 else ''} if trajectories end there, or endless=... if they "
        "go on",
        BoirlWarning,
        stacklevel=5,
    )


def warn_of_unpaid_parameters(reward: RewardFamily, mdp: TabularMDP) -> None:
    """Features of terminal states alone are never paid for, so that their weights do nothing."""
    if not mdp.terminal.size:
        return
    box = reward.box
    for number, name in enumerate(box.names):
        ends = np.tile(0.5 * (box.low + box.high), (2, 1))
        ends[:, number] = box.low[number], box.high[number]
        lowest, highest = mdp.expected_rewards(reward, ends)
        if np.array_equal(lowest, highest):
            warnings.warn(
                f"parameter {name!r} changes no reward that is paid: no action is taken in a "
                "terminal state, so nothing is paid for being there; to pay for arriving, make the "
                "reward depend on the next state, for instance LinearReward(features, bounds, "
                "of_next=True)",
                BoirlWarning,
                stacklevel=5,
            )


def warn_of_impossible_steps(demonstrations: Demonstrations, mdp: TabularMDP) -> None:
    """Steps that cannot happen point to another numbering of states or actions."""
    states, actions = demonstrations.states, demonstrations.actions
    following = demonstrations.next_states
    known = np.flatnonzero(following != UNKNOWN)
    if not known.size:
        return
    rows = states[known] * mdp.n_actions + actions[known]
    impossible = known[np.asarray(mdp.transition[rows, following[known]]) == 0.0]
    if impossible.size:
        step = impossible[0]
        warnings.warn(
            f"{impossible.size} demonstrated steps cannot happen in this environment, first "
            f"in trajectory {demonstrations.trajectory_numbers[step]}, step "
            f"{demonstrations.step_numbers[step]}: {mdp.action_label(actions[step])} in "
            f"{mdp.state_label(states[step])} led to {mdp.state_label(following[step])}; check the "
            "numbering of states and actions",
            BoirlWarning,
            stacklevel=5,
        )


def refuse_infinite_rewards(rewards: FloatArray, mdp: TabularMDP, thetas: FloatArray) -> None:
    """Refuse rewards, a table for each of `n` thetas, that are not finite."""
    if not np.isfinite(rewards).all():
        number, state = np.argwhere(~np.isfinite(rewards))[0][:2]
        raise SolverError(
            f"the reward of {mdp.state_label(state)} is not finite for theta "
            f"{tuple(thetas[number].tolist())}; expected finite rewards all over the box"
        )


def checked_values(
    arrays: Mapping[str, FloatArray], n_states: int, theta: tuple[float, ...]
) -> FloatArray:
    """The values of a kept policy; refused where they are not one finite number per state."""
    values = arrays.get("values", np.empty(0))
    if values.shape != (n_states,) or values.dtype != np.float64 or not np.isfinite(values).all():
        raise StorageError(
            f"the policy of theta {theta} is damaged: its values have shape {values.shape} and "
            f"type {values.dtype}; expected finite numbers of shape {(n_states,)}: evaluate it "
            "again"
        )
    return values
