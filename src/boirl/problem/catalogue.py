"""Problems by name. A domain, of boirl or of another package, declares them as entry points."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError
from boirl.extras import missing_reported
from boirl.lazy import load
from boirl.problem.base import Problem
from boirl.registry import Registry
from boirl.types import Report, silent


@dataclass(frozen=True)
class ProblemEntry:
    """How to build a problem, and one line about it for lists.

    `source` is a function, or `"package.module:function"` where its imports are heavy.
    """

    source: Callable[..., Problem[Any]] | str
    summary: str

    @property
    def build(self) -> Callable[..., Problem[Any]]:
        """The function; imported when it is first needed."""
        if not isinstance(self.source, str):
            return self.source
        with missing_reported("this problem", any_package=True):
            found: Callable[..., Problem[Any]] = load(self.source)
        return found


PROBLEMS: Registry[ProblemEntry] = Registry("problem", "boirl.problems")
"""The problems that `load_problem` builds, by name."""


def load_problem(name: str, report: Report = silent, **options: Any) -> Any:
    """Build one of the problems that `boirl problems` lists.

    Args:
        name: For instance `"gridworld"`.
        report: Called with the progress of a problem whose demonstrator has to learn first.
        **options: What that problem takes, for instance `bellman="logsumexp"` or `seed=1`.
    """
    build = PROBLEMS[name].build
    takes = inspect.signature(build).parameters
    known = [option for option in takes if option != "report"]
    unknown = set(options) - set(known)
    if unknown:
        raise InvalidInputError(
            f"problem {name!r} takes no option {', '.join(sorted(unknown))}; "
            f"expected some of {', '.join(known)}"
        )
    reporting = {"report": report} if "report" in takes else {}
    plain = plain_options(options)
    problem: Any = build(**plain, **reporting)
    return replace(problem, name=name, recipe={"name": name, **plain})


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The same with NumPy numbers as Python's and paths as text, for a JSON file."""
    plain = {}
    for key, value in options.items():
        plain[key] = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, os.PathLike):
            plain[key] = os.fspath(value)
    return plain
