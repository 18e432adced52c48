"""Transactions on the storage of an Optuna study: one writer at a time, all or nothing.

For databases, in the tables of Optuna, so that its tools and its dashboard find everything where
they expect it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Protocol

import optuna
from optuna.distributions import BaseDistribution, distribution_to_json
from optuna.storages import RDBStorage
from optuna.storages._rdb.storage import _create_scoped_session, models
from optuna.trial import TrialState
from sqlalchemy import delete, func, insert, or_, select, text, update
from sqlalchemy.orm import Session

CLOCKS = {
    "postgresql": "SELECT EXTRACT(EPOCH FROM clock_timestamp())",
    "mysql": "SELECT UNIX_TIMESTAMP(NOW(6))",
    "mariadb": "SELECT UNIX_TIMESTAMP(NOW(6))",
}
"""How a server is asked for the time. Machines that share a file go by their own clocks."""


class Transaction(Protocol):
    """What can be read and written while nobody else writes to the study."""

    def study_attributes(self) -> dict[str, Any]: ...
    def set_study_attribute(self, key: str, value: Any) -> None: ...
    def n_finished(self) -> int: ...
    def params(self, of: Collection[int], after: int) -> dict[int, dict[str, float]]:
        """Parameters of some trials and of all with later ids, by id, where they have any."""
        ...

    def state(self, trial_id: int) -> TrialState: ...
    def attribute(self, trial_id: int, key: str) -> Any: ...
    def set_attributes(self, trial_id: int, attributes: Mapping[str, Any]) -> None: ...
    def set_system_attributes(self, trial_id: int, attributes: Mapping[str, Any]) -> None: ...
    def set_params(
        self, trial_id: int, params: Mapping[str, float], space: Mapping[str, BaseDistribution]
    ) -> None: ...
    def end(self, trial_id: int, value: float | None) -> None:
        """Complete a trial with its value, or (None) as failed; the last thing that is done."""
        ...


class SqlTransactions:
    """Transactions on a database."""

    def __init__(self, study: optuna.Study, backend: RDBStorage) -> None:
        self._study_id = study._study_id
        self._backend = backend
        self.clock = self._now if backend.engine.dialect.name in CLOCKS else None

    @contextmanager
    def begin(self, durable: bool) -> Iterator[Transaction]:
        with _create_scoped_session(self._backend.scoped_session) as session:
            if self._backend.engine.dialect.name == "sqlite":
                # Whether the disk is waited for. A process that dies loses nothing either way.
                session.execute(text(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}"))
            # Writing first locks the whole file for SQLite, and the row of the study elsewhere.
            session.execute(
                update(models.StudyModel)
                .where(models.StudyModel.study_id == self._study_id)
                .values(study_name=models.StudyModel.study_name)
            )
            yield _SqlTransaction(session, self._backend, self._study_id)

    def _now(self) -> float:
        with _create_scoped_session(self._backend.scoped_session) as session:
            query = text(CLOCKS[self._backend.engine.dialect.name])
            return float(session.execute(query).scalar_one())


class _SqlTransaction:
    def __init__(self, session: Session, backend: RDBStorage, study_id: int) -> None:
        self._session = session
        self._backend = backend
        self._study_id = study_id

    def study_attributes(self) -> dict[str, Any]:
        model = models.StudyUserAttributeModel
        query = select(model.key, model.value_json).where(model.study_id == self._study_id)
        return {key: json.loads(value) for key, value in self._session.execute(query)}

    def set_study_attribute(self, key: str, value: Any) -> None:
        row = models.StudyUserAttributeModel(
            study_id=self._study_id, key=key, value_json=json.dumps(value)
        )
        self._session.add(row)

    def n_finished(self) -> int:
        trial = models.TrialModel
        query = select(func.count(trial.trial_id)).where(
            trial.study_id == self._study_id,
            trial.state.in_((TrialState.COMPLETE, TrialState.FAIL)),
        )
        return int(self._session.execute(query).scalar_one())

    def params(self, of: Collection[int], after: int) -> dict[int, dict[str, float]]:
        trial, param = models.TrialModel, models.TrialParamModel
        query = (
            select(param.trial_id, param.param_name, param.param_value)
            .join(trial, trial.trial_id == param.trial_id)
            .where(trial.study_id == self._study_id)
            .where(or_(trial.trial_id.in_(of), trial.trial_id > after))
        )
        found: dict[int, dict[str, float]] = {}
        for trial_id, name, value in self._session.execute(query):
            found.setdefault(trial_id, {})[name] = value
        return found

    def state(self, trial_id: int) -> TrialState:
        model = models.TrialModel
        query = select(model.state).where(model.trial_id == trial_id).with_for_update()
        return self._session.execute(query).scalar_one()

    def attribute(self, trial_id: int, key: str) -> Any:
        model = models.TrialUserAttributeModel
        query = select(model.value_json).where(model.trial_id == trial_id, model.key == key)
        found = self._session.execute(query).scalar_one_or_none()
        return None if found is None else json.loads(found)

    def set_attributes(self, trial_id: int, attributes: Mapping[str, Any]) -> None:
        self._replace(models.TrialUserAttributeModel, trial_id, attributes)

    def set_system_attributes(self, trial_id: int, attributes: Mapping[str, Any]) -> None:
        self._replace(models.TrialSystemAttributeModel, trial_id, attributes)

    def _replace(self, model: Any, trial_id: int, attributes: Mapping[str, Any]) -> None:
        """Write attributes of a trial, all with two statements."""
        if not attributes:
            return
        old = delete(model).where(model.trial_id == trial_id, model.key.in_(attributes))
        self._session.execute(old)
        rows = [
            {"trial_id": trial_id, "key": key, "value_json": json.dumps(value)}
            for key, value in attributes.items()
        ]
        self._session.execute(insert(model), rows)

    def set_params(
        self, trial_id: int, params: Mapping[str, float], space: Mapping[str, BaseDistribution]
    ) -> None:
        rows = [
            {
                "trial_id": trial_id,
                "param_name": name,
                "param_value": space[name].to_internal_repr(value),
                "distribution_json": distribution_to_json(space[name]),
            }
            for name, value in params.items()
        ]
        model = models.TrialParamModel
        self._session.execute(delete(model).where(model.trial_id == trial_id))
        self._session.execute(insert(model), rows)

    def end(self, trial_id: int, value: float | None) -> None:
        trial = models.TrialModel.find_or_raise_by_id(trial_id, self._session)
        if value is not None:
            self._backend._set_trial_value_without_commit(self._session, trial, 0, value)
        trial.state = TrialState.FAIL if value is None else TrialState.COMPLETE
        trial.datetime_complete = datetime.now()


class MemoryTransactions:
    """Transactions on a study in the memory of this process."""

    clock = None

    def __init__(self, study: optuna.Study) -> None:
        self._study = study
        self._lock = threading.Lock()

    @contextmanager
    def begin(self, durable: bool) -> Iterator[Transaction]:
        with self._lock:
            yield _MemoryTransaction(self._study)


class _MemoryTransaction:
    def __init__(self, study: optuna.Study) -> None:
        self._study = study
        self._storage = study._storage

    def study_attributes(self) -> dict[str, Any]:
        return self._storage.get_study_user_attrs(self._study._study_id)

    def set_study_attribute(self, key: str, value: Any) -> None:
        self._storage.set_study_user_attr(self._study._study_id, key, value)

    def n_finished(self) -> int:
        states = (TrialState.COMPLETE, TrialState.FAIL)
        return len(self._study.get_trials(deepcopy=False, states=states))

    def params(self, of: Collection[int], after: int) -> dict[int, dict[str, float]]:
        return {
            trial._trial_id: trial.params
            for trial in self._study.get_trials(deepcopy=False)
            if trial.params and (trial._trial_id in of or trial._trial_id > after)
        }

    def state(self, trial_id: int) -> TrialState:
        return self._storage.get_trial(trial_id).state

    def attribute(self, trial_id: int, key: str) -> Any:
        return self._storage.get_trial(trial_id).user_attrs.get(key)

    def set_attributes(self, trial_id: int, attributes: Mapping[str, Any]) -> None:
        for key, value in attributes.items():
            self._storage.set_trial_user_attr(trial_id, key, value)

    def set_system_attributes(self, trial_id: int, attributes: Mapping[str, Any]) -> None:
        for key, value in attributes.items():
            self._storage.set_trial_system_attr(trial_id, key, value)

    def set_params(
        self, trial_id: int, params: Mapping[str, float], space: Mapping[str, BaseDistribution]
    ) -> None:
        for name, value in params.items():
            stored = space[name].to_internal_repr(value)
            self._storage.set_trial_param(trial_id, name, stored, space[name])

    def end(self, trial_id: int, value: float | None) -> None:
        state = TrialState.FAIL if value is None else TrialState.COMPLETE
        self._storage.set_trial_state_values(trial_id, state, None if value is None else [value])
