"""Blocks of a page that are written from result files.

A page marks a block by two comments:

    <!-- numbers: suite words -->
    ...
    <!-- end of numbers -->

The first says which function writes the lines between them, and its arguments.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1] / "results"
BLOCK = re.compile(
    r"^(?P<begin><!-- numbers: (?P<call>[^\n]*) -->)\n.*?^(?P<end><!-- end of numbers -->)$",
    re.DOTALL | re.MULTILINE,
)
WIDTH = 140
"""Characters in a line of prose."""

Block = Callable[..., list[str]]
BLOCKS: dict[str, Block] = {}
"""Functions that write blocks, by name."""


def block(name: str) -> Callable[[Block], Block]:
    """Register the function that writes the block of this name."""

    def register(function: Block) -> Block:
        if name in BLOCKS:
            raise ValueError(f"there are two blocks {name!r}; rename one")
        BLOCKS[name] = function
        return function

    return register


def exists(name: str) -> bool:
    """Whether there is a result file of this name."""
    return (RESULTS / f"{name}.json").exists()


def load(name: str) -> Any:
    """The content of `docs/results/NAME.json`."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        raise SystemExit(f"there is no {path}; run the command of docs/measured/commands.py first")
    return json.loads(path.read_text())


def row_of(name: str, **given: Any) -> dict[str, Any]:
    """The one row of a result file with these values."""
    rows = [one for one in load(name) if all(one.get(k) == v for k, v in given.items())]
    if len(rows) != 1:
        raise SystemExit(f"{name}.json has {len(rows)} rows with {given}; expected one")
    return dict(rows[0])


def markdown_table(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Rows by heading, as Markdown."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([row[head] for head in heads] for row in rows)]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def prose(text: str) -> list[str]:
    """A paragraph in lines of `WIDTH`."""
    return textwrap.wrap(" ".join(text.split()), WIDTH, break_on_hyphens=False)


def call(words: str) -> list[str]:
    """The lines of a block: its longest registered name, and the words after it as arguments."""
    parts = words.split()
    for count in range(len(parts), 0, -1):
        name = " ".join(parts[:count])
        if name in BLOCKS:
            return BLOCKS[name](*parts[count:])
    raise SystemExit(f"there is no block {words!r}; expected one of {', '.join(sorted(BLOCKS))}")


def fill(text: str) -> str:
    """A page with its blocks written again."""

    def written(match: re.Match[str]) -> str:
        return "\n".join([match["begin"], *call(match["call"]), match["end"]])

    return BLOCK.sub(written, text)
