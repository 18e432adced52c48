"""A whole search in one call."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any, Unpack

from boirl.constraints.collection import Given
from boirl.errors import BoirlWarning
from boirl.priors import LogDensity, Prior
from boirl.problem import Problem
from boirl.results import RewardSet
from boirl.search.copies import keep_interrupted
from boirl.search.driver import RETRIES
from boirl.search.initial import Design
from boirl.search.records import ArtifactStore
from boirl.search.settings import SearchOptions
from boirl.search.study import Study


def explore(
    problem: Problem[Any],
    evaluations: int = 40,
    initial: Design = "sobol",
    storage: str | None = None,
    progress: bool = False,
    n_initial: int | None = None,
    name: str | None = None,
    rollout_policies: Sequence[Any] = (),
    artifacts: str | os.PathLike[str] | ArtifactStore | None = None,
    prior: Prior | LogDensity | None = None,
    constraints: Given = None,
    executor: Any = None,
    workers: int | None = None,
    timeout: float | None = None,
    retries: int = RETRIES,
    **options: Unpack[SearchOptions],
) -> RewardSet:
    """Search for the rewards that explain the demonstrations, and return all that do.

    A search in memory that is interrupted, or ended by an error, is written to a database, which a
    warning names: with it as `storage`, the next one goes on from there.

    Args:
        problem: What to explain.
        evaluations: Policy optimisations in all, initial ones included.
        initial: Thetas to start from, or a design: `"sobol"` or `"hard"`.
        storage: A database to keep the evaluations in and to resume from, such as
            `"sqlite:///search.db"`.
        progress: Whether to show a progress bar.
        n_initial: As of `Study`, and so are the following ones.
        name: Name of the study.
        rollout_policies: Policies that the roll-outs of the projection come from.
        artifacts: Folder for the policies and the likelihoods of evaluations.
        prior: What is believed of theta beforehand; by default nothing.
        constraints: What a solution must be like; see `boirl.constraints`.
        executor: Who carries out evaluations, as of `Study.run`; so are the following ones.
        workers: Processes of this machine; by default this one alone.
        timeout: Seconds that an evaluation may take.
        retries: Further attempts at an evaluation that could not be carried out.
        **options: See `SearchSettings`: `kernel`, `seed` and others.
    """
    study = Study(
        problem,
        initial=initial,
        n_initial=n_initial,
        storage=storage,
        name=name,
        rollout_policies=rollout_policies,
        artifacts=artifacts,
        prior=prior,
        constraints=constraints,
        **options,
    )
    try:
        return study.run(
            evaluations,
            progress,
            executor=executor,
            workers=workers,
            timeout=timeout,
            retries=retries,
        )
    except BaseException:
        # Whatever ended it, an error included: evaluations are expensive.
        if storage is None and any(trial.value is not None for trial in study.trials):
            kept = keep_interrupted(study)
            warnings.warn(
                f"the search ended after {len(study.trials)} evaluations; they are in {kept}: pass "
                "that as storage to go on",
                BoirlWarning,
                stacklevel=2,
            )
        raise
