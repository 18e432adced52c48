"""Trajectories of the demonstrator, and the forms in which people have them."""

from boirl.demonstrations.trajectories import UNKNOWN, Demonstrations, Trajectory

__all__ = ["UNKNOWN", "Demonstrations", "Trajectory"]
