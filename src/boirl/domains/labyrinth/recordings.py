"""Recordings of animals in a labyrinth: read from `labyrinth.npz`, checked step by step.

The labyrinth is a binary tree: node 0 is the entrance from the home cage, and the passages of node
`i` lead on to nodes `2 i + 1` and `2 i + 2`. Arrays of the file: `states` and `actions`, `N x L`
whole numbers, a row for each stretch of recorded steps; `next_states`, `nodes x 4`, where each
action leads. Actions 0 and 1 go on to the two following nodes (in an end node they stay); of 2 and
3 one goes back towards the entrance and the other stays, which one depends on the node. In node 0
both of them stay: the animal goes home and comes back.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.errors import InvalidInputError
from boirl.files import read_arrays
from boirl.types import IntArray

SHORTEST = 2
"""Steps of a stretch at least: the first tells where the animal comes from."""


@dataclass(frozen=True, eq=False)
class Recordings:
    """Nodes that animals went through.

    Attributes:
        nodes: Of each stretch, `N x (L + 1)`: where it was before each step, and after the last.
            The same node twice is a visit to the home cage.
        children: Of each node that has passages leading on, in the order of the actions, `I x 2`.
    """

    nodes: IntArray
    children: IntArray

    def __repr__(self) -> str:
        count, steps = self.nodes.shape
        return f"Recordings({count} stretches of {steps - 1} steps, {self.n_nodes} nodes)"

    @property
    def n_nodes(self) -> int:
        return 2 * len(self.children) + 1

    @property
    def runs(self) -> IntArray:
        """Number of the run of each stretch, `N`.

        A stretch that begins where the one before it ended is taken to go on with its run.
        """
        follows = self.nodes[1:, 0] == self.nodes[:-1, -1]
        return np.concatenate([[0], np.cumsum(~follows)])


def read_recordings(folder: str | os.PathLike[str]) -> Recordings:
    """Read `labyrinth.npz` in a folder.

    Raises:
        InvalidInputError: Something is wrong; names the file, the stretch and step, what was found
            and what was expected.
    """
    path = Path(folder) / "labyrinth.npz"
    if not path.exists():
        raise InvalidInputError(
            f"there is no file {str(path)!r}; expected a folder with labyrinth.npz: name it with "
            "data, or fill the cache with `boirl data labyrinth --from FOLDER_OR_URL`"
        )
    arrays = read_arrays(path, "arrays states, actions and next_states")
    for name, axes in (("states", "N x L"), ("actions", "N x L"), ("next_states", "nodes x 4")):
        if name not in arrays:
            raise InvalidInputError(
                f"{path} holds {', '.join(arrays) or 'nothing'} and lacks {name}; expected whole "
                f"numbers, {axes}: add them"
            )
        found = arrays[name]
        if found.ndim != 2 or not np.issubdtype(found.dtype, np.integer):
            raise InvalidInputError(
                f"{path}: {name} has shape {found.shape} and type {found.dtype}; expected whole "
                f"numbers, {axes}: convert them"
            )
    states, actions, table = (
        arrays[name].astype(np.int64) for name in ("states", "actions", "next_states")
    )
    if states.shape != actions.shape or states.shape[1] < SHORTEST or not len(states):
        raise InvalidInputError(
            f"{path}: states have shape {states.shape} and actions {actions.shape}; expected the "
            f"same, one row of at least {SHORTEST} steps per stretch"
        )
    _check_tree(path, table)
    for name, values, count in (("state", states, len(table)), ("action", actions, 4)):
        _raise_at(
            path,
            (values < 0) | (values >= count),
            lambda at, name=name, values=values, count=count: (
                f"{name} is {values[at]}; expected a number from 0 to {count - 1}: correct it"
            ),
        )
    reached = table[states, actions]
    torn = np.zeros(states.shape, dtype=bool)
    torn[:, :-1] = reached[:, :-1] != states[:, 1:]
    _raise_at(
        path,
        torn,
        lambda at: (
            f"action {actions[at]} in node {states[at]} leads to node {reached[at]}, and the next "
            f"state is {states[at[0], at[1] + 1]}; expected {reached[at]}: correct the action, or "
            "leave the stretch out"
        ),
    )
    _raise_at(
        path,
        (reached == states) & (states != 0),
        lambda at: (
            f"action {actions[at]} stays in node {states[at]}; expected steps that lead to "
            "another node (only in node 0, where the animal goes home, it may stay): leave such "
            "steps out"
        ),
    )
    nodes = np.concatenate([states, reached[:, -1:]], axis=1)
    return Recordings(nodes, table[: len(table) // 2, :2])


def _check_tree(path: Path, table: IntArray) -> None:
    """The table is that of a complete binary tree, numbered from the entrance."""
    n_nodes, width = table.shape
    if width != 4 or n_nodes < 3 or (n_nodes + 1) & n_nodes:
        raise InvalidInputError(
            f"{path}: next_states has shape {table.shape}; expected 4 actions in 3, 7, 15, 31, 63, "
            "127, ... nodes, a complete binary tree"
        )
    for node, row in enumerate(table):
        on = [2 * node + 1, 2 * node + 2] if node < n_nodes // 2 else [node, node]
        back = [0, 0] if node == 0 else [(node - 1) // 2, node]
        if sorted(row[:2].tolist()) != on or sorted(row[2:].tolist()) != back:
            raise InvalidInputError(
                f"{path}: from node {node} the actions lead to {row.tolist()}; expected {on} for "
                f"actions 0 and 1, and {back} for 2 and 3, in any order: number nodes from the "
                "entrance on, those after node i as 2 i + 1 and 2 i + 2"
            )


def _raise_at(path: Path, wrong: NDArray[np.bool_], message: Any) -> None:
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0].tolist())
        raise InvalidInputError(f"{path}, stretch {at[0]}, step {at[1]}: {message(at)}")
