"""How far apart rewards are, whatever potential shaping and scale they are written with.

Two rewards that differ by potential shaping, `gamma Phi(s') - Phi(s)`, or by a positive factor
prefer the same policies. Both distances here first give all such rewards one form: STARC
(Skalse et al., 2024) knows the dynamics and looks at expected rewards, EPIC (Gleave et al., 2021)
does not and looks at `R(s, a, s')` of every step, also of steps that cannot happen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike
from scipy.sparse.linalg import splu
from scipy.spatial.distance import pdist, squareform

from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError
from boirl.problem import TabularProblem
from boirl.rewards import Transitions
from boirl.rewards.family import as_float64
from boirl.types import FloatArray

EPIC_STATES = 200
"""States up to which EPIC is computed: its tables hold `S x A x S` numbers per reward."""

ROUNDING = 100 * np.finfo(np.float64).eps
"""Relative size below which what is left of a reward is taken for rounding."""


def value_canonical(mdp: TabularMDP, rewards: ArrayLike) -> FloatArray:
    """The advantages of uniformly random actions, which no potential shaping changes.

    `c(s, a) = r(s, a) + gamma E[V(s') | s, a] - V(s)`, where `V` is the value of the uniform
    policy. A constant that is added to all rewards is a shaping as well, unless trajectories end.

    Args:
        mdp: The dynamics, with a discount below 1 or terminal states within reach.
        rewards: Expected rewards of state-actions, `n x S x A`, or of states, `n x S x 1`.

    Returns:
        `n x S x A`.
    """
    return _advantages(mdp, rewards)[0]


def starc_distance(
    mdp: TabularMDP, rewards: ArrayLike, weights: ArrayLike | None = None
) -> FloatArray:
    """Half the L2 distance between rewards in canonical form, each scaled to norm 1.

    0 for rewards that differ by shaping and a positive factor alone, 1 for a reward and its
    opposite. Trivial rewards (constants, pure shaping) are zero in canonical form and stay zero:
    they are at distance 0 from each other and at 0.5 from all others.

    Args:
        mdp: The dynamics, with a discount below 1 or terminal states within reach.
        rewards: Expected rewards of state-actions, `n x S x A`, or of states, `n x S x 1`.
        weights: How much each state-action counts, `S x A`; by default all count alike.

    Returns:
        `n x n`, symmetric, in [0, 1].
    """
    share = _shares("weights", weights, (mdp.n_states, mdp.n_actions))
    canonical, size = _advantages(mdp, rewards)
    return _half_distances(_unit_rows(canonical, size, share))


def epic_distance(
    mdp: TabularMDP,
    rewards: Callable[[Transitions], ArrayLike],
    state_weights: ArrayLike | None = None,
    action_weights: ArrayLike | None = None,
) -> FloatArray:
    """`sqrt((1 - correlation) / 2)` of rewards in canonical form, exact over all `S A S` steps.

    The canonical form is `R(s, a, s') + E[gamma R(s', A, S') - R(s, A, S') - gamma R(S, A, S')]`
    with independent `S`, `A` and `S'`. The correlation is over `s`, `a` and `s'` drawn likewise,
    so that only the discount and the size of the MDP matter, not its dynamics. Rewards that are
    constant in canonical form are at distance 0 from each other and, as the correlation is taken
    to be 0, at `sqrt(1/2)` from all others.

    Args:
        mdp: Gives discount, states (at most 200) and actions.
        rewards: Function from `T` transitions to the rewards `n x T` of `n` reward functions.
        state_weights: How often each state is drawn, `S`; by default all alike.
        action_weights: How often each action is drawn, `A`; by default all alike.

    Returns:
        `n x n`, symmetric, in [0, 1].
    """
    n_states, n_actions = mdp.n_states, mdp.n_actions
    if n_states > EPIC_STATES:
        raise InvalidInputError(
            f"there are {n_states} states; expected at most {EPIC_STATES}, as EPIC compares all "
            "S x A x S steps: use starc_distance, which needs S x A numbers per reward"
        )
    states = _shares("state_weights", state_weights, (n_states,))
    actions = _shares("action_weights", action_weights, (n_actions,))
    paid = _step_table(mdp, rewards)
    by_state = paid @ states @ actions
    # The mean of the canonical form is zero, so there is none to subtract before correlating.
    canonical = (
        paid
        + mdp.gamma * by_state[:, None, None, :]
        - by_state[:, :, None, None]
        - mdp.gamma * (by_state @ states)[:, None, None, None]
    )
    share = states[:, None, None] * actions[:, None] * states
    rows = _unit_rows(canonical, np.abs(paid).max(axis=(1, 2, 3)), share)
    # Rows of norm 1 and mean 0 satisfy |x - y|^2 = 2 - 2 correlation.
    distances = _half_distances(rows)
    constant = (rows == 0.0).all(axis=1)
    distances[np.not_equal.outer(constant, constant)] = np.sqrt(0.5)
    return distances


def reward_distances(
    problem: TabularProblem, thetas: ArrayLike, kind: Literal["starc", "epic"] = "starc"
) -> FloatArray:
    """Distances between the rewards of thetas `n x d`, all states and actions counted alike.

    Returns:
        `n x n`, symmetric, in [0, 1].
    """
    checked = problem.box.check(thetas)
    if kind == "starc":
        return starc_distance(problem.mdp, problem.mdp.expected_rewards(problem.reward, checked))
    if kind == "epic":
        theta = as_float64(checked)
        with torch.no_grad():
            return epic_distance(problem.mdp, lambda steps: problem.reward(theta, steps).numpy())
    raise InvalidInputError(f"the kind of distance is {kind!r}; expected 'starc' or 'epic'")


def _advantages(mdp: TabularMDP, rewards: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Canonical rewards, `n x S x A`, and the sizes beside which they may be rounding, `n`."""
    paid = _checked(mdp, rewards)
    if mdp.gamma == 1.0 and not mdp.always_ends:
        raise InvalidInputError(
            f"gamma is {mdp.gamma:g}, so the values of the uniform policy may be infinite; "
            "expected gamma < 1: pass dataclasses.replace(mdp, gamma=0.99)"
        )
    centred = paid
    if not mdp.terminal.size:
        # Without their mean, rewards have values of moderate size even where gamma is close to 1.
        centred = paid - paid.mean(axis=(1, 2), keepdims=True)
    average = sp.kron(sp.eye_array(mdp.n_states), np.full((1, mdp.n_actions), 1 / mdp.n_actions))
    system = sp.eye_array(mdp.n_states) - mdp.gamma * (average @ mdp.transition)
    factors = splu(sp.csc_array(system), permc_spec="MMD_AT_PLUS_A")
    values = factors.solve(np.ascontiguousarray(centred.mean(axis=2).T))
    following = np.moveaxis(mdp.expect_next(values), -1, 0)
    canonical = centred + mdp.gamma * following - values.T[..., None]
    # Where parts of the MDP hardly meet, their values sum up rounding over 1 / (1 - gamma) steps.
    steps = 1.0 / (1.0 - mdp.gamma) if mdp.gamma < 1.0 else mdp.n_states
    size = (np.abs(paid).max(axis=(1, 2)) + np.abs(values).max(axis=0)) * steps
    return canonical, size


