"""Runs the code of the documentation, page by page: `make docs-test`."""

from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser()],
    patterns=["tutorial.md", "decisions.md", "guides/*.md", "concepts/*.md"],
).pytest()
