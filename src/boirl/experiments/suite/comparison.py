"""Run methods on the problems of the suite, measure them and write tables.

Every trial is one method on one problem, which follows from the name of a generator and a seed. Its
row is written when it is done, and is not run again. References are computed once per problem and
kept in the cache.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from boirl.errors import BoirlError, BoirlWarning, InvalidInputError
from boirl.experiments.suite import pyvbmc
from boirl.experiments.suite.catalogue import (
    GENERATORS,
    TUNING_SEEDS_BELOW,
    check_problems,
    suite_problem,
)
from boirl.experiments.suite.measures import measure
from boirl.experiments.suite.methods import METHODS
from boirl.experiments.suite.tables import COLUMNS, summarise, write_csv
from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    check_methods,
    quiet,
    run_trials,
    write_summary,
)
from boirl.metrics.reference import ExactReference, exact_reference
from boirl.problem import Problem

SEEDS = tuple(range(TUNING_SEEDS_BELOW, TUNING_SEEDS_BELOW + 3))


@lru_cache(maxsize=2)
def _problem(name: str, seed: int) -> Problem[Any]:
    return suite_problem(name, seed)


@lru_cache(maxsize=2)
def _reference(name: str, seed: int, options: tuple[tuple[str, Any], ...]) -> ExactReference:
    return exact_reference(_problem(name, seed), **dict(options))


def run_trial(
    name: str,
    seed: int,
    method: str,
    evaluations: int | None,
    reference_options: tuple[tuple[str, Any], ...] = (),
) -> Row:
    """One method on one problem; an error of ours is part of the row."""
    problem = _problem(name, seed)
    chosen = METHODS[method]
    count = evaluations or chosen.evaluations(problem.box.dimension)
    row: Row = {
        "problem": name,
        "seed": seed,
        "method": method,
        "asked": evaluations,
        "parameters": problem.box.dimension,
        "demonstrations": len(problem.demonstrations),
        "operator": getattr(getattr(problem, "solver", None), "bellman", "recursive logit"),
        "fingerprint": problem.fingerprint(),
        "error": None,
    }
    try:
        reference = _reference(name, seed, reference_options)
        answer = chosen.run(problem, count, seed)
        return {**row, **measure(problem, reference, answer, seed)}
    except BoirlError as error:
        return {**row, "error": f"{type(error).__name__}: {error}"}


def run(
    out: Path,
    methods: Sequence[str] | None = None,
    seeds: Sequence[int] = SEEDS,
    evaluations: int | None = None,
    on_trial: OnTrial = quiet,
    problems: Sequence[str] | None = None,
    reference_options: Mapping[str, Any] | None = None,
) -> list[Row]:
    """Compare `METHODS` on the problems of `GENERATORS`, see `Experiment`.

    Args:
        out: Also for `problems.csv`, a line per trial, and `summary.csv`.
        methods: By default all that are installed.
        seeds: Each gives one problem per generator.
        evaluations: Of every method; by default as many as `METHODS` says.
        on_trial: See `OnTrial`.
        problems: Names of generators, by default all that this installation can build.
        reference_options: Of `exact_reference`, for small versions.
    """
    chosen = _available_methods(methods)
    names = _available_problems(seeds, problems)
    options = tuple(sorted((reference_options or {}).items()))
    wanted: dict[Hashable, Callable[[], Row]] = {
        (name, seed, method, evaluations): partial(
            run_trial, name, seed, method, evaluations, options
        )
        for seed in seeds
        for name in names
        for method in chosen
    }
    rows = run_trials(out, wanted, _key, on_trial)
    summary = [summarise([row for row in rows if row["method"] == one], rows) for one in chosen]
    write_summary(out, summary)
    write_csv(out / "problems.csv", rows)
    write_csv(out / "summary.csv", summary)
    return summary


def _key(row: Row) -> Hashable:
    return row["problem"], row["seed"], row["method"], row["asked"]


def _available_methods(methods: Sequence[str] | None) -> tuple[str, ...]:
    chosen = tuple(METHODS) if methods is None else tuple(methods)
    check_methods(chosen, METHODS)
    if "pyvbmc" not in chosen or pyvbmc.installed():
        return chosen
    message = "PyVBMC is not installed, so it is left out (pip install 'boirl[suite]')"
    if len(chosen) == 1:
        raise InvalidInputError(f"{message}; expected at least one method")
    warnings.warn(message, BoirlWarning, stacklevel=3)
    return tuple(method for method in chosen if method != "pyvbmc")


def _available_problems(seeds: Sequence[int], problems: Sequence[str] | None) -> tuple[str, ...]:
    """Those asked for; or all generators, less those that need what is not installed."""
    if not seeds:
        raise InvalidInputError("there are no seeds; expected at least one")
    if problems is not None:
        check_problems(problems)
        return tuple(problems)
    able = []
    for name in GENERATORS:
        try:
            _problem(name, seeds[0])
            able.append(name)
        except InvalidInputError as error:
            warnings.warn(f"{name} is left out: {error}", BoirlWarning, stacklevel=3)
    return tuple(able)


EXPERIMENT = Experiment(
    run,
    COLUMNS,
    tiny={
        "methods": ["search", "maxent"],
        "seeds": [1002],
        "evaluations": 6,
        "problems": ["mdp-few"],
        "reference_options": {"least_effective": 50.0, "most_rounds": 1, "particles": 64},
    },
)