def _checked(mdp: TabularMDP, rewards: ArrayLike) -> FloatArray:
    tables = np.asarray(rewards, dtype=np.float64)
    n_states, n_actions = mdp.n_states, mdp.n_actions
    if tables.ndim != 3 or tables.shape[1:] not in ((n_states, n_actions), (n_states, 1)):
        raise InvalidInputError(
            f"rewards have shape {tables.shape}; expected n x {n_states} x {n_actions}, or "
            f"n x {n_states} x 1 for rewards on states (a single table needs rewards[None])"
        )
    _check_rows(tables)
    if mdp.terminal.size:
        tables = tables.copy()
        tables[:, mdp.terminal] = 0.0
    return tables


def _step_table(mdp: TabularMDP, rewards: Callable[[Transitions], ArrayLike]) -> FloatArray:
    """Rewards of every step, possible or not: `n x S x A x S`."""
    shape = (mdp.n_states, mdp.n_actions, mdp.n_states)
    states, actions, following = (axis.reshape(-1) for axis in np.indices(shape))
    paid = np.asarray(rewards(Transitions(states, actions, following)), dtype=np.float64)
    if paid.ndim != 2 or paid.shape[1] != len(states):
        raise InvalidInputError(
            f"the rewards function returned shape {paid.shape} for {len(states)} transitions; "
            f"expected n x {len(states)}, one row per reward function"
        )
    _check_rows(paid)
    tables = paid.reshape(-1, *shape).copy()
    tables[:, mdp.terminal] = 0.0
    return tables


def _check_rows(rewards: FloatArray) -> None:
    if not len(rewards):
        raise InvalidInputError("there are no rewards to compare; expected at least one")
    finite = np.isfinite(rewards).reshape(len(rewards), -1).all(axis=1)
    if not finite.all():
        raise InvalidInputError(
            f"reward {finite.argmin()} holds NaN or infinity; expected finite numbers: leave it out"
        )


def _shares(name: str, weights: ArrayLike | None, shape: tuple[int, ...]) -> FloatArray:
    """Weights that sum to 1."""
    given = np.ones(shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.shape != shape:
        raise InvalidInputError(
            f"{name} have shape {given.shape}; expected {' x '.join(map(str, shape))}"
        )
    if not (np.isfinite(given).all() and given.min() >= 0.0 and given.max() > 0.0):
        raise InvalidInputError(
            f"{name} range from {given.min():g} to {given.max():g}; expected finite numbers of at "
            "least 0, some of them above"
        )
    return given / given.sum()


def _unit_rows(canonical: FloatArray, size: FloatArray, share: FloatArray) -> FloatArray:
    """Canonical rewards scaled to norm 1, a row each, so that plain L2 distances are weighted.

    Those that are tiny wherever they count, beside the numbers they were computed from, become
    zero.

    Args:
        canonical: `n x ...`.
        size: Of the numbers that went into each, `n`.
        share: What each entry counts, `...`; sums to 1.
    """
    rows = np.where(share > 0.0, canonical, 0.0).reshape(len(canonical), -1)
    tiny = np.abs(rows).max(axis=1) <= ROUNDING * size
    rows = np.where(tiny[:, None], 0.0, rows * np.sqrt(share.reshape(-1)))
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0.0, norms, 1.0)


def _half_distances(rows: FloatArray) -> FloatArray:
    """Half the L2 distances between rows of norm at most 1, `n x n`."""
    # By differences: inner products would lose half of the digits of small distances.
    return np.minimum(0.5 * squareform(pdist(rows)), 1.0)
