"""A study in memory, written to a database: to keep what an interrupted search has found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optuna.trial import FrozenTrial

from boirl.cache import interrupted_path, stamped
from boirl.files import make_folder
from boirl.search.database import StudyDatabase
from boirl.search.leases import LEASE, Lease
from boirl.search.records import EvaluationRecords, artifact_folder, evidence_of, is_finished
from boirl.search.storage import open_study, storage_errors

if TYPE_CHECKING:
    from boirl.search.study import Study


def keep_interrupted(study: Study, folder: Path | None = None) -> str:
    """Write a study to a new SQLite file, and return its address.

    Args:
        study: What to keep.
        folder: Where; by default `interrupted` in the user's cache.
    """
    name = study.problem.name
    path = interrupted_path(name) if folder is None else folder / stamped(name)
    make_folder(path.parent)
    address = f"sqlite:///{path.resolve()}.db"
    copy_study(study, address)
    return address


def copy_study(study: Study, address: str) -> None:
    """Write a study to another storage, so that it goes on there exactly as it would have here."""
    with storage_errors(address):
        database = StudyDatabase(open_study(address, study.optuna_study.study_name), address)
    for key, value in study.optuna_study.user_attrs.items():
        database.record(key, value)
    records = EvaluationRecords(study.problem.box, artifact_folder(address))
    if records.folder is not None:
        study.evidence.copy_to(records.folder)
    for trial in study.database.trials():
        database.add(_for_another_storage(trial, study, records))


def _for_another_storage(
    trial: FrozenTrial, study: Study, records: EvaluationRecords
) -> FrozenTrial:
    """A trial with its arrays in the folder of another storage, and nobody at work on it."""
    attributes: dict[str, Any] = dict(trial.user_attrs)
    listed: dict[str, Any] = {}
    lease = Lease.of(trial)
    if lease is not None:
        attributes[LEASE] = replace(lease, deadline=0.0).record()
    if is_finished(trial, study.problem.box):
        evaluation = study.records.read(trial)
        kept, listed = records.attributes(trial.number, evaluation, evidence_of(trial))
        attributes |= kept
    return FrozenTrial(
        number=trial.number,
        trial_id=trial.number,
        state=trial.state,
        value=trial.value,
        datetime_start=trial.datetime_start,
        datetime_complete=trial.datetime_complete,
        params=trial.params,
        distributions=trial.distributions,
        user_attrs=attributes,
        system_attrs={**trial.system_attrs, **listed},
        intermediate_values={},
    )
