"""Grids are recognised by their steps, and nothing else is taken for one."""

import numpy as np
import pytest

from boirl.environments import TabularMDP
from boirl.environments.grids import grid_columns

MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1))


def grid(columns, rows, **given):
    x, y = np.arange(columns * rows) % columns, np.arange(columns * rows) // columns
    table = [
        np.clip(x + dx, 0, columns - 1) + columns * np.clip(y + dy, 0, rows - 1) for dx, dy in MOVES
    ]
    return TabularMDP.from_next_states(np.stack(table, axis=1), 0.9, **given)


@pytest.mark.parametrize(("columns", "rows"), [(6, 6), (3, 8), (12, 4), (7, 1), (2, 2)])
def test_a_grid_is_found(columns, rows):
    assert grid_columns(grid(columns, rows)) == (columns * rows, columns)


def test_random_dynamics_are_no_grid(random_mdp):
    assert not any(grid_columns(random_mdp(seed, n_states=9)) for seed in range(5))
    assert not any(
        grid_columns(random_mdp(seed, n_states=12, deterministic=True)) for seed in range(5)
    )


def test_a_ring_is_no_grid():
    houses = np.arange(9)
    ring = np.stack([(houses + 1) % 9, (houses - 1) % 9], axis=1)
    assert grid_columns(TabularMDP.from_next_states(ring, 0.9)) is None


def test_steps_that_end_or_start_over_may_lead_anywhere():
    mdp = grid(5, 4)
    table = np.array(mdp.next_states)
    table[7] = 0  # falls back to the start
    start = np.eye(20)[0]
    assert grid_columns(TabularMDP.from_next_states(table, 0.9, start)) == (20, 5)
    assert grid_columns(TabularMDP.from_next_states(table, 0.9)) is None
    table[7] = 19
    assert grid_columns(TabularMDP.from_next_states(table, 0.9, start, terminal=[19])) == (20, 5)
