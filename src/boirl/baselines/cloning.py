"""Behavioural cloning on numbered states: the Boltzmann policy of the likeliest weights.

With features `x(s)` of states and weights `W`, `k x A`, actions have probabilities proportional to
`exp(x(s)' W)`. Its scores and curvatures are those that compatible rewards are made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.sparse.linalg import eigsh
from scipy.special import log_softmax

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.types import FloatArray, IntArray

MAX_ITERATIONS = 500


@dataclass(frozen=True, eq=False)
class BoltzmannClone:
    """Features of states, `S x k`, and weights, `k x A`."""

    features: FloatArray
    weights: FloatArray

    @property
    def n_parameters(self) -> int:
        return self.weights.size

    def log_probabilities(self, states: IntArray) -> FloatArray:
        """Of all actions in `T` states, `T x A`."""
        return np.asarray(log_softmax(self.features[states] @ self.weights, axis=1))

    def scores(self, states: IntArray, actions: IntArray) -> FloatArray:
        """Derivative of the log probability of each of `T` actions by the weights, `T x kA`."""
        surprise = -np.exp(self.log_probabilities(states))
        surprise[np.arange(len(actions)), actions] += 1.0
        outer = self.features[states][:, :, None] * surprise[:, None, :]
        return outer.reshape(len(states), -1)

    def curvature(self, states: IntArray, weights: FloatArray) -> FloatArray:
        """Weighted sum over states of the Hessian of a log probability there, `kA x kA`.

        The Hessian does not depend on the action.
        """
        chances, features = np.exp(self.log_probabilities(states)), self.features[states]
        k, n_actions = self.weights.shape
        total = np.zeros((k, n_actions, k, n_actions))
        for one in range(n_actions):
            for other in range(n_actions):
                covariance = chances[:, one] * ((one == other) - chances[:, other])
                total[:, one, :, other] = -(features.T * (weights * covariance)) @ features
        return total.reshape(self.n_parameters, -1)

    def curvature_traces(self, states: IntArray) -> FloatArray:
        """Trace of the Hessian of a log probability in each of `T` states, `T`."""
        spread = 1.0 - np.exp(2.0 * self.log_probabilities(states)).sum(axis=1)
        return -spread * np.square(self.features[states]).sum(axis=1)


def fit_clone(
    features: FloatArray, demonstrations: Demonstrations, n_actions: int, ridge: float
) -> BoltzmannClone:
    """The most likely weights, less `ridge / 2` times their squares; a convex problem.

    Args:
        features: `S x k`.
        demonstrations: To clone.
        n_actions: `A`.
        ridge: Keeps the weights of a demonstrator who never errs finite.
    """
    states, rows = np.unique(demonstrations.states, return_inverse=True)
    seen = features[states]
    counts = np.zeros((len(states), n_actions))
    np.add.at(counts, (rows, demonstrations.actions), 1.0 / len(rows))
    visits = counts.sum(axis=1, keepdims=True)

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.reshape(-1, n_actions)
        log_chances = log_softmax(seen @ weights, axis=1)
        slope = seen.T @ (visits * np.exp(log_chances) - counts) + ridge * weights
        value = -(counts * log_chances).sum() + 0.5 * ridge * np.square(weights).sum()
        return float(value), slope.reshape(-1)

    start = np.zeros(features.shape[1] * n_actions)
    options = {"maxiter": MAX_ITERATIONS, "gtol": 1e-9, "ftol": 1e-14}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    return BoltzmannClone(features, found.x.reshape(-1, n_actions))


def graph_features(mdp: TabularMDP, count: int) -> FloatArray:
    """The smoothest functions on the graph of states, `S x count` at most, and a constant.

    They are eigenvectors of the symmetric walk between states that a step connects: states a few
    steps apart have similar features.
    """
    n_states, n_actions = mdp.n_states, mdp.n_actions
    averaging = sp.kron(sp.eye_array(n_states), np.ones((1, n_actions)) / n_actions)
    steps = sp.csr_array(averaging @ mdp.transition)
    linked = steps + steps.T + 1e-9 * sp.eye_array(n_states)
    scale = sp.diags_array(1.0 / np.sqrt(linked.sum(axis=1)))
    walk = sp.csr_array(scale @ linked @ scale)
    count = min(count, n_states - 1)
    if n_states <= 1000:
        values, vectors = np.linalg.eigh(walk.toarray())
        vectors = vectors[:, np.argsort(-values)[:count]]
    else:
        first = np.full(n_states, n_states**-0.5)
        values, vectors = eigsh(walk, k=count, which="LA", v0=first)
        vectors = vectors[:, np.argsort(-values)]
    return np.column_stack([np.ones(n_states), np.sqrt(n_states) * vectors])
