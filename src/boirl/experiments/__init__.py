"""Comparisons that write their numbers to files, by name. A new one is a file and a line here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from boirl.errors import InvalidInputError
from boirl.experiments import (
    baselines,
    batches,
    birl_posterior,
    borlange_search,
    borlange_trips,
    bus_engines,
    constrained,
    federation,
    fetch_search,
    fetch_solvers,
    gridworld_efficiency,
    high_dimension,
    labyrinth,
    look_ahead,
    many_parameters,
    maze_imitation,
    maze_noise,
    maze_search,
    mixtures,
    objectworld,
    optima,
    questions,
    rescoring,
    reward_set,
    shaping,
    suite,
    taxi_learning,
    town_estimates,
    worst_case,
)
from boirl.experiments.trials import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    "baselines": baselines.EXPERIMENT,
    "birl-posterior": birl_posterior.EXPERIMENT,
    "gridworld-efficiency": gridworld_efficiency.EXPERIMENT,
    "gridworld-set": reward_set.GRIDWORLD,
    "many-parameters": many_parameters.EXPERIMENT,
    "shaping": shaping.EXPERIMENT,
    "borlange-search": borlange_search.EXPERIMENT,
    "borlange-trips": borlange_trips.EXPERIMENT,
    "borlange-set": reward_set.BORLANGE,
    "federation": federation.EXPERIMENT,
    "fetch-search": fetch_search.EXPERIMENT,
    "fetch-solvers": fetch_solvers.EXPERIMENT,
    "maze-search": maze_search.EXPERIMENT,
    "maze-imitation": maze_imitation.EXPERIMENT,
    "maze-noise": maze_noise.EXPERIMENT,
    "bus-engines": bus_engines.EXPERIMENT,
    "labyrinth": labyrinth.EXPERIMENT,
    "objectworld": objectworld.EXPERIMENT,
    "taxi-learning": taxi_learning.EXPERIMENT,
    "look-ahead": look_ahead.EXPERIMENT,
    "batches": batches.EXPERIMENT,
    "high-dimension": high_dimension.EXPERIMENT,
    "questions": questions.EXPERIMENT,
    "rescoring": rescoring.EXPERIMENT,
    "constraints": constrained.EXPERIMENT,
    "worst-case": worst_case.EXPERIMENT,
    "mixtures": mixtures.EXPERIMENT,
    "suite": suite.EXPERIMENT,
    "optima": optima.EXPERIMENT,
    "town-estimates": town_estimates.EXPERIMENT,
}


def find_experiment(name: str, options: Mapping[str, Any]) -> Experiment:
    """The experiment of this name, if it takes these options."""
    if name not in EXPERIMENTS:
        raise InvalidInputError(
            f"there is no experiment {name!r}; expected one of {', '.join(EXPERIMENTS)}"
        )
    experiment = EXPERIMENTS[name]
    takes = set(inspect.signature(experiment.run).parameters) - {"out", "on_trial"}
    unknown = set(options) - takes
    if unknown:
        raise InvalidInputError(
            f"experiment {name!r} takes no {', '.join(sorted(unknown))}; expected some of "
            f"{', '.join(sorted(takes))}"
        )
    return experiment


def run_experiment(
    name: str,
    out: Path,
    options: Mapping[str, Any],
    on_trial: Callable[[int, int], None] = lambda done, total: None,
    tiny: bool = False,
) -> list[dict[str, str]]:
    """Run an experiment and return the lines of its table, by heading.

    Args:
        name: One of `EXPERIMENTS`.
        out: Folder for its results; what is finished there is not run again.
        options: What this experiment takes, by name.
        on_trial: Called after each trial with how many are done, and how many there are.
        tiny: Whether to run it in seconds, with other options where none are given.
    """
    experiment = find_experiment(name, options)
    given = {**experiment.tiny, **options} if tiny else options
    rows = experiment.run(out=out, on_trial=on_trial, **given)
    return [{head: show(row) for head, show in experiment.columns.items()} for row in rows]
