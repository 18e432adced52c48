"""Fetch-Reach: a robot arm of Gymnasium-Robotics, where policies are learned by SAC."""

from boirl.drawing.planes import PLANES
from boirl.problem.catalogue import ProblemEntry

FETCH_REACH = ProblemEntry(
    "boirl.domains.fetch.problem:build_fetch_reach",
    "a robot arm that reaches for a goal (SAC); 2 parameters",
)
PLANES.register("FetchReach-v4", "boirl.domains.fetch.plane:fetch_plane")
