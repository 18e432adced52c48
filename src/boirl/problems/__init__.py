"""The problems that come with boirl, by name. A new one is a file and one registry line."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError
from boirl.problem import Problem
from boirl.problems.gridworld import build_gridworld, build_gridworld2d
from boirl.problems.recursive_logit import build_borlange_recursive_logit
from boirl.problems.roads import build_borlange_real, build_borlange_virtual, build_road_network
from boirl.problems.terrain import build_terrain
from boirl.types import Report, silent


@dataclass(frozen=True)
class ProblemEntry:
    """How to build a problem, and what to say of it in a list.

    `source` is a function, or `"module:function"` in this package where the imports are heavy.
    """

    source: Callable[..., Problem[Any]] | str
    summary: str

    @property
    def build(self) -> Callable[..., Problem[Any]]:
        if not isinstance(self.source, str):
            return self.source
        module, _, function = self.source.partition(":")
        try:
            found: Callable[..., Problem[Any]] = getattr(
                importlib.import_module(f"{__name__}.{module}"), function
            )
        except ModuleNotFoundError as error:
            raise InvalidInputError(
                f"this problem needs {error.name}, which is not installed; install it with "
                "pip install 'boirl[rl]'"
            ) from error
        return found


PROBLEMS = {
    "gridworld": ProblemEntry(build_gridworld, "6 x 6 grid with coins; 3 parameters"),
    "gridworld2d": ProblemEntry(build_gridworld2d, "the same without translation; 2 parameters"),
    "terrain": ProblemEntry(build_terrain, "a map of 20 terrains; 20 parameters"),
    "road-network": ProblemEntry(build_road_network, "a generated town; 3 parameters"),
    "borlange-virtual": ProblemEntry(
        build_borlange_virtual, "the roads of Borlange, trips of a made-up driver"
    ),
    "borlange-real": ProblemEntry(build_borlange_real, "the roads of Borlange, 54 trips of people"),
    "point-mass-maze": ProblemEntry(
        "point_mass_maze:build_point_mass_maze",
        "a ball that finds its way around a barrier (PPO); 2 parameters",
    ),
    "fetch-reach": ProblemEntry(
        "fetch_reach:build_fetch_reach",
        "a robot arm that reaches for a goal (SAC); 2 parameters",
    ),
    "borlange-recursive-logit": ProblemEntry(
        build_borlange_recursive_logit,
        "the roads of Borlange, 1,832 trips to 466 destinations; 4 parameters",
    ),
}


def load_problem(name: str, report: Report = silent, **options: Any) -> Any:
    """Build one of the problems that `boirl problems` lists.

    Args:
        name: For instance `"gridworld"`.
        report: Told of progress by a problem whose demonstrator has to learn first.
        **options: What that problem takes, for instance `bellman="logsumexp"` or `seed=1`.
    """
    entry = PROBLEMS.get(name)
    if entry is None:
        raise InvalidInputError(
            f"there is no problem {name!r}; expected one of {', '.join(sorted(PROBLEMS))}"
        )
    build = entry.build
    takes = inspect.signature(build).parameters
    known = [option for option in takes if option != "report"]
    unknown = set(options) - set(known)
    if unknown:
        raise InvalidInputError(
            f"problem {name!r} takes no option {', '.join(sorted(unknown))}; "
            f"expected some of {', '.join(known)}"
        )
    told = {"report": report} if "report" in takes else {}
    plain = _plain(options)
    problem: Any = build(**plain, **told)
    return replace(problem, name=name, recipe={"name": name, **plain})


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """The same with NumPy numbers as Python's and paths as text, for a JSON file."""
    plain = {}
    for key, value in options.items():
        plain[key] = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, os.PathLike):
            plain[key] = os.fspath(value)
    return plain
