"""Labyrinth problems in files, with their mazes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from boirl.domains.labyrinth.maze import Maze
from boirl.domains.labyrinth.problem import LabyrinthProblem
from boirl.problem.saved import ProblemKind, tabular_fields, tabular_parts


def _save(problem: LabyrinthProblem) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    facts, arrays = tabular_parts(problem)
    facts["water"] = problem.maze.water
    return facts, {**arrays, "children": problem.maze.children}


def _load(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> LabyrinthProblem:
    maze = Maze(arrays["children"], facts["water"])
    return LabyrinthProblem(**tabular_fields(facts, arrays), maze=maze)


LABYRINTH = ProblemKind(LabyrinthProblem, _save, _load)
