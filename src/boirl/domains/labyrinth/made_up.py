"""Made-up recordings, to try things out where the recorded ones are not at hand."""

from __future__ import annotations

import numpy as np

from boirl.domains.labyrinth.maze import Maze
from boirl.domains.labyrinth.problem import GAMMA, labyrinth_reward
from boirl.domains.labyrinth.recordings import Recordings
from boirl.policies import TabularSolver
from boirl.types import IntArray

TRUTH = (2.0, 0.5, 0.5, 0.5, -2.0, -0.5)
"""Water, home, end, depth, and turning back in two places."""


def make_up_recordings(
    n_stretches: int = 12, n_steps: int = 60, levels: int = 4, seed: int = 0
) -> Recordings:
    """Stretches of an animal that wants `TRUTH` of a maze with water in its last node.

    Args:
        n_stretches: Every third one goes on where the one before it ended.
        n_steps: Of each stretch.
        levels: Of the maze, which has `2**levels - 1` nodes.
        seed: Of the steps.
    """
    n_nodes = 2**levels - 1
    inner = np.arange(n_nodes // 2)
    maze = Maze(np.stack([2 * inner + 1, 2 * inner + 2], axis=1), n_nodes - 1)
    mdp, reward = maze.mdp(GAMMA), labyrinth_reward(maze, GAMMA)
    policy = TabularSolver("logsumexp").solve(
        mdp, mdp.expected_rewards(reward, np.array([TRUTH]))[0]
    )
    rng = np.random.default_rng(seed)
    rows: list[IntArray] = []
    last = 0
    for number in range(n_stretches):
        start = last if number % 3 == 1 else int(rng.integers(maze.n_states))
        path = policy.sample(mdp, np.array([start]), n_steps, rng)
        last = int(path.next_states[-1])
        rows.append(np.append(maze.places[path.states, 0], maze.places[last, 0]))
    return Recordings(np.stack(rows), maze.children)
