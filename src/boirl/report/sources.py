"""What a report is of: a saved result, or a study that may still be running. Both are only read."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import optuna

from boirl.errors import BoirlError, InvalidInputError, StorageError
from boirl.priors import prior_from_facts
from boirl.problem import Problem
from boirl.problem.sources import rebuild
from boirl.results import Result, RewardSet, load_result, result_file
from boirl.search.growth import build_growth
from boirl.search.passwords import hide_password
from boirl.search.records import EvaluationRecords, artifact_folder, is_finished
from boirl.search.settings import SearchSettings
from boirl.search.storage import storage_errors
from boirl.search.study import PRIOR, PROBLEM, RECIPE, SETTINGS

DATABASES = (".db", ".sqlite", ".sqlite3")

BuildProblem = Callable[[], Problem[Any]]


class Source(ABC):
    """A result that may grow.

    Attributes:
        name: For messages.
    """

    name: str

    @abstractmethod
    def version(self) -> int:
        """Changes when there is more to see."""

    @abstractmethod
    def result(self) -> Result:
        """What there is now.

        Raises:
            BoirlError: There is nothing yet.
        """


class FileSource(Source):
    """A file that `Result.save` wrote."""

    def __init__(self, path: Path, build: BuildProblem | None = None) -> None:
        self.path = path
        self.name = str(path)
        self.build = build

    def version(self) -> int:
        try:
            return os.stat(self.path).st_mtime_ns
        except FileNotFoundError:
            return 0

    def result(self) -> Result:
        return load_result(self.path, None if self.build is None else self.build())


class StudySource(Source):
    """A study in a database.

    Args:
        storage: Its address.
        study: Name of the study; may be left out where there is one alone.
        build: Makes the problem; by default the study knows how, if that came by name.
    """

    def __init__(
        self, storage: str, study: str | None = None, build: BuildProblem | None = None
    ) -> None:
        self.storage = storage
        self.name = hide_password(storage)
        _check_exists(storage, self.name)
        with storage_errors(storage):
            names = optuna.get_all_study_names(storage)
            if study is None and len(names) != 1:
                raise InvalidInputError(
                    f"{self.name} holds {len(names)} studies ({', '.join(names) or 'none'}); name "
                    "one with --study"
                )
            if study is not None and study not in names:
                raise InvalidInputError(
                    f"there is no study {study!r} in {self.name}; expected one of "
                    f"{', '.join(names) or 'none: nothing was run there'}"
                )
            self.study = optuna.load_study(study_name=study or names[0], storage=storage)
            attributes = self.study.user_attrs
        if SETTINGS not in attributes:
            raise InvalidInputError(
                f"study {self.study.study_name!r} in {self.name} was not made by boirl; expected "
                "one that `boirl run --storage` or boirl.Study made"
            )
        self.problem = self._problem(attributes, build)
        self.records = EvaluationRecords(self.problem.box, artifact_folder(storage))
        facts = attributes[SETTINGS]
        self.settings = SearchSettings(**{**facts, "drop": tuple(facts["drop"])})
        self.prior = prior_from_facts(attributes.get(PRIOR, {"kind": "uniform"}))
        surrogate = self.settings.build_surrogate(self.problem)
        self._grow = build_growth(self.problem, surrogate, self.settings)
        self._surrogate = surrogate

    def _problem(self, attributes: dict[str, Any], build: BuildProblem | None) -> Problem[Any]:
        recipe = attributes.get(RECIPE)
        problem = rebuild(recipe) if build is None else build()
        if problem is None:
            used = "" if recipe is None else f", such as --problem {recipe['name']}"
            raise InvalidInputError(
                f"study {self.study.study_name!r} in {self.name} does not carry its problem; name "
                f"it with --problem{used}"
            )
        if problem.fingerprint() != attributes[PROBLEM]:
            raise InvalidInputError(
                f"study {self.study.study_name!r} in {self.name} is of another problem than "
                f"{problem.name!r}: demonstrations, dynamics, reward family or solver differ; name "
                "the one that it was run with by --problem"
            )
        return problem

    def version(self) -> int:
        return len(self._finished())

    def _finished(self) -> list[Any]:
        with storage_errors(self.storage):
            trials = self.study.get_trials(deepcopy=False)
        return [trial for trial in trials if is_finished(trial, self.problem.box)]

    def result(self) -> Result:
        with storage_errors(self.storage):
            evaluations = tuple(self.records.read(trial) for trial in self._finished())
        if not any(one.ok for one in evaluations):
            raise BoirlError(
                f"none of {len(evaluations)} evaluations in {self.name} succeeded yet; wait for "
                "the first one"
            )
        surrogate = self._surrogate if self._grow is None else self._grow(evaluations)
        settings = asdict(self.settings)
        return RewardSet(self.problem, evaluations, surrogate, settings, self.prior)


def open_source(given: str, study: str | None = None, build: BuildProblem | None = None) -> Source:
    """What a person names: a result file, a folder with one, a database or its address.

    Args:
        given: Such as `results/rewards.npz`, `results`, `search.db` or `sqlite:///search.db`.
        study: Name of the study within a database.
        build: Makes the problem, where neither a file nor a study knows it.
    """
    if "://" in given:
        return StudySource(given, study, build)
    path = Path(given)
    if path.suffix in DATABASES:
        return StudySource(f"sqlite:///{path}", study, build)
    if not path.exists():
        raise StorageError(
            f"there is no {str(path)!r}; expected a file or a folder that `boirl run --out` wrote, "
            "or a database such as sqlite:///search.db"
        )
    return FileSource(result_file(path), build)


def _check_exists(storage: str, name: str) -> None:
    """Opening an SQLite database that is not there would create it."""
    file = storage.partition(":///")[2]
    if storage.startswith("sqlite:") and not Path(file).is_file():
        raise StorageError(
            f"there is no database {name}; expected one that `boirl run --storage` wrote"
        )
