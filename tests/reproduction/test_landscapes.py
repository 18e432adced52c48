"""Exact NLLs on a grid."""

import numpy as np

from boirl.reproduction.environments import build_problem
from boirl.reproduction.landscapes import QUICK_GRID, grid_of, landscape_cell, landscape_rows
from boirl.reproduction.plan import Plan
from boirl.types import Box


def test_a_grid_has_x_vary_first_and_holds_the_rest():
    box = Box(("a", "b", "c"), np.zeros(3), np.array([1.0, 2.0, 3.0]))
    grid = grid_of(box, np.array([9.0, 9.0, 2.5]), 2)
    np.testing.assert_allclose(grid.thetas[:2, 0], [0.25, 0.75])
    np.testing.assert_allclose(grid.thetas[:2, 1], [0.5, 0.5])
    assert (grid.thetas[:, 2] == 2.5).all()


def test_a_translation_does_not_change_the_landscape(nothing):
    for held in (0.0, 2.0):
        cell = landscape_cell(Plan(quick=True), "gridworld", held)
        nothing.add(cell, cell.run(), 0.0)
    one, other = (landscape_rows(nothing, "gridworld", held) for held in (0.0, 2.0))
    assert len(one) == QUICK_GRID**2
    np.testing.assert_allclose([r["nll"] for r in one], [r["nll"] for r in other], rtol=1e-5)
    problem = build_problem("gridworld", 3, True, None)
    exact = problem.nll([one[0]["x"], one[0]["y"], 0.0])
    assert abs(one[0]["nll"] / exact - 1.0) < 1e-2
