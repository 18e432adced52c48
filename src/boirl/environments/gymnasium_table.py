"""Dynamics of Gymnasium environments that come with a table of their transitions.

The table `P[s][a]` of the toy-text environments lists `(probability, next state, reward, ends)`.
Gymnasium attaches the end of an episode to a step, not to a state. A state that is entered by steps
that end the episode and by no others is terminal, whatever the table says of leaving it: the goal
of CliffWalking can be left by the table, though no episode does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from boirl.errors import InvalidInputError
from boirl.types import FloatArray, IntArray

START_ATTRIBUTES = ("initial_state_distrib", "isd")
"""Where environments keep the distribution of the first state."""


class GymnasiumTable(NamedTuple):
    """Dynamics `(S * A) x S`, the number of actions, terminal states and first states, if known."""

    transition: sp.csr_array
    n_actions: int
    terminal: IntArray
    start: FloatArray | None


class _Steps(NamedTuple):
    """Every possible step: where, what, with which probability, whereto, and whether it ends."""

    states: IntArray
    actions: IntArray
    probabilities: FloatArray
    next_states: IntArray
    ends: np.ndarray


def read_table(env: Any) -> GymnasiumTable:
    """The table of an environment, with the ends of its episodes as terminal states.

    Raises:
        InvalidInputError: There is no such table.
    """
    inner = getattr(env, "unwrapped", env)
    table = getattr(inner, "P", None)
    if table is None:
        raise InvalidInputError(
            f"{env!r} has no table P of transitions; expected one such as FrozenLake-v1, "
            "CliffWalking-v1 or Taxi-v4 has (for others, GymProblem learns policies in the "
            "simulator)"
        )
    n_states, n_actions = len(table), len(table[0])
    steps = _read_steps(table, n_states, n_actions)
    start = _start_of(inner, n_states)
    ends, passed = _ends_and_passed(steps, n_states, start)
    ambiguous = ends & passed
    terminal = np.flatnonzero(ends & ~passed)
    next_states = steps.next_states
    if ambiguous.any():
        # Here an episode may end or go on: what ends gets a state of its own.
        next_states = np.where(steps.ends & ambiguous[next_states], n_states, next_states)
        terminal = np.append(terminal, n_states)
        start = None if start is None else np.append(start, 0.0)
        n_states += 1
    rows = steps.states * n_actions + steps.actions
    shape = (n_states * n_actions, n_states)
    transition = sp.csr_array((steps.probabilities, (rows, next_states)), shape=shape)
    transition.sum_duplicates()
    transition.eliminate_zeros()
    return GymnasiumTable(transition, n_actions, terminal, start)


def _read_steps(table: Any, n_states: int, n_actions: int) -> _Steps:
    rows = []
    for state in range(n_states):
        if len(table[state]) != n_actions:
            raise InvalidInputError(
                f"the table P has {len(table[state])} actions in state {state} and {n_actions} in "
                "state 0; expected the same number in all states"
            )
        for action in range(n_actions):
            for step in table[state][action]:
                if len(step) != 4:
                    raise InvalidInputError(
                        f"the table P has {step!r} for state {state}, action {action}; expected "
                        "(probability, next state, reward, whether the episode ends)"
                    )
                probability, following, _, ends = step
                if not 0 <= following < n_states:
                    raise InvalidInputError(
                        f"the table P leads from state {state} to state {following}; expected a "
                        f"state from 0 to {n_states - 1}"
                    )
                rows.append((state, action, probability, following, ends))
    states, actions, probabilities, next_states, ends = zip(*rows, strict=True)
    return _Steps(
        np.array(states, dtype=np.int64),
        np.array(actions, dtype=np.int64),
        np.array(probabilities, dtype=np.float64),
        np.array(next_states, dtype=np.int64),
        np.array(ends, dtype=bool),
    )


def _start_of(env: Any, n_states: int) -> FloatArray | None:
    for name in START_ATTRIBUTES:
        given = getattr(env, name, None)
        if given is not None and np.shape(given) == (n_states,):
            return np.array(given, dtype=np.float64)
    return None


def _ends_and_passed(
    steps: _Steps, n_states: int, start: FloatArray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Which states an episode may end in, and which it may start in or pass through, `S` each.

    What episodes never visit counts as well, as far as it does not contradict what they do.
    """
    ends = np.zeros(n_states, dtype=bool)
    passed = np.zeros(n_states, dtype=bool)
    first = np.ones(n_states, dtype=bool) if start is None else start > 0.0
    stays = steps.next_states == steps.states
    # A state that is only ever stayed in, and ends the episode each time, is no place to start.
    leaves = np.bincount(steps.states, ~(stays & steps.ends), n_states) > 0
    possible = steps.probabilities > 0.0
    for starting in (first & leaves, leaves):
        passed |= starting & ~ends
        while True:
            live = possible & passed[steps.states]
            more = passed.copy()
            more[steps.next_states[live & ~steps.ends]] = True
            more &= ~ends | passed
            if (more == passed).all():
                break
            passed = more
        ends[steps.next_states[possible & passed[steps.states] & steps.ends]] = True
    return ends | ~leaves, passed
