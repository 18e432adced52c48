"""How well steps are foretold: bits per decision, and a Markov chain on observed turns.

A decision is a step in a node with more than one way on. In end nodes there is none.
"""

from __future__ import annotations

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.domains.labyrinth.maze import N_ACTIONS, Maze
from boirl.errors import InvalidInputError
from boirl.types import FloatArray, IntArray

PSEUDO_COUNT = 1.0
"""Times that every turn counts as seen before any was."""


def bits_per_decision(maze: Maze, probabilities: FloatArray, shown: Demonstrations) -> float:
    """Mean of `-log2` of the probability of what was decided: the fewer, the better foretold.

    Args:
        maze: Where.
        probabilities: Of actions in states, `S x 3`.
        shown: Steps.
    """
    decided = maze.decides[shown.states]
    if not decided.any():
        raise InvalidInputError("no step is a decision; expected steps outside of end nodes")
    chosen = probabilities[shown.states[decided], shown.actions[decided]]
    return float(-np.log2(chosen).mean())


def uniform_turns(maze: Maze) -> FloatArray:
    """All ways on are as likely, `S x 3`."""
    return np.full((maze.n_states, N_ACTIONS), 1.0 / N_ACTIONS)


def observed_turns(maze: Maze, shown: Demonstrations) -> FloatArray:
    """A Markov chain: shares of turns that were seen in each node, by the node before, `S x 3`."""
    _, place = np.unique(maze.places[:, :2], axis=0, return_inverse=True)
    place = place.reshape(-1)
    counts = np.full((place.max() + 1, N_ACTIONS), PSEUDO_COUNT)
    np.add.at(counts, (place[shown.states], shown.actions), 1.0)
    return (counts / counts.sum(axis=1, keepdims=True))[place]


def hold_out(runs: IntArray, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Numbers of the stretches to learn from and of those held out, whole runs of them.

    Args:
        runs: Number of the run of each stretch, `N`.
        share: Of stretches to hold out, at least; one run is always left to learn from.
        seed: Of which.
    """
    order = np.random.default_rng(seed).permutation(np.unique(runs))
    if len(order) < 2:
        raise InvalidInputError(
            f"the stretches are of {len(order)} run; expected at least two, to hold one out"
        )
    sizes = np.cumsum([(runs == run).sum() for run in order])
    count = min(int(np.searchsorted(sizes, share * len(runs))) + 1, len(order) - 1)
    held = np.isin(runs, order[:count])
    return np.flatnonzero(~held), np.flatnonzero(held)
