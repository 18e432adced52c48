"""The labyrinth as a decision problem of an animal that knows where it came from.

A state is a node, the node before it (`HOME` for the home cage), and whether the last step turned
back without need. Actions 0 and 1 lead on, 2 leads back towards the entrance and, from node 0,
home. In an end node all three lead back: there is nothing to decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError
from boirl.types import FloatArray, IntArray

HOME = -1
N_ACTIONS = 3
BACK = 2
"""The action towards the entrance."""


@dataclass(frozen=True, eq=False, repr=False)
class Maze:
    """A complete binary tree of passages.

    Args:
        children: Nodes that passages lead on to, by action, `I x 2`.
        water: The end node with the water port.
    """

    children: IntArray
    water: int

    def __post_init__(self) -> None:
        if not len(self.children) <= self.water < self.n_nodes:
            raise InvalidInputError(
                f"the water port is in node {self.water}; expected an end node, "
                f"{len(self.children)} to {self.n_nodes - 1}"
            )

    def __repr__(self) -> str:
        return f"Maze({self.n_nodes} nodes, water in node {self.water})"

    @property
    def n_nodes(self) -> int:
        return 2 * len(self.children) + 1

    @property
    def n_states(self) -> int:
        return len(self.places)

    def is_end(self, node: int) -> bool:
        return node >= len(self.children)

    @cached_property
    def depths(self) -> IntArray:
        """Of each node: 0 at the entrance."""
        depths: IntArray = np.floor(np.log2(np.arange(self.n_nodes) + 1.0)).astype(np.int64)
        return depths

    @cached_property
    def places(self) -> IntArray:
        """Node, node before and whether it was turned back, of each state, `S x 3`."""
        return self._explored[0]

    @cached_property
    def next_states(self) -> IntArray:
        """`S x 3`."""
        return self._explored[1]

    @cached_property
    def decides(self) -> np.ndarray:
        """Whether there is something to decide in each state, `S`: not in end nodes."""
        return self.places[:, 0] < len(self.children)

    @cached_property
    def _explored(self) -> tuple[IntArray, IntArray]:
        first = (0, HOME, False)
        numbers, places, rows = {first: 0}, [first], []
        for node, before, _ in places:
            row = []
            for action in range(N_ACTIONS):
                reached = self._step(node, before, action)
                if reached not in numbers:
                    numbers[reached] = len(places)
                    places.append(reached)
                row.append(numbers[reached])
            rows.append(row)
        return np.array(places, dtype=np.int64), np.array(rows)

    def _step(self, node: int, before: int, action: int) -> tuple[int, int, bool]:
        if self.is_end(node):
            return (node - 1) // 2, node, False
        if action < BACK:
            onto = int(self.children[node, action])
            return onto, node, onto == before
        if node == 0:
            return 0, HOME, before == HOME
        onto = (node - 1) // 2
        return onto, node, onto == before

    @cached_property
    def _numbers(self) -> dict[tuple[int, int, int], int]:
        return {(n, b, t): number for number, (n, b, t) in enumerate(self.places.tolist())}

    def follow(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """States, one more than actions, and actions along nodes of a path.

        They start with the second node: the first tells where the animal came from.
        """
        before = HOME if nodes[0] == nodes[1] else int(nodes[0])
        states, actions = [self._numbers[int(nodes[1]), before, 0]], []
        for onto in nodes[2:].tolist():
            node, came = self.places[states[-1], :2].tolist()
            if self.is_end(node) or onto <= node:
                # Numbers fall towards the entrance; there the same node again is a visit home.
                action = BACK
            else:
                action = self.children[node].tolist().index(onto)
            states.append(self._numbers[self._step(node, came, action)])
            actions.append(action)
        return np.array(states), np.array(actions)

    def mdp(self, gamma: float) -> TabularMDP:
        """The dynamics; an animal starts at the entrance, coming from home."""
        start = np.eye(self.n_states)[0]
        return TabularMDP.from_next_states(self.next_states, gamma, start)

    @cached_property
    def layout(self) -> FloatArray:
        """Where to draw each node, `nodes x 2`: an H-tree; which side is which is arbitrary."""
        where = np.zeros((self.n_nodes, 2))
        for node in range(1, self.n_nodes):
            parent, depth = (node - 1) // 2, int(self.depths[node])
            side = -1.0 if node % 2 else 1.0
            axis = (depth + 1) % 2
            where[node] = where[parent]
            where[node, axis] += side * 2.0 ** (-((depth - 1) // 2))
        return where
