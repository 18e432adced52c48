"""What somebody asks to be reproduced: how much of it, and where."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boirl.errors import InvalidInputError
from boirl.reproduction.environments import ENVIRONMENTS
from boirl.reproduction.methods import chosen_methods
from boirl.reproduction.store import Cell, Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_SEEDS = (1000,)
QUICK_EVALUATIONS = 4
PROTOCOLS = ("paper", "exact")
"""Of Table 1, see there."""


@dataclass(frozen=True)
class Plan:
    """Options of a reproduction.

    Attributes:
        quick: Whether to run small versions, to see that everything runs.
        seeds: Of trials; by default each table or figure has its own.
        environments: Only these.
        methods: Only these, in Table 1.
        protocols: Only these, in Table 1.
        data: Folder with the data of Borlange.
    """

    quick: bool = False
    seeds: tuple[int, ...] | None = None
    environments: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    protocols: tuple[str, ...] | None = None
    data: str | None = None

    def __post_init__(self) -> None:
        unknown = sorted(set(self.environments or ()) - set(ENVIRONMENTS))
        if unknown:
            raise InvalidInputError(
                f"there is no environment {', '.join(unknown)}; expected some of "
                f"{'; '.join(ENVIRONMENTS)}"
            )
        chosen_methods(self.methods)
        unknown = sorted(set(self.protocols or ()) - set(PROTOCOLS))
        if unknown:
            raise InvalidInputError(
                f"there is no protocol {', '.join(unknown)}; expected some of "
                f"{', '.join(PROTOCOLS)}"
            )
        if self.seeds is not None and not self.seeds:
            raise InvalidInputError("there are no seeds; expected at least one")

    def seeds_or(self, usual: Sequence[int]) -> tuple[int, ...]:
        """The seeds asked for, or else the usual ones."""
        if self.seeds is not None:
            return self.seeds
        return QUICK_SEEDS if self.quick else tuple(usual)

    def evaluations(self, usual: int) -> int:
        return min(usual, QUICK_EVALUATIONS) if self.quick else usual

    def is_drawn(self, seed: int) -> bool:
        """Whether the posterior of the search with this seed is drawn: that of the first one is."""
        return seed == self.seeds_or((0,))[0]

    def of(self, environments: Sequence[str]) -> tuple[str, ...]:
        """Those of some environments that are asked for."""
        wanted = self.environments
        return tuple(one for one in environments if wanted is None or one in wanted)


def command(
    name: str,
    environment: str | None = None,
    protocol: str | None = None,
    methods: Sequence[str] = (),
) -> str:
    """The command that computes a table or figure, or some of its cells, in Markdown."""
    options = [("--environment", environment), ("--protocol", protocol)]
    options += [("--method", method) for method in methods]
    given = [f"{option} {shlex.quote(value)}" for option, value in options if value is not None]
    return f"`{' '.join(['boirl reproduce', name, *given])}`"


def not_run(name: str, environment: str | None = None) -> str:
    """What stands in place of results that are not there."""
    return f"Not run: {command(name, environment)}."


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper.

    Attributes:
        title: One line.
        paper: What the paper shows there, and what it concludes.
        cells: The computations that it needs.
        draw: The figure, from result files alone; None for a table.
        describe: What our numbers say, in Markdown, from result files alone.
    """

    title: str
    paper: str
    cells: Callable[[Plan], list[Cell]]
    draw: Callable[[Store], Figure] | None
    describe: Callable[[Store], str]
