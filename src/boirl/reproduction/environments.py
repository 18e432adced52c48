"""The environments of the paper, with the settings of its appendix."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from boirl.experiments.baselines import CONTESTS
from boirl.problem import Problem, load_problem


@dataclass(frozen=True)
class Environment:
    """One environment.

    Attributes:
        title: In tables and figures.
        problem: Its name for `load_problem`.
        options: Of the problem.
        hard_nll: The NLL above which the initial point is drawn ("regions of high NLL").
        tolerance: Share of the expert's ESOR that may be missing where it is measured by roll-outs.
        projected: The paper's `K`, demonstrations in the projection.
        rollouts: The paper's `M`, roll-outs per demonstration.
        budget: The paper's number of evaluations of a search.
        shown: Evaluations of the searches whose posteriors are drawn.
        dropped: Fixed weights that the authors' projection leaves out.
        chosen_seed: Of the demonstrations that come with the problem.
        quick: Problem and options of the small version.
    """

    title: str
    problem: str
    options: dict[str, Any]
    hard_nll: float
    tolerance: float
    projected: int
    rollouts: int
    budget: int
    shown: int
    dropped: tuple[str, ...] = ()
    chosen_seed: int | None = 0
    quick: tuple[str, dict[str, Any]] = field(default=("", {}))


def _contest(name: str, title: str, **settings: Any) -> Environment:
    problem, options, hard_nll, tolerance = CONTESTS[name]
    return Environment(title, problem, options, hard_nll, tolerance, **settings)


TOWN: dict[str, Any] = {"n_links": 60, "n_demonstrations": 20}
ROADS: dict[str, Any] = {"projected": 10, "rollouts": 2000, "budget": 50, "shown": 50}

ENVIRONMENTS: dict[str, Environment] = {
    "gridworld": _contest(
        "gridworld",
        "Gridworld",
        projected=10,
        rollouts=5,
        budget=100,
        shown=100,
        chosen_seed=3,
        quick=("gridworld", {}),
    ),
    "borlange wide": _contest(
        "borlange wide",
        "Borlange, box of the text",
        **ROADS,
        dropped=("u-turn",),
        quick=("road-network", {**TOWN, "box": "wide"}),
    ),
    "borlange narrow": _contest(
        "borlange narrow",
        "Borlange, box of the code",
        **ROADS,
        dropped=("u-turn",),
        quick=("road-network", {**TOWN, "box": "narrow"}),
    ),
    "maze": _contest(
        "maze",
        "Point mass maze",
        projected=10,
        rollouts=5,
        budget=100,
        shown=40,
        quick=("point-mass-maze", {"steps": 2_000, "repeats": 1, "n_demonstrations": 10}),
    ),
    "fetch": _contest(
        "fetch",
        "Fetch-Reach",
        projected=20,
        rollouts=5,
        budget=100,
        shown=30,
        quick=("fetch-reach", {"tiny": True}),
    ),
    "borlange real": Environment(
        "Borlange, recorded trips",
        "borlange-real",
        {},
        800.0,
        0.0,
        **ROADS,
        dropped=("u-turn",),
        chosen_seed=None,
        quick=("road-network", TOWN),
    ),
}
"""By the name in tables."""


@lru_cache(maxsize=4)
def build_problem(
    environment: str, demonstrations: int | None, quick: bool, data: str | None
) -> Problem[Any]:
    """The problem of an environment.

    Args:
        environment: One of `ENVIRONMENTS`.
        demonstrations: Their seed; None where they were recorded.
        quick: Whether to build the small version.
        data: Folder with the data of Borlange, by default the cache.
    """
    own = ENVIRONMENTS[environment]
    name, options = own.quick if quick else (own.problem, own.options)
    given = dict(options)
    if demonstrations is not None:
        given["seed"] = demonstrations
    if name.startswith("borlange") and data is not None:
        given["data"] = data
    problem: Problem[Any] = load_problem(name, **given)
    return problem


def hard_nll(environment: str, quick: bool) -> float:
    """See `Environment`; in a small version any initial point will do."""
    return -np.inf if quick else ENVIRONMENTS[environment].hard_nll
