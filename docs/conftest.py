"""Runs the code of the documentation, page by page: `make docs-test`."""

import os
from tempfile import TemporaryDirectory
from typing import Any

from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser

HERE = os.getcwd()


def enter_folder(names: dict[str, Any]) -> None:
    """A page that writes files writes them into a folder of its own."""
    names["_folder"] = TemporaryDirectory()
    os.chdir(names["_folder"].name)


def leave_folder(names: dict[str, Any]) -> None:
    os.chdir(HERE)
    names["_folder"].cleanup()


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser()],
    patterns=["tutorial.md", "decisions.md", "guides/*.md", "concepts/*.md"],
    setup=enter_folder,
    teardown=leave_folder,
).pytest()
