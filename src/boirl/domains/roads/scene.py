"""Routes on a road network, for reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from boirl.domains.roads.maps import LEAST_SHARE, MARGIN, SHOWN, RoadMapProblem
from boirl.problem import TabularProblem
from boirl.report.numbers import short
from boirl.report.scenes import Frame, Scene
from boirl.types import FloatArray


class RoadScene(Scene):
    """Links, as thick and as dark as they are passed often."""

    caption = "Streets, the darker and thicker the more often a trip passes them."

    def __init__(self, problem: RoadMapProblem) -> None:
        self.problem = problem

    def still(self) -> Frame:
        layout = self.problem.network.layout
        visits = self.problem.demonstrated_visits()
        visited = layout[visits >= LEAST_SHARE * visits.max()].reshape(-1, 2)
        low, high = np.percentile(visited, SHOWN, axis=0)
        margin = MARGIN * float((high - low).max())
        return {
            "bounds": short(np.concatenate([low - margin, high + margin])),
            "up": True,
            "lines": short(layout.reshape(-1, 4)),
        }

    def frame(self, policy: Any, theta: FloatArray) -> Frame:
        return self._frame(self.problem.expected_visits(policy))

    def demonstrated(self) -> Frame:
        return self._frame(self.problem.demonstrated_visits())

    def _frame(self, visits: FloatArray) -> Frame:
        at = np.flatnonzero(visits >= LEAST_SHARE * max(float(visits.max()), 1e-300))
        return {"at": at.tolist(), "visits": short(visits[at], 3)}

    def state_name(self, state: Any) -> str:
        problem: Any = self.problem
        network = problem.network
        if isinstance(problem, TabularProblem):
            # A state is a turn, or the arrival from a link that leads to the destination.
            if state < len(network.turns):
                return "from link {} onto link {}".format(*network.turns[state].tolist())
            return "at the destination"
        return str(problem.state_name(int(state)))

    def action_name(self, state: Any, action: Any) -> str:
        problem: Any = self.problem
        turns = problem.network.turns
        if not isinstance(problem, TabularProblem):
            turn = int(problem.choice.options(np.array([state]))[0][0, action])
            return f"onto link {turns[turn, 1]}" if turn >= 0 else "arrive"
        following = problem.mdp.next_states
        assert following is not None
        turn = int(following[state, action])
        return f"onto link {turns[turn, 1]}" if turn < len(turns) else "arrive"

    def chances(self, policy: Any, state: Any) -> FloatArray | None:
        if isinstance(self.problem, TabularProblem):
            return policy.probabilities[state]
        chances: FloatArray = np.exp(policy.log_probabilities(np.array([state]))[0])
        return chances
