"""Evaluations in a study: numbers in its database, arrays and policies in an artifact folder."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from optuna.artifacts import ArtifactMeta, FileSystemArtifactStore
from optuna.artifacts._protocol import ArtifactStore
from optuna.artifacts.exceptions import ArtifactNotFound
from optuna.trial import FrozenTrial, TrialState

from boirl.cache import cache_folder
from boirl.errors import BoirlWarning, InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.files import make_folder, read_arrays
from boirl.search.passwords import hide_password
from boirl.types import Box, FloatArray

EVALUATION = "boirl:evaluation"
ARTIFACT = "artifact"
"""Where the numbers of an evaluation say which artifact holds its arrays."""

ARRAYS = "evaluation.npz"
MIME_TYPE = "application/octet-stream"

LONGEST_NAME = 200
"""Of an artifact; those of this module have 36 characters."""

Attributes = dict[str, Any]

EVIDENCE_VERSION = "evidence"
"""Where they say how often the evidence of the study had changed when it was evaluated."""


def theta_of(trial: FrozenTrial, box: Box) -> FloatArray:
    """The theta of a trial, `d`."""
    try:
        return box.check_one([float(trial.params[name]) for name in box.names])
    except (TypeError, ValueError, KeyError, InvalidInputError) as error:
        raise damaged(trial, " ".join(str(error).split())) from error


def is_finished(trial: FrozenTrial, box: Box) -> bool:
    """Whether a trial has ended with an evaluation of a theta, failed ones included."""
    ended = trial.state in (TrialState.COMPLETE, TrialState.FAIL)
    return ended and len(trial.params) == box.dimension


def numbers_of(trial: FrozenTrial, box: Box) -> dict[str, Any]:
    """What the database keeps of an evaluation, also of one reported to Optuna directly."""
    numbers = dict(_stored(trial))
    numbers["theta"] = theta_of(trial, box).tolist()
    if trial.state == TrialState.COMPLETE:
        numbers["nll"] = trial.value
    else:
        numbers["failure"] = numbers.get("failure") or "the evaluation was given up"
    return numbers


def evidence_of(trial: FrozenTrial) -> int:
    """How often the evidence of the study had changed when a trial was evaluated."""
    version = _stored(trial).get(EVIDENCE_VERSION, 0)
    if not isinstance(version, int):
        raise damaged(trial, f"its evidence is {version!r}; expected a whole number")
    return version


def _stored(trial: FrozenTrial) -> dict[str, Any]:
    """The numbers of an evaluation in the database; none where it was reported to Optuna alone."""
    stored = trial.user_attrs.get(EVALUATION, {})
    if not isinstance(stored, dict):
        raise damaged(trial, f"found {stored!r}; expected names and values")
    return stored


def damaged(trial: FrozenTrial, reason: str) -> StorageError:
    """The error that says what is wrong with what a study holds of a trial."""
    return StorageError(
        f"what the study holds of evaluation {trial.number} is damaged ({reason}); bring back a "
        "copy of the database, or name another one"
    )


def check_whole(trial: FrozenTrial, evaluation: Evaluation, n_trajectories: int) -> None:
    """Refuse what a study holds of an evaluation where nobody could have told it so."""
    try:
        evaluation.check_storable(n_trajectories)
    except InvalidInputError as error:
        raise damaged(trial, str(error)) from error


def evaluation_of(trial: FrozenTrial, box: Box) -> Evaluation:
    """An evaluation without arrays and policies, as the database alone knows it."""
    return _evaluation(trial, box, {})


def _evaluation(trial: FrozenTrial, box: Box, arrays: Mapping[str, NDArray[Any]]) -> Evaluation:
    try:
        return Evaluation.from_parts(numbers_of(trial, box), arrays)
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise damaged(trial, " ".join(str(error).split())) from error


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
        kept: Folder for arrays and policies, made when the first are written, or an artifact store
            of Optuna. None for memory.
    """

    def __init__(self, box: Box, kept: str | os.PathLike[str] | ArtifactStore | None) -> None:
        self.folder: Path | None = None
        self.store: ArtifactStore | None
        if isinstance(kept, str | os.PathLike):
            self.folder = Path(kept)
            self.store = FileSystemArtifactStore(self.folder)
        else:
            self.store = kept
        self._box = box
        self._known: dict[int, Evaluation] = {}

    def attributes(
        self, number: int, evaluation: Evaluation, evidence: int = 0
    ) -> tuple[Attributes, Attributes]:
        """User and system attributes that keep an evaluation; its arrays are durable afterwards.

        The evaluation counts once the attributes are stored, all in one transaction. Arrays of one
        that never counted may be left behind in the folder.

        Args:
            number: Of the evaluation.
            evaluation: What is kept.
            evidence: How often the evidence of the study has changed.
        """
        arrays = evaluation.arrays()
        artifact, listed = None, {}
        if self.store is not None and arrays:
            artifact = str(uuid.uuid4())
            self._upload(number, artifact, arrays)
            # As Optuna lists artifacts, for its dashboard.
            listed = {
                f"artifacts:{artifact}": json.dumps(
                    asdict(ArtifactMeta(artifact, ARRAYS, MIME_TYPE, None))
                )
            }
        numbers = {**evaluation.numbers(), ARTIFACT: artifact}
        if evidence:
            numbers[EVIDENCE_VERSION] = evidence
        return {EVALUATION: numbers}, listed

    def keep(self, number: int, evaluation: Evaluation) -> None:
        """Remember an evaluation that counts, so that it need not be read."""
        self._known[number] = evaluation

    def _upload(self, number: int, artifact: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        assert self.store is not None
        if self.folder is not None:
            make_folder(self.folder)
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, **arrays)
        content.seek(0)
        try:
            self.store.write(artifact, content)
            if self.folder is not None:
                with (self.folder / artifact).open("rb") as written:
                    os.fsync(written.fileno())
        except Exception as error:
            # Stores elsewhere raise what they like.
            place = type(self.store).__name__ if self.folder is None else str(self.folder)
            reason = getattr(error, "strerror", None) or error
            raise StorageError(
                f"the arrays of evaluation {number} could not be written to {place!r} ({reason}); "
                "free some space or pass another artifacts folder, then run again to resume"
            ) from error

    def read(self, trial: FrozenTrial) -> Evaluation:
        """The evaluation of a finished trial, with arrays and policies where they were kept."""
        if trial.number not in self._known:
            self._known[trial.number] = _evaluation(trial, self._box, self._arrays(trial))
        return self._known[trial.number]

    def _arrays(self, trial: FrozenTrial) -> Mapping[str, NDArray[Any]]:
        """Those of the evaluation that counts; an interrupted one may have left others behind."""
        artifact = _stored(trial).get(ARTIFACT)
        what = f"the arrays of evaluation {trial.number}"
        if self.store is None or artifact is None:
            return {}
        if not isinstance(artifact, str) or len(artifact) > LONGEST_NAME:
            raise damaged(trial, f"its artifact is {str(artifact)[:80]!r}; expected a name")
        if artifact != Path(artifact).name:
            return {}
        try:
            if self.folder is not None:
                file = self.folder / artifact
                return read_arrays(file, what) if file.exists() else {}
            return self._download(artifact, what)
        except StorageError as error:
            warnings.warn(f"{error}; its numbers are used alone", BoirlWarning, stacklevel=2)
            return {}

    def _download(self, artifact: str, what: str) -> Mapping[str, NDArray[Any]]:
        assert self.store is not None
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / ARRAYS
            try:
                with self.store.open_reader(artifact) as content, file.open("wb") as copy:
                    shutil.copyfileobj(content, copy)
            except ArtifactNotFound:
                return {}
            except Exception as error:
                reason = " ".join(str(error).split())
                raise StorageError(f"{what} could not be read ({reason})") from error
            return read_arrays(file, what)
