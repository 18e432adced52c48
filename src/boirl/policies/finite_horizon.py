"""Values and policies that depend on the steps left: exact, by backward induction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boirl.environments import TabularMDP
from boirl.environments.unrolled import UnrolledMDP
from boirl.policies.operators import BellmanEquation
from boirl.types import FloatArray


def back_up_to_start(equation: BellmanEquation, horizon: int) -> tuple[FloatArray, FloatArray]:
    """Values and log policies of every step, given the equation of one.

    Returns:
        `((H + 1) S) x n` and `((H + 1) S) x A x n`, in the order of `UnrolledMDP`. Nothing is
        paid, and no action taken, after the last step.
    """
    n_states, n_actions = equation.mdp.n_states, equation.mdp.n_actions
    values = np.zeros((horizon + 1, n_states, equation.size))
    log_policies = np.full((horizon + 1, n_states, n_actions, equation.size), -np.inf)
    for step in reversed(range(horizon)):
        q = equation.q(values[step + 1])
        log_policies[step] = equation.log_policies(q)
        values[step] = equation.back_up(q)
    return (
        values.reshape(-1, equation.size),
        log_policies.reshape(-1, n_actions, equation.size),
    )


@dataclass(frozen=True, eq=False)
class HorizonSystem:
    """`I - gamma W` of actions of weight `((H + 1) S) x A`: solved step by step."""

    mdp: UnrolledMDP
    weights: FloatArray

    def solve(self, right: FloatArray) -> FloatArray:
        base, layers, weights = self._layers(right)
        for step in reversed(range(self.mdp.horizon)):
            following = base.expect_next(layers[step + 1][:, None])[..., 0]
            layers[step] += base.gamma * (weights[step] * following).sum(axis=1)
        return layers.reshape(-1)

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        base, layers, weights = self._layers(right)
        for step in range(self.mdp.horizon):
            leaving = (weights[step] * layers[step][:, None]).reshape(-1)
            layers[step + 1] += base.gamma * (base.transition.T @ leaving)
        return layers.reshape(-1)

    def _layers(self, right: FloatArray) -> tuple[TabularMDP, FloatArray, FloatArray]:
        """The dynamics of a step, and the right side and the weights of each."""
        base = self.mdp.base
        assert base is not None
        layers = right.reshape(-1, base.n_states).copy()
        return base, layers, self.weights.reshape(len(layers), base.n_states, -1)
