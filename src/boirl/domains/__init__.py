"""The problems that come with boirl: one folder per domain, declared as entry points."""

from boirl.lazy import lazy_names

__all__ = ["bus_engines", "fetch", "gridworld", "labyrinth", "maze", "roads", "terrain"]
__getattr__ = lazy_names(__name__, dict.fromkeys(__all__, ""))
