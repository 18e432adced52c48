"""The point mass maze of the paper, where policies are learned by PPO."""

from boirl.drawing.planes import PLANES
from boirl.problem.catalogue import ProblemEntry

POINT_MASS_MAZE = ProblemEntry(
    "boirl.domains.maze.problem:build_point_mass_maze",
    "a ball that finds its way around a barrier (PPO); 2 parameters",
)
PLANES.register("point-mass-maze", "boirl.domains.maze.plane:maze_plane")
