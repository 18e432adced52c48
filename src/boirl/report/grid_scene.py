"""Behaviour on a grid: arrows for what is done, shades for where it leads."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from boirl.environments.grids import grid_of
from boirl.policies import TabularPolicy
from boirl.report.numbers import short
from boirl.report.scenes import Frame, Scene
from boirl.report.table_scene import TableScene, action_flow, demonstrated_flow, has_table
from boirl.types import FloatArray

LEAST_SHARE = 1e-3
"""Squares with less than this share of the visits to the most visited one are left blank."""

DIRECTIONS = {(1, 0): "right", (-1, 0): "left", (0, 1): "down", (0, -1): "up", (0, 0): "stay"}


def has_grid(problem: Any) -> bool:
    """Whether the states of a problem are squares of a grid, by their dynamics."""
    return has_table(problem) and grid_of(problem.mdp) is not None


class GridScene(TableScene):
    """Squares shaded by visits, with an arrow for each action, as long as it is likely."""

    caption = (
        "Shade: share of all steps spent on a square. Arrows: what is done there, the longer "
        "the likelier; a dot is an action that stays."
    )
    difference = Scene.difference

    def __init__(self, problem: Any) -> None:
        found = grid_of(problem.mdp)
        assert found is not None
        super().__init__(problem)
        self.squares, self.columns = found

    @cached_property
    def places(self) -> FloatArray:
        """Column and row of each square, `Q x 2`."""
        numbers = np.arange(self.squares)
        return np.stack([numbers % self.columns, numbers // self.columns], axis=1).astype(float)

    @cached_property
    def moves(self) -> FloatArray:
        """Direction of each action on each square, `Q x A x 2`.

        That of the expected step or, where steps slip, of the action on most squares: a wall would
        turn the expected step aside.
        """
        own = self._steps
        usual = self._usual / np.maximum(np.linalg.norm(self._usual, axis=1, keepdims=True), 1.0)
        counts = np.diff(self.problem.mdp.transition.tocsr().indptr)
        slips = counts.reshape(self.problem.mdp.n_states, -1)[: self.squares] > 1
        known = slips[:, :, None] & np.isfinite(usual)
        return np.where(known, np.nan_to_num(usual), own)

    @cached_property
    def _steps(self) -> FloatArray:
        """Direction of the expected step of each action on each square, `Q x A x 2`."""
        mdp = self.problem.mdp
        around = np.zeros((mdp.n_states, 2))
        around[: self.squares] = self.places
        onto = mdp.expect_next(around)[: self.squares]
        on_grid = np.zeros((mdp.n_states, 1))
        on_grid[: self.squares] = 1.0
        stays = mdp.expect_next(on_grid)[: self.squares]
        step = onto - stays * self.places[:, None]
        length = np.linalg.norm(step, axis=2, keepdims=True)
        return np.where(length > 1e-9, step / np.maximum(length, 1e-9), 0.0)

    @cached_property
    def _usual(self) -> FloatArray:
        """Direction of each action on most squares, `A x 2`; NaN where several have the same."""
        found = []
        for action in range(self.problem.mdp.n_actions):
            steps, counts = np.unique(np.round(self._steps[:, action]), axis=0, return_counts=True)
            moving = np.abs(steps).sum(axis=1) > 0.0
            # An action that a wall stops on some squares still has its direction.
            found.append(steps[(counts * moving).argmax()] if moving.any() else steps[0])
        usual = np.array(found)
        alone = len(np.unique(usual, axis=0)) == len(usual)
        return usual if alone else np.full(usual.shape, np.nan)

    @cached_property
    def action_names(self) -> tuple[str, ...]:
        """What each action does on most squares; its number where that has no name."""
        numbered = [f"action {action}" for action in range(self.problem.mdp.n_actions)]
        if np.isnan(self._usual).any():
            return tuple(numbered)
        usual = [(int(dx), int(dy)) for dx, dy in self._usual]
        return tuple(map(DIRECTIONS.get, usual, numbered))

    def still(self) -> Frame:
        rows = self.squares // self.columns
        names = self.problem.mdp.state_names[: self.squares]
        return {
            **({"names": list(names)} if names else {}),
            "bounds": [-0.5, -0.5, self.columns - 0.5, rows - 0.5],
            "squares": short(self.places),
            "moves": short(self.moves.reshape(self.squares, -1), 2),
            "ends": [int(state) for state in self.problem.mdp.terminal if state < self.squares],
        }

    def frame(self, policy: TabularPolicy, theta: FloatArray) -> Frame:
        return self._frame(action_flow(self.problem, policy))

    def demonstrated(self) -> Frame:
        return self._frame(demonstrated_flow(self.problem))

    def _frame(self, flow: FloatArray) -> Frame:
        on_grid = flow[: self.squares]
        visits = on_grid.sum(axis=1)
        at = np.flatnonzero(visits >= LEAST_SHARE * max(float(visits.max()), 1e-300))
        chances = on_grid[at] / visits[at, None]
        return {
            "at": at.tolist(),
            "visits": short(visits[at], 3),
            "choices": short(chances.reshape(-1), 2),
        }

    def state_name(self, state: Any) -> str:
        named = getattr(self.problem.mdp, "state_names", ())
        if named or state >= self.squares or self.columns in (1, self.squares):
            return super().state_name(state)
        return f"row {state // self.columns + 1}, column {state % self.columns + 1}"

    def action_name(self, state: Any, action: Any) -> str:
        named = getattr(self.problem.mdp, "action_names", ())
        return super().action_name(state, action) if named else self.action_names[action]
