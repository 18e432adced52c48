"""Evaluations in a study: numbers in its database, arrays and policies in an artifact folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from numpy.typing import NDArray
from optuna.artifacts import FileSystemArtifactStore, upload_artifact
from optuna.trial import FrozenTrial, TrialState

from boirl.cache import cache_folder
from boirl.errors import BoirlWarning, StorageError
from boirl.evaluation import Evaluation
from boirl.files import make_folder, read_arrays, write_arrays
from boirl.search.passwords import hide_password
from boirl.types import Box, FloatArray

EVALUATION = "boirl:evaluation"
ARTIFACT = "artifact"
"""Where the numbers of an evaluation say which artifact holds its arrays."""

ARRAYS = "evaluation.npz"


def theta_of(trial: FrozenTrial, box: Box) -> FloatArray:
    """The theta of a trial, `d`."""
    return np.array([trial.params[name] for name in box.names])


def is_finished(trial: FrozenTrial, box: Box) -> bool:
    """Whether a trial has ended with an evaluation of a theta, failed ones included."""
    ended = trial.state in (TrialState.COMPLETE, TrialState.FAIL)
    return ended and len(trial.params) == box.dimension


def numbers_of(trial: FrozenTrial, box: Box) -> dict[str, Any]:
    """What the database keeps of an evaluation, also of one reported to Optuna directly."""
    numbers = dict(trial.user_attrs.get(EVALUATION, {}))
    numbers["theta"] = theta_of(trial, box).tolist()
    if trial.state == TrialState.COMPLETE:
        numbers["nll"] = trial.value
    else:
        numbers["failure"] = numbers.get("failure") or "the evaluation was given up"
    return numbers


def evaluation_of(trial: FrozenTrial, box: Box) -> Evaluation:
    """An evaluation without arrays and policies, as the database alone knows it."""
    return Evaluation.from_parts(numbers_of(trial, box), {})


def artifact_folder(storage: str | None) -> Path | None:
    """Where the arrays of a study are kept by default; None for memory.

    Beside an SQLite file (`search.artifacts` for `search.db`); for other databases, in a folder of
    the user's cache on this machine.
    """
    if storage is None:
        return None
    if storage.startswith("sqlite:"):
        file = storage.partition(":///")[2]
        return None if file in ("", ":memory:") else Path(file).with_suffix(".artifacts")
    name = hashlib.sha256(hide_password(storage).encode()).hexdigest()[:16]
    return cache_folder() / "artifacts" / name


class EvaluationRecords:
    """Reads and writes the evaluations of one study.

    Args:
        box: The rewards under consideration.
        folder: For arrays and policies; made when the first are written. None for memory.
    """

    def __init__(self, box: Box, folder: Path | None) -> None:
        self.folder = folder
        self._box = box
        self._known: dict[int, Evaluation] = {}

    def write(self, trial: optuna.Trial, evaluation: Evaluation) -> None:
        """Keep an evaluation whole; durable when this returns, where there is a folder."""
        arrays = evaluation.arrays()
        artifact = None if self.folder is None or not arrays else self._upload(trial, arrays)
        trial.set_user_attr(EVALUATION, {**evaluation.numbers(), ARTIFACT: artifact})
        self._known[trial.number] = evaluation

    def _upload(self, trial: optuna.Trial, arrays: Mapping[str, NDArray[Any]]) -> str:
        """Write arrays to the folder, and return the id of their artifact."""
        assert self.folder is not None
        make_folder(self.folder)
        with tempfile.TemporaryDirectory() as temporary:
            file = Path(temporary) / ARRAYS
            write_arrays(file, arrays)
            try:
                artifact = upload_artifact(
                    artifact_store=FileSystemArtifactStore(self.folder),
                    file_path=str(file),
                    study_or_trial=trial,
                )
                with (self.folder / artifact).open("rb") as written:
                    os.fsync(written.fileno())
                return artifact
            except OSError as error:
                raise StorageError(
                    f"the arrays of evaluation {trial.number} could not be written to "
                    f"{str(self.folder)!r} ({error.strerror}); free some space or pass another "
                    "artifacts folder, then run again to resume"
                ) from error

    def read(self, trial: FrozenTrial) -> Evaluation:
        """The evaluation of a finished trial, with arrays and policies where they were kept."""
        if trial.number not in self._known:
            numbers = numbers_of(trial, self._box)
            self._known[trial.number] = Evaluation.from_parts(numbers, self._arrays(trial))
        return self._known[trial.number]

    def _arrays(self, trial: FrozenTrial) -> Mapping[str, NDArray[Any]]:
        """Those of the evaluation that counts; an interrupted one may have left others behind."""
        artifact = trial.user_attrs.get(EVALUATION, {}).get(ARTIFACT)
        if self.folder is None or artifact is None or not (self.folder / artifact).exists():
            return {}
        try:
            return read_arrays(self.folder / artifact, f"the arrays of evaluation {trial.number}")
        except StorageError as error:
            warnings.warn(f"{error}; its numbers are used alone", BoirlWarning, stacklevel=2)
            return {}
