"""Demonstrations of which only the number is known here."""

from __future__ import annotations

from typing import Any, NoReturn

from numpy.typing import NDArray

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError


class DemonstrationsElsewhere(Demonstrations):
    """Stands for the demonstrations of all sites: they can be counted, and nothing else.

    Whatever looks at a state or an action gets an error that says so.

    Args:
        count: How many there are.
        sites: Names of where they are.
    """

    def __init__(self, count: int, sites: tuple[str, ...]) -> None:
        object.__setattr__(self, "_count", count)
        object.__setattr__(self, "_sites", sites)

    def __len__(self) -> int:
        count: int = self._count
        return count

    def __repr__(self) -> str:
        return f"DemonstrationsElsewhere({len(self)} trajectories at {', '.join(self._sites)})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse(f"their {name}")

    def to_dict(self) -> dict[str, NDArray[Any]]:
        self._refuse("writing them to a file")

    def _refuse(self, what: str) -> NoReturn:
        raise InvalidInputError(
            f"the demonstrations stay at their sites ({', '.join(self._sites)}), and {what} would "
            "need them here; what a federation can say is in docs/federation.md (a study keeps its "
            "evaluations with storage=...)"
        )
