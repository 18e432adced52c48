"""Gridworld, the running example of the paper."""

from boirl.problem.catalogue import ProblemEntry

GRIDWORLD = ProblemEntry(
    "boirl.domains.gridworld.problem:build_gridworld", "6 x 6 grid with coins; 3 parameters"
)
GRIDWORLD2D = ProblemEntry(
    "boirl.domains.gridworld.problem:build_gridworld2d",
    "the same without translation; 2 parameters",
)
