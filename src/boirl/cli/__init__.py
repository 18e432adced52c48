"""The `boirl` command: parses, calls and prints."""

from boirl.cli import (
    ask,
    decide,
    estimate,
    experiment,
    federate,
    init,
    lists,
    report,
    reproduce,
    run,
    show,
)
from boirl.cli.app import app, main
from boirl.cli.overview import arrange

arrange(app)

__all__ = [
    "app",
    "ask",
    "decide",
    "estimate",
    "experiment",
    "federate",
    "init",
    "lists",
    "main",
    "report",
    "reproduce",
    "run",
    "show",
]
