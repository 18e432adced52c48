"""The `boirl` command: parses, calls and prints."""

from boirl.cli import estimate, experiment, lists, run, show
from boirl.cli.app import app, main

__all__ = ["app", "estimate", "experiment", "lists", "main", "run", "show"]
