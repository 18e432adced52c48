"""Newton's method for Bellman equations.

A step solves `(I - gamma W) d = T(V) - V`, where row `s` of `W` is the derivative of the backup at
`s` with respect to the next values. For `max` this is policy iteration, for `logsumexp` its soft
counterpart. A handful of steps replaces thousands of sweeps. `linear_systems` has the ways to solve
a system; two kinds of problems have a shorter one:

- deterministic dynamics with `max`: a state is the start of a chain;
- deterministic dynamics, `logsumexp` and rewards on states: states with the same successors share
  one unknown (on a road network, all ways onto one link), and the factorised matrix shrinks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu

from boirl.environments import TabularMDP
from boirl.policies.linear_systems import ChainSystem, Linearisation, dense_matrices, linearise
from boirl.policies.operators import BellmanEquation
from boirl.policies.sweeps import Swept, enough
from boirl.types import FloatArray, IntArray

MAX_STEPS = 200


Step = Callable[[FloatArray], tuple[FloatArray, Linearisation]]
"""`step(values) -> (residual, linearisation)`; both are of size `S`."""


@dataclass(frozen=True)
class NewtonResult:
    """Values `S`, the largest residual they leave, the steps taken and the system at the values."""

    values: FloatArray
    residual: float
    steps: int
    linearisation: Linearisation | None = None


def iterate(
    step: Step, values: FloatArray, tolerance: float, max_steps: int = MAX_STEPS
) -> NewtonResult:
    """Newton steps until the residual is small enough, or no step helps any more."""
    best = NewtonResult(values, np.inf, 0)
    for number in range(max_steps):
        residual, linearisation = step(values)
        size = float(np.abs(residual).max())
        if size < best.residual:
            best = NewtonResult(values, size, number, linearisation)
        if not np.isfinite(size) or size <= enough(values, tolerance):
            break
        try:
            values = values + linearisation.solve(residual)
        except RuntimeError:
            # What SciPy raises for a singular matrix: no step leads on from here.
            break
    return best


def iterate_dense(
    equation: BellmanEquation, values: FloatArray, tolerance: float, max_steps: int = MAX_STEPS
) -> Swept:
    """`iterate` for `n` equations on few states at once, from values `S x n`.

    Raises:
        numpy.linalg.LinAlgError: A matrix is singular.
    """
    best, residuals = values.copy(), np.full(equation.size, np.inf)
    converged = np.zeros(equation.size, dtype=bool)
    active, own = np.arange(equation.size), equation
    steps = 0
    for _ in range(max_steps):
        backed_up, slopes = own.back_up_with_slopes(own.q(values))
        residual = backed_up - values
        size = np.abs(residual).max(axis=0)
        better = size < residuals[active]
        best[:, active[better]], residuals[active[better]] = values[:, better], size[better]
        settled = size <= enough(values, tolerance)
        converged[active] = settled
        going_on = ~settled & np.isfinite(size)
        if not going_on.all():
            active, own = active[going_on], own.of(going_on)
            values, residual = values[:, going_on], residual[:, going_on]
            slopes = slopes[..., going_on]
        if not active.size:
            break
        matrices = dense_matrices(equation.mdp, slopes)
        values = values + np.linalg.solve(matrices, residual.T[..., None])[..., 0].T
        steps += 1
    return Swept(best, residuals, converged, steps)


def newton_step(equation: BellmanEquation) -> Step:
    """Newton's step for one reward table."""

    def step(values: FloatArray) -> tuple[FloatArray, Linearisation]:
        backed_up, slopes = equation.back_up_with_slopes(equation.q(values[:, None]))
        return backed_up[:, 0] - values, linearise(equation.mdp, slopes[..., 0])

    return step


def chain_step(mdp: TabularMDP, rewards: FloatArray) -> Step:
    """Policy iteration for `max` on deterministic dynamics, with rewards `S x A` or `S x 1`."""
    assert mdp.next_states is not None
    next_states, states = mdp.next_states, np.arange(mdp.n_states)

    def step(values: FloatArray) -> tuple[FloatArray, Linearisation]:
        q = rewards + mdp.gamma * values[next_states]
        action = q.argmax(axis=1)
        backed_up, following = q[states, action], next_states[states, action]
        backed_up[mdp.terminal], following[mdp.terminal] = 0.0, mdp.n_states
        return backed_up - values, ChainSystem(following, mdp.gamma)

    return step


def shared_soft_step(mdp: TabularMDP, rewards: FloatArray, beta: float) -> Step:
    """Newton for `logsumexp` on deterministic dynamics with rewards on states, `S`.

    With `W_c` the (soft) best of the successors that the states of class `c` share, and `k` actions
    that stay in place, `V_s = r_s + log(exp(beta W_c) + k exp(beta gamma V_s)) / beta`. The
    correction of `V_s` is linear in that of `W_c`, which leaves one unknown per class.
    """
    shared = SuccessorClasses.of(mdp)
    gamma = mdp.gamma
    with np.errstate(divide="ignore"):
        log_stays = np.log(shared.stays)

    def step(values: FloatArray) -> tuple[FloatArray, Linearisation]:
        best, share = shared.soft_best(beta * gamma * values)
        going, staying = best[shared.of_state], log_stays + beta * gamma * values
        top = np.maximum(going, staying)
        go, stay = np.exp(going - top), np.exp(staying - top)
        total = go + stay
        residual = rewards + (top + np.log(total)) / beta - values
        held = 1.0 - gamma * stay / total
        slope = go / total / held
        ends = mdp.terminal
        residual[ends], held[ends], slope[ends] = -values[ends], 1.0, 0.0
        return residual, SharedSystem(shared, gamma * share, slope, held)

    return step


