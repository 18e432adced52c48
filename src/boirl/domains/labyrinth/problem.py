"""What do mice want of a labyrinth? Rewards for the places that a step leads to.

Six parameters: `water` (arriving at the water port, on top of `end`), `home` (going to the home
cage), `end` (arriving at any end node), `depth` (of the node arrived at: 0 at the entrance, 1 in
end nodes), and the price of turning back where one need not: `back`, and `back-deep` in the last
two levels of passages. The family `five` has one price for both, the family `map` a weight for each
node in place of water, end and depth.

In an end node the three actions lead to the same place; a fixed parameter takes away what the free
choice between them would be worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from boirl.datasets import data_folder
from boirl.demonstrations import Demonstrations
from boirl.domains.labyrinth.maze import HOME, N_ACTIONS, Maze
from boirl.domains.labyrinth.recordings import Recordings, read_recordings
from boirl.errors import InvalidInputError
from boirl.policies import TabularPolicy, TabularSolver
from boirl.policies.tabular import expected_visits
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward
from boirl.types import FloatArray

N_NODES, WATER = 127, 116
"""Of the maze that was built."""

GAMMA = 0.97
BOUNDS = {
    "water": (-1.0, 5.0),
    "home": (-3.0, 3.0),
    "end": (-3.0, 3.0),
    "depth": (-3.0, 3.0),
    "back": (-6.0, 2.0),
    "back-deep": (-3.0, 3.0),
}
NODE_BOUNDS = (-5.0, 5.0)
Family = Literal["six", "five", "map"]
ONE_CHOICE = "one choice"
"""Name of the fixed parameter of end nodes."""


@dataclass(frozen=True, eq=False, repr=False)
class LabyrinthProblem(TabularProblem):
    """Steps in a labyrinth to be explained by what the places are worth."""

    maze: Maze = field(kw_only=True)

    def visits_by_node(self, policy: TabularPolicy | None = None) -> FloatArray:
        """Share of steps that arrive at each node, `nodes`.

        Those of the demonstrations, or those of a policy from the same starts over as many steps:
        exact, no sampling.
        """
        shown = self.demonstrations
        if policy is None:
            arrived = np.bincount(shown.next_states, minlength=self.mdp.n_states).astype(float)
        else:
            starts = np.bincount(shown.starts, minlength=self.mdp.n_states).astype(float)
            visits = expected_visits(self.mdp, policy, starts, self.steps)
            arrived = self.mdp.chain(policy.probabilities).T @ visits
        nodes = np.bincount(self.maze.places[:, 0], arrived, self.maze.n_nodes)
        return nodes / nodes.sum()


def build_labyrinth(
    data: str | None = None, gamma: float = GAMMA, family: Family = "six"
) -> LabyrinthProblem:
    return labyrinth_problem(read_recordings(data_folder("labyrinth", data)), gamma, family)


def labyrinth_problem(
    recordings: Recordings,
    gamma: float = GAMMA,
    family: Family = "six",
    water: int | None = None,
) -> LabyrinthProblem:
    """The problem of explaining recorded steps.

    Args:
        recordings: Of the animals.
        gamma: Discount per step.
        family: Of rewards: `"six"` or `"five"` parameters, or `"map"`, one per node.
        water: The end node with the water port; by default 116, or the last node of other mazes.
    """
    usual = WATER if recordings.n_nodes == N_NODES else recordings.n_nodes - 1
    maze = Maze(recordings.children, usual if water is None else water)
    return LabyrinthProblem(
        mdp=maze.mdp(gamma),
        reward=labyrinth_reward(maze, gamma, family),
        demonstrations=Demonstrations.from_trajectories(map(maze.follow, recordings.nodes)),
        solver=TabularSolver("logsumexp"),
        name="labyrinth",
        maze=maze,
    )


def labyrinth_reward(maze: Maze, gamma: float, family: Family = "six") -> LinearReward:
    """A family of rewards for the states that steps lead to."""
    if family not in get_args(Family):
        raise InvalidInputError(
            f"the family is {family!r}; expected one of {', '.join(get_args(Family))}"
        )
    node, before, turned = maze.places.T
    home = before == HOME
    if family == "map":
        names = [f"node{one}" for one in range(1, maze.n_nodes)]
        columns = [node == one for one in range(1, maze.n_nodes)]
        bounds = dict.fromkeys([*names, "home", "back"], NODE_BOUNDS)
        return _reward(maze, gamma, [*columns, home, turned], bounds)
    deepest = maze.depths.max()
    columns = [node == maze.water, home, ~maze.decides, maze.depths[node] / deepest]
    if family == "five":
        bounds = {name: BOUNDS[name] for name in BOUNDS if name != "back-deep"}
        return _reward(maze, gamma, [*columns, turned], bounds)
    # A passage is as deep as the deeper one of its ends.
    level = np.maximum(maze.depths[node], maze.depths[np.maximum(before, 0)])
    deep = level >= deepest - 1
    return _reward(maze, gamma, [*columns, turned * ~deep, turned * deep], BOUNDS)


def _reward(
    maze: Maze,
    gamma: float,
    columns: Sequence[NDArray[Any]],
    bounds: Mapping[str, tuple[float, float]],
) -> LinearReward:
    # Under logsumexp, k actions that do the same are worth log k more than one of them.
    surplus = -gamma * np.log(N_ACTIONS) * ~maze.decides
    features = np.stack([*columns, surplus], axis=1).astype(np.float64)
    family = LinearReward(features, {**bounds, ONE_CHOICE: (0.0, 1.0)}, of_next=True)
    return family.fix(**{ONE_CHOICE: 1.0})
