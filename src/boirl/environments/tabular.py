"""Markov decision processes with finitely many states and actions, without a reward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from boirl.environments.gymnasium_table import read_table
from boirl.environments.table_parts import (
    check_rows,
    check_start,
    checked_names,
    deterministic_rows,
    start_distribution,
    state_numbers,
    without_rows,
)
from boirl.environments.transition_table import read_transitions
from boirl.errors import InvalidInputError
from boirl.rewards import RewardFamily, Transitions
from boirl.rewards.family import DependsOn, as_float64
from boirl.types import FloatArray, IntArray

DENSE_SHARE = 0.3
"""From this share of entries that are not zero on, products with a dense matrix are faster."""


@dataclass(frozen=True, eq=False, repr=False)
class TabularMDP:
    """States `0..S-1`, actions `0..A-1`, sparse dynamics, discount and start distribution.

    Args:
        transition: Row `s * A + a` holds the distribution of the state after `a` in `s`,
            `(S * A) x S`.
        n_actions: `A`.
        gamma: Discount in `(0, 1]`.
        start: Distribution of the first state, `S`.
        terminal: States in which a trajectory ends, by number (or a mask, `S`). No action is
            taken there and no reward is paid, so that their value is 0; what the dynamics say of
            them is ignored.
        endless: Absorbing states that are not terminal on purpose: trajectories go on there,
            choosing between actions that lead nowhere. Nothing warns of them.
        state_names: What the states are called, `S` names, or none.
        action_names: What the actions are called, `A` names, or none.

    Most people call `from_next_states` (deterministic), `from_probabilities` (stochastic),
    `from_table` (a list of steps) or `from_gymnasium`.
    """

    transition: sp.csr_array
    n_actions: int
    gamma: float
    start: FloatArray
    terminal: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    endless: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    state_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        ends = f", {len(self.terminal)} of them terminal" if len(self.terminal) else ""
        return (
            f"TabularMDP({self.n_states} states{ends}, {self.n_actions} actions, "
            f"gamma {self.gamma:g})"
        )

    def __post_init__(self) -> None:
        if not 0.0 < self.gamma <= 1.0:
            raise InvalidInputError(f"gamma is {self.gamma}; expected a number in (0, 1]")
        n_states = self.transition.shape[1]
        for name in ("terminal", "endless"):
            numbers = state_numbers(getattr(self, name), n_states, name)
            object.__setattr__(self, name, numbers)
        ending = np.repeat(self.is_terminal, self.n_actions)
        if ending.any():
            object.__setattr__(self, "transition", without_rows(self.transition, ending))
        check_rows(self.transition, self.n_actions, ending)
        check_start(self.start, self.is_terminal)
        for name, size in (("state_names", n_states), ("action_names", self.n_actions)):
            object.__setattr__(self, name, checked_names(getattr(self, name), size, name))

    def with_names(self, states: Sequence[str] = (), actions: Sequence[str] = ()) -> Self:
        """The same with names, in the order of numbers; demonstrations may, answers do use them."""
        return replace(self, state_names=tuple(states), action_names=tuple(actions))

    @classmethod
    def from_next_states(
        cls,
        next_states: ArrayLike,
        gamma: float,
        start: ArrayLike | None = None,
        terminal: ArrayLike = (),
        endless: ArrayLike = (),
    ) -> TabularMDP:
        """Deterministic dynamics: `next_states[s, a]` is the state after `a` in `s`, `S x A`.

        Args:
            next_states: The table.
            gamma: Discount in `(0, 1]`.
            start: Distribution of the first state, `S`; by default uniform over those not terminal.
            terminal: States in which a trajectory ends; their rows of the table are ignored.
            endless: Absorbing states in which it goes on, choosing between actions that lead
                nowhere; see `TabularMDP`.
        """
        table = np.asarray(next_states)
        if table.ndim != 2 or not np.issubdtype(table.dtype, np.integer):
            raise InvalidInputError(
                f"next_states has shape {table.shape} and type {table.dtype}; expected an array "
                "of whole numbers, S x A"
            )
        n_states, n_actions = table.shape
        ends = state_numbers(terminal, n_states)
        transition = deterministic_rows(table, ends)
        first = start_distribution(start, n_states, ends)
        return cls(transition, n_actions, float(gamma), first, ends, np.asarray(endless))

    @classmethod
    def from_probabilities(
        cls,
        probabilities: Any,
        gamma: float,
        start: ArrayLike | None = None,
        terminal: ArrayLike = (),
        endless: ArrayLike = (),
    ) -> TabularMDP:
        """Stochastic dynamics, from an array `S x A x S` or a list of `A` matrices `S x S`.

        The matrices may be sparse. The other arguments are those of `from_next_states`; rows of
        terminal states are ignored and may be 0.
        """
        if isinstance(probabilities, Sequence) and all(hasattr(m, "shape") for m in probabilities):
            n_actions, n_states = len(probabilities), probabilities[0].shape[0]
            by_action = sp.vstack([sp.csr_array(matrix) for matrix in probabilities]).tocsr()
            order = np.arange(n_actions * n_states).reshape(n_actions, n_states).T.reshape(-1)
            transition = sp.csr_array(by_action[order])
        else:
            dense = np.asarray(probabilities, dtype=np.float64)
            if dense.ndim != 3 or dense.shape[0] != dense.shape[2]:
                raise InvalidInputError(
                    f"probabilities have shape {dense.shape}; expected S x A x S, or a list of A "
                    "sparse matrices S x S"
                )
            n_states, n_actions = dense.shape[:2]
            transition = sp.csr_array(dense.reshape(-1, n_states))
        ends = state_numbers(terminal, n_states)
        first = start_distribution(start, n_states, ends)
        return cls(transition, n_actions, float(gamma), first, ends, np.asarray(endless))

    @classmethod
    def from_gymnasium(cls, env: Any, gamma: float, start: ArrayLike | None = None) -> TabularMDP:
        """The dynamics of a Gymnasium environment that has a table `P` of transitions.

        FrozenLake, CliffWalking, Taxi and others, without their rewards. States in which episodes
        end are terminal; where others pass through such a state, one terminal state is added.

        Args:
            env: The environment, wrapped or not.
            gamma: Discount in `(0, 1]`.
            start: Distribution of the first state, `S`; by default that of the environment.
        """
        table = read_table(env)
        given = table.start if start is None else start
        first = start_distribution(given, table.transition.shape[1], table.terminal)
        return cls(table.transition, table.n_actions, float(gamma), first, table.terminal)

    @classmethod
    def from_table(
        cls, table: Any, gamma: float, start: ArrayLike | None = None, **columns: str
    ) -> TabularMDP:
        """The dynamics in a table of possible steps, one per row; see `transition_table`.

        Args:
            table: A file, or a pandas, polars or other table, with the columns `state`, `action`,
                `next_state` and maybe `probability`. States without a row are terminal.
            gamma, start: As in `from_next_states`.
            **columns: Their names where they have others, such as `state="from"`.
        """
        read = read_transitions(table, **columns)
        first = start_distribution(start, read.transition.shape[1], read.terminal)
        mdp = cls(read.transition, read.n_actions, float(gamma), first, read.terminal)
        return mdp.with_names(read.state_names, read.action_names)

    @property
    def n_states(self) -> int:
        return int(self.transition.shape[1])

    def state_label(self, state: Any) -> str:
        """What messages and answers call a state."""
        return self.state_names[state] if self.state_names else f"state {state}"

    def action_label(self, action: Any) -> str:
        """What messages and answers call an action."""
        return self.action_names[action] if self.action_names else f"action {action}"

    @cached_property
    def is_terminal(self) -> np.ndarray:
        """Whether a trajectory ends in each state, `S`."""
        mask = np.zeros(self.n_states, dtype=bool)
        mask[self.terminal] = True
        return mask

    @cached_property
    def absorbing(self) -> IntArray:
        """States that no action leaves, which are neither terminal nor endless, by number."""
        rows = self._rows
        stays = self.transition.indices == rows // self.n_actions
        leaves = np.unique(rows[~stays & (self.transition.data > 0.0)] // self.n_actions)
        declared = np.concatenate([self.terminal, self.endless])
        return np.setdiff1d(np.setdiff1d(np.arange(self.n_states), declared), leaves)

    @cached_property
    def always_ends(self) -> bool:
        """Whether a terminal state can be reached from every state."""
        steps = self.chain(np.ones((self.n_states, self.n_actions)))
        reached = self.is_terminal
        while True:
            more = reached | (steps @ reached > 0.0)
            if (more == reached).all():
                return bool(reached.all())
            reached = more

    @cached_property
    def next_states(self) -> IntArray | None:
        """`S x A` where the dynamics are deterministic, else None; terminal states stay put."""
        counts = np.diff(self.transition.indptr).reshape(self.n_states, self.n_actions)
        live = ~self.is_terminal
        if not (counts[live] == 1).all():
            return None
        table = np.tile(np.arange(self.n_states)[:, None], (1, self.n_actions))
        table[live] = self.transition.indices.reshape(-1, self.n_actions)
        return table

    def expect_next(self, values: FloatArray) -> FloatArray:
        """Expected value after each state-action, `S x n` to `S x A x n`; 0 after the end."""
        if self.next_states is not None:
            return np.take(values, self.next_states, axis=0)
        matrix = self.transition if self._dense_rows is None else self._dense_rows
        return (matrix @ values).reshape(self.n_states, self.n_actions, -1)

    def discounted_next(self, values: FloatArray) -> FloatArray:
        """`gamma` times `expect_next`, in the precision of the values."""
        if self.next_states is not None:
            return np.take(self.gamma * values, self.next_states, axis=0)
        following = self.discounted[values.dtype.itemsize] @ values
        return following.reshape(self.n_states, self.n_actions, -1)

    @cached_property
    def discounted(self) -> dict[int, Any]:
        """The discounted dynamics `(S * A) x S`, sparse or dense, by bytes per number: 8 or 4."""
        double = self.gamma * (self.transition if self._dense_rows is None else self._dense_rows)
        return {8: double, 4: double.astype(np.float32)}

    @cached_property
    def _dense_rows(self) -> FloatArray | None:
        """The dynamics as a dense matrix, `(S * A) x S`, where few of its entries are zero."""
        matrix = self.transition
        return matrix.toarray() if matrix.nnz >= DENSE_SHARE * np.prod(matrix.shape) else None

    @cached_property
    def dense_by_state(self) -> FloatArray:
        """The dynamics as a dense array, `S x A x S`; for few states alone."""
        rows = self.transition.toarray() if self._dense_rows is None else self._dense_rows
        return rows.reshape(self.n_states, self.n_actions, self.n_states)

    @cached_property
    def _rows(self) -> IntArray:
        """The state-action, `s * A + a`, of every possible step `s, a, s'`."""
        return np.repeat(np.arange(self.transition.shape[0]), np.diff(self.transition.indptr))

    def chain(self, weights: FloatArray) -> sp.csc_array:
        """Distributions after the actions in each state, summed by weights `S x A`: `S x S`.

        With the probabilities of a policy as weights, this is its Markov chain. It leaves no
        terminal state.
        """
        flow = weights.reshape(-1)[self._rows] * self.transition.data
        shape = (self.n_states, self.n_states)
        places = (self._rows // self.n_actions, self.transition.indices)
        return sp.csc_array((flow, places), shape=shape)

    def expected_rewards(self, reward: RewardFamily, thetas: FloatArray) -> FloatArray:
        """Expected reward of every state-action, `n x S x A`, or `n x S x 1` on states alone.

        Terminal states pay nothing.
        """
        theta = as_float64(thetas)
        with torch.no_grad():
            return np.ascontiguousarray(self._expected(reward, theta))

    def _expected(self, reward: RewardFamily, theta: Tensor) -> FloatArray:
        rewards = reward(theta, self.paid_transitions(reward.depends_on)).numpy()
        if reward.depends_on == "transition":
            matrix = self.transition
            entries = (matrix.data, np.arange(matrix.nnz), matrix.indptr)
            rewards = (sp.csr_array(entries, (matrix.shape[0], matrix.nnz)) @ rewards.T).T
        width = 1 if reward.depends_on == "state" else self.n_actions
        tables = rewards.reshape(len(theta), self.n_states, width)
        if self.terminal.size:
            tables = tables.copy()
            tables[:, self.terminal] = 0.0
        return tables

    def paid_transitions(self, depends_on: DependsOn) -> Transitions:
        """All transitions that a reward may pay for, each once, `T`."""
        states = np.arange(self.n_states)
        if depends_on == "state":
            return Transitions(states)
        if depends_on == "transition":
            following = self.transition.indices.astype(np.int64)
            return Transitions(self._rows // self.n_actions, self._rows % self.n_actions, following)
        rows = np.arange(self.transition.shape[0])
        return Transitions(rows // self.n_actions, rows % self.n_actions)

    def slopes_by_transition(self, slopes: FloatArray, depends_on: DependsOn) -> FloatArray:
        """From a derivative by the expected reward of each state-action, `S x A`, to that by the
        reward of each of `paid_transitions`, `T`."""
        if depends_on == "state":
            return slopes.sum(axis=1)
        if depends_on == "state_action":
            return slopes.reshape(-1)
        counts = np.diff(self.transition.indptr)
        return np.repeat(slopes.reshape(-1), counts) * self.transition.data

    def sample_next(
        self, states: IntArray, actions: IntArray, rng: np.random.Generator
    ) -> IntArray:
        """Draw the next state of many state-actions at once, `n`."""
        if self.next_states is not None:
            return self.next_states[states, actions]
        # One cumulative sum serves all rows: row r lives in (r, r + 1], so that a single sorted
        # search finds the drawn entry of every row.
        rows = states * self.n_actions + actions
        positions = np.searchsorted(self._cumulative, rows + rng.random(len(rows)), side="right")
        last = self.transition.indptr[rows + 1] - 1
        return self.transition.indices[np.minimum(positions, last)].astype(np.int64)

    @cached_property
    def _cumulative(self) -> FloatArray:
        matrix = self.transition
        total = np.cumsum(matrix.data)
        before = np.concatenate([[0.0], total])[matrix.indptr[:-1]]
        within = np.clip(total - before[self._rows], 0.0, 1.0)
        return self._rows + within
