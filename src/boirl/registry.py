"""Things that are known by name: those that come with boirl, and those that others add.

Each kind of thing that can be added from outside the package has one registry. A script calls
`register`; an installed package declares an entry point in the registry's group instead, and its
things are there without an import:

    [project.entry-points."boirl.problems"]
    my-problem = "my_package:MY_PROBLEM"
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from boirl.errors import InvalidInputError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names and what they stand for, in the order in which they were added.

    Args:
        kind: What the things are, in the singular, for messages.
        group: Name of the group of entry points that is searched, too.
    """

    def __init__(self, kind: str, group: str) -> None:
        self.kind = kind
        self.group = group
        self._known: dict[str, T] = {}

    def register(self, name: str, thing: T) -> T:
        """Add a thing under a name and return it.

        Raises:
            InvalidInputError: The name stands for something else.
        """
        if self._known.get(name, thing) != thing or name in self._declared:
            raise InvalidInputError(f"there is a {self.kind} {name!r} already; choose another name")
        self._known[name] = thing
        return thing

    def __getitem__(self, name: str) -> T:
        if name not in self._known:
            if name not in self._declared:
                raise InvalidInputError(
                    f"there is no {self.kind} {name!r}; expected one of {', '.join(self)}"
                )
            self._known[name] = self._declared[name].load()
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._known or name in self._declared

    def __iter__(self) -> Iterator[str]:
        # What was looked up is known, too, and keeps its place among the declared ones.
        registered = [name for name in self._known if name not in self._declared]
        return iter([*registered, *self._declared])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def values(self) -> Iterator[T]:
        """The things; those of entry points are imported."""
        return (self[name] for name in self)

    def items(self) -> Iterator[tuple[str, T]]:
        """Names and things; those of entry points are imported."""
        return ((name, self[name]) for name in self)

    @cached_property
    def _declared(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group)}
