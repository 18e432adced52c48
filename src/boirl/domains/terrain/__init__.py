"""A map of many terrains: a problem with many parameters."""

from boirl.problem.catalogue import ProblemEntry

TERRAIN = ProblemEntry(
    "boirl.domains.terrain.problem:build_terrain", "a map of 20 terrains; 20 parameters"
)
