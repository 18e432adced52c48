"""The numbers of the documentation, from the files in `docs/results`: one module per page."""

from measured import (
    bus_engines,
    commands,
    decisions,
    estimates,
    federation,
    generic,
    labyrinth,
    overview,
    roads,
    sets,
    suite,
    tables,
)

__all__ = [
    "bus_engines",
    "commands",
    "decisions",
    "estimates",
    "federation",
    "generic",
    "labyrinth",
    "overview",
    "roads",
    "sets",
    "suite",
    "tables",
]
