"""Visits to the nodes of a labyrinth, for reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from boirl.domains.labyrinth.maps import LEAST_SHARE
from boirl.domains.labyrinth.maze import BACK, HOME
from boirl.domains.labyrinth.problem import LabyrinthProblem
from boirl.policies import TabularPolicy
from boirl.report.numbers import short
from boirl.report.scenes import Frame, Scene
from boirl.types import FloatArray

MARGIN = 0.3


class LabyrinthScene(Scene):
    """Nodes and passages, the nodes as dark as they are visited often."""

    caption = "Nodes of the maze, the darker the larger the share of steps that arrive there."

    def __init__(self, problem: LabyrinthProblem) -> None:
        self.problem = problem

    def still(self) -> Frame:
        maze = self.problem.maze
        where = maze.layout
        nodes = np.arange(1, maze.n_nodes)
        passages = np.concatenate([where[nodes], where[(nodes - 1) // 2]], axis=1)
        low, high = where.min(axis=0) - MARGIN, where.max(axis=0) + MARGIN
        return {
            "bounds": short(np.concatenate([low, high])),
            "up": True,
            "walls": short(passages),
            "discs": short(where),
            "labels": [
                [*short(where[maze.water]), "water"],
                [*short(where[0]), "entrance"],
            ],
        }

    def frame(self, policy: TabularPolicy, theta: FloatArray) -> Frame:
        return self._frame(self.problem.visits_by_node(policy))

    def demonstrated(self) -> Frame:
        return self._frame(self.problem.visits_by_node())

    def _frame(self, visits: FloatArray) -> Frame:
        at = np.flatnonzero(visits >= LEAST_SHARE * visits.max())
        return {"at": at.tolist(), "visits": short(visits[at], 3)}

    def chances(self, policy: TabularPolicy, state: Any) -> FloatArray:
        return policy.probabilities[state]

    def state_name(self, state: Any) -> str:
        node, before, _ = self.problem.maze.places[state].tolist()
        return f"node {node}, coming from {'home' if before == HOME else f'node {before}'}"

    def action_name(self, state: Any, action: Any) -> str:
        node = int(self.problem.maze.places[state, 0])
        if action == BACK or self.problem.maze.is_end(node):
            return "home" if node == 0 else f"back to node {(node - 1) // 2}"
        return f"on to node {self.problem.maze.children[node, action]}"
