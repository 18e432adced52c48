"""Blocks of any experiment: its table as the command prints it, and the command."""

from __future__ import annotations

from boirl.experiments import EXPERIMENTS
from measured.blocks import block, exists, load, markdown_table
from measured.commands import COMMANDS


@block("source")
def source(*names: str) -> list[str]:
    """The command that wrote each result file."""
    return [f"- `{COMMANDS[name]}` writes `docs/results/{name}.json`" for name in names]


@block("table")
def table(name: str) -> list[str]:
    """The table of an experiment, with its command; a sentence where there is no result file."""
    if not exists(name):
        return [f"Not measured with this version. `{COMMANDS[name]}` does it."]
    rows = [
        {head: show(row) for head, show in EXPERIMENTS[name].columns.items()} for row in load(name)
    ]
    return [f"`{COMMANDS[name]}` (`docs/results/{name}.json`):", "", *markdown_table(rows)]


@block("printed")
def printed(name: str) -> list[str]:
    """What an example prints."""
    return ["```", *load("printed")[name], "```"]
