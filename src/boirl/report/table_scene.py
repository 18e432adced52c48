"""Behaviour on finitely many states that have no geometry: where it goes most, and what it does."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from boirl.policies import TabularPolicy
from boirl.policies.tabular import expected_visits
from boirl.problem import TabularProblem
from boirl.report.numbers import short, short_number
from boirl.report.scenes import Frame, Scene
from boirl.types import FloatArray

SHOWN_STATES = 12
SHOWN_ACTIONS = 3
LEAST_CHANCE = 0.005
"""Actions below are not named: their share is rounded to 0%."""


def has_table(problem: Any) -> TypeGuard[TabularProblem]:
    """Whether a problem has finitely many states."""
    return isinstance(problem, TabularProblem)


def action_flow(problem: TabularProblem, policy: TabularPolicy) -> FloatArray:
    """Share of all steps that take each action in each state, `S x A`; exact, no sampling.

    From the starts of the demonstrations, over as many steps as the longest of them.
    """
    n = problem.mdp.n_states
    starts = np.zeros(problem.dynamics.n_states)
    starts[:n] = np.bincount(problem.demonstrations.starts, minlength=n)
    visits = expected_visits(problem.dynamics, policy, starts, problem.steps)
    flow = (visits[:, None] * policy.probabilities).reshape(-1, n, problem.mdp.n_actions)
    return _shares(flow.sum(axis=0))


def demonstrated_flow(problem: TabularProblem) -> FloatArray:
    """Share of the demonstrated steps that take each action in each state, `S x A`."""
    shown, shape = problem.demonstrations, (problem.mdp.n_states, problem.mdp.n_actions)
    pairs = np.asarray(shown.states) * shape[1] + np.asarray(shown.actions)
    counts = np.bincount(pairs, minlength=shape[0] * shape[1]).astype(np.float64)
    return _shares(counts.reshape(shape))


def _shares(flow: FloatArray) -> FloatArray:
    return flow / max(float(flow.sum()), 1e-300)


class TableScene(Scene):
    """The states that are visited most, and the likeliest actions there."""

    caption = "The states visited most, with their share of all steps, and what is done there."
    difference = ""

    def __init__(self, problem: TabularProblem) -> None:
        self.problem = problem

    def still(self) -> Frame:
        return {"table": True}

    def state_name(self, state: Any) -> str:
        names = getattr(self.problem.mdp, "state_names", ())
        return str(names[state]) if names else f"state {state}"

    def action_name(self, state: Any, action: Any) -> str:
        names = getattr(self.problem.mdp, "action_names", ())
        return str(names[action]) if names else f"action {action}"

    def frame(self, policy: TabularPolicy, theta: FloatArray) -> Frame:
        return self._rows(action_flow(self.problem, policy))

    def demonstrated(self) -> Frame:
        return self._rows(demonstrated_flow(self.problem))

    def chances(self, policy: TabularPolicy, state: Any) -> FloatArray | None:
        # With a finite horizon a policy depends on the steps left, too.
        return policy.probabilities[state] if self.problem.solver.horizon is None else None

    def _rows(self, flow: FloatArray) -> Frame:
        visits = flow.sum(axis=1)
        most = np.argsort(-visits, kind="stable")[:SHOWN_STATES]
        rows = []
        for state in most[visits[most] > 0.0].tolist():
            chances = flow[state] / visits[state]
            likeliest = np.argsort(-chances, kind="stable")[:SHOWN_ACTIONS]
            choices = [
                [self.action_name(state, action), short_number(chances[action], 2)]
                for action in likeliest.tolist()
                if chances[action] >= LEAST_CHANCE
            ]
            rows.append([self.state_name(state), *short(visits[[state]], 3), choices])
        return {"rows": rows}
