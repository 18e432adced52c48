"""Tables whose states are squares of a grid.

A table of dynamics does not say so. It shows in the steps: where every step leads to a neighbour,
for some number of columns, the states are squares.
"""

from __future__ import annotations

import numpy as np

from boirl.environments.tabular import TabularMDP
from boirl.types import IntArray


def grid_of(mdp: TabularMDP) -> tuple[int, int] | None:
    """`grid_columns` of a table that is a grid in all likelihood.

    Few steps fit a grid by accident. States with names may be no places at all, so that their
    actions must have directions, too, unless they are in a single row.
    """
    found = grid_columns(mdp)
    if found is None or not mdp.state_names:
        return found
    squares, columns = found
    return found if columns in (1, squares) or has_directions(mdp, *found) else None


def grid_columns(mdp: TabularMDP) -> tuple[int, int] | None:
    """The number of squares and of columns of the grid that states are on, row by row; else None.

    Every step must stay, lead to a neighbour (diagonal ones included on grids of at least three
    rows and columns), end the trajectory, lead to where nothing leaves, or go back to the only
    start. A last state in which everything ends may be off the grid.
    """
    coo = mdp.transition.tocoo()
    left, onto = coo.row[coo.data > 0.0] // mdp.n_actions, coo.col[coo.data > 0.0]
    special = np.zeros(mdp.n_states, dtype=bool)
    special[np.concatenate([mdp.terminal, mdp.endless, mdp.absorbing])] = True
    ends_last = bool(special[-1])
    if np.count_nonzero(mdp.start) == 1:
        special[np.argmax(mdp.start)] = True
    ordinary = ~special[left] & ~special[onto] & (left != onto)
    left, onto = left[ordinary], onto[ordinary]
    if not len(left):
        return None
    for squares in (mdp.n_states, mdp.n_states - 1) if ends_last else (mdp.n_states,):
        fitting = [
            columns
            for columns in range(1, squares + 1)
            if squares % columns == 0 and _fits(left, onto, squares, columns)
        ]
        if fitting:
            # A row is drawn as a row; else the grid that is nearest to a square.
            best = min(fitting, key=lambda columns: (columns != squares, abs(columns**2 - squares)))
            return squares, best
    return None


def _fits(left: IntArray, onto: IntArray, squares: int, columns: int) -> bool:
    """Whether all steps lead to neighbours."""
    if max(int(left.max()), int(onto.max())) >= squares:
        return False
    across = np.abs(left % columns - onto % columns)
    along = np.abs(left // columns - onto // columns)
    diagonal = 1 if min(columns, squares // columns) < 3 else 2
    return bool((np.maximum(across, along) <= 1).all() and (across + along <= diagonal).all())


def has_directions(mdp: TabularMDP, squares: int, columns: int) -> bool:
    """Whether no action ever goes against its usual direction, and some go along, some across."""
    coo = mdp.transition.tocoo()
    left, action = np.divmod(coo.row, mdp.n_actions)
    step = np.stack([coo.col % columns - left % columns, coo.col // columns - left // columns])
    # Back to the start, or off the grid: no step to a neighbour.
    near = (left < squares) & (coo.col < squares) & (np.abs(step).max(axis=0) <= 1)
    moves = np.zeros((mdp.n_states, mdp.n_actions, 2))
    np.add.at(moves, (left[near], action[near]), (coo.data * step)[:, near].T)
    usual = moves.sum(axis=0)
    along = np.einsum("sad,ad->sa", moves, usual)
    # An action without a usual direction must go nowhere.
    lost = (np.abs(usual).max(axis=1) < 1e-9) & (np.abs(moves).max(axis=(0, 2)) > 1e-9)
    return bool((along > -1e-9).all() and not lost.any() and np.linalg.matrix_rank(usual) == 2)
