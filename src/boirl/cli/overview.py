"""The order in which `boirl --help` lists commands, in panels by what they are for."""

from __future__ import annotations

import inspect

import typer

PANELS = {
    "Search, and read the answer": ("init", "run", "show", "report"),
    "Look closer": ("evaluate", "estimate", "compare", "film", "map"),
    "Decide": ("ask", "answer", "act", "what-if", "mixture"),
    "Data and parts": ("problems", "methods", "data", "demonstrate"),
    "Several sites": ("site", "federate"),
    "Measurements": ("experiment", "reproduce"),
}
"""Names of commands by panel."""


def arrange(app: typer.Typer) -> None:
    """Put the commands of an application into their panels, and unwrap what their help says.

    Raises:
        KeyError: A command is in no panel.
    """
    order = {name: place for place, name in enumerate(sum(PANELS.values(), ()))}
    panels = {name: panel for panel, names in PANELS.items() for name in names}
    for group in app.registered_groups:
        group.rich_help_panel = panels[str(group.name)]
    for one in app.registered_commands:
        one.rich_help_panel = panels[_name(one)]
        # Line ends of a docstring are not those of a terminal.
        paragraphs = inspect.cleandoc(inspect.getdoc(one.callback) or "").split("\n\n")
        one.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.registered_commands.sort(key=lambda one: order[_name(one)])


def _name(command: typer.models.CommandInfo) -> str:
    assert command.callback is not None
    return command.name or command.callback.__name__