@dataclass(frozen=True, eq=False)
class SuccessorClasses:
    """States grouped by where they can go to, staying in place left out.

    Attributes:
        of_state: Class of each state, `S`.
        stays: Number of actions that stay in place, `S`.
        classes: Class that each way on leads from, `E`.
        successors: State that it leads to, `E`.
        n_classes: `C`.
        pattern: Row indices and column pointers of the `C x C` matrix of classes, and the place in
            it of each way on and then of each diagonal entry.
    """

    of_state: IntArray
    stays: FloatArray
    classes: IntArray
    successors: IntArray
    n_classes: int
    pattern: tuple[IntArray, IntArray, IntArray]

    @classmethod
    def of(cls, mdp: TabularMDP) -> SuccessorClasses:
        """The classes of deterministic dynamics, computed once."""
        if mdp not in _CLASSES:
            _CLASSES[mdp] = cls._build(mdp)
        return _CLASSES[mdp]

    @classmethod
    def _build(cls, mdp: TabularMDP) -> SuccessorClasses:
        assert mdp.next_states is not None
        staying = mdp.next_states == np.arange(mdp.n_states)[:, None]
        elsewhere = -np.sort(-np.where(staying, -1, mdp.next_states), axis=1)
        order = np.lexsort(elsewhere.T[::-1])
        new = np.concatenate([[True], (np.diff(elsewhere[order], axis=0) != 0).any(axis=1)])
        of_state = np.empty(mdp.n_states, dtype=np.int64)
        of_state[order] = np.cumsum(new) - 1
        table = elsewhere[order][new]
        classes, place = np.nonzero(table >= 0)
        successors = table[classes, place]
        n = len(table)
        keys = np.concatenate([of_state[successors] * n + classes, np.arange(n) * (n + 1)])
        distinct, where = np.unique(keys, return_inverse=True)
        pointers = np.searchsorted(distinct // n, np.arange(n + 1))
        return cls(
            of_state=of_state,
            stays=staying.sum(axis=1).astype(np.float64),
            classes=classes,
            successors=successors,
            n_classes=n,
            pattern=(distinct % n, pointers, where.reshape(-1)),
        )

    def soft_best(self, scaled: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log-sum-exp over the successors of each class, and the share of each way on."""
        there = scaled[self.successors]
        top = np.full(self.n_classes, -np.inf)
        np.maximum.at(top, self.classes, there)
        weight = np.exp(there - top[self.classes])
        total = np.bincount(self.classes, weight, minlength=self.n_classes)
        with np.errstate(divide="ignore"):
            best = np.where(total > 0, top + np.log(total), -np.inf)
        return best, weight / total[self.classes]

    def factorise(self, flow: FloatArray, slope: FloatArray) -> SuperLU:
        """Factors of the `C x C` matrix of `x_c = known_c + sum over ways on of flow slope x`."""
        rows, pointers, where = self.pattern
        n = self.n_classes
        weights = np.concatenate([-flow * slope[self.successors], np.ones(n)])
        data = np.bincount(where, weights, minlength=len(rows))
        return splu(sp.csc_array((data, rows, pointers), shape=(n, n)))


@dataclass(frozen=True, eq=False)
class SharedSystem:
    """`I - gamma W` of `logsumexp` with one unknown per class of states.

    With `x_s = right_s / held_s + slope_s y_class(s)`, the classes' unknowns `y` solve a smaller
    system: `y_c = sum over ways on of flow x_successor`.

    Args:
        classes: States by their successors.
        flow: Discounted share of each way on, `E`.
        slope: Derivative of the value of a state by the unknown of its class, `S`.
        held: What a state keeps of its own value when it stays, `S`.
    """

    classes: SuccessorClasses
    flow: FloatArray
    slope: FloatArray
    held: FloatArray

    @cached_property
    def _factors(self) -> SuperLU:
        return self.classes.factorise(self.flow, self.slope)

    def solve(self, right: FloatArray) -> FloatArray:
        classes = self.classes
        offset = right / self.held
        known = np.bincount(
            classes.classes, self.flow * offset[classes.successors], classes.n_classes
        )
        return offset + self.slope * self._factors.solve(known)[classes.of_state]

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        classes = self.classes
        known = np.bincount(classes.of_state, self.slope * right, classes.n_classes)
        of_class = self._factors.solve(known, trans="T")
        arriving = np.bincount(
            classes.successors, self.flow * of_class[classes.classes], len(right)
        )
        return (right + arriving) / self.held


_CLASSES: WeakKeyDictionary[TabularMDP, SuccessorClasses] = WeakKeyDictionary()
