"""Transactions on a database, in the tables of Optuna.

Its tools and its dashboard find everything where they expect it. Statements are made once, since
making one takes longer than carrying it out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, distribution_to_json
from optuna.storages import RDBStorage
from optuna.storages._rdb import models
from optuna.trial import TrialState
from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, text, update
from sqlalchemy import inspect as inspect_model

from boirl.search.transactions import Transaction

CLOCKS = {
    "postgresql": "SELECT EXTRACT(EPOCH FROM clock_timestamp())",
    "mysql": "SELECT UNIX_TIMESTAMP(NOW(6))",
    "mariadb": "SELECT UNIX_TIMESTAMP(NOW(6))",
}
"""How a server is asked for the time. Machines that share a file go by their own clocks."""

_STUDIES: Any = models.StudyModel.__table__
_STUDY_ATTRIBUTES: Any = models.StudyUserAttributeModel.__table__
_TRIALS: Any = models.TrialModel.__table__
_PARAMS: Any = models.TrialParamModel.__table__
_VALUES: Any = models.TrialValueModel.__table__
_ATTRIBUTES: Any = models.TrialUserAttributeModel.__table__
_SYSTEM_ATTRIBUTES: Any = models.TrialSystemAttributeModel.__table__

_STUDY: Any = bindparam("of_study")
_TRIAL: Any = bindparam("of_trial")
_IN_STUDY = _TRIALS.c.study_id == _STUDY

# Writing first locks the whole file for SQLite, and the row of the study elsewhere.
_LOCK = (
    update(_STUDIES).where(_STUDIES.c.study_id == _STUDY).values(study_name=_STUDIES.c.study_name)
)
_STUDY_ATTRIBUTES_OF = select(_STUDY_ATTRIBUTES.c.key, _STUDY_ATTRIBUTES.c.value_json).where(
    _STUDY_ATTRIBUTES.c.study_id == _STUDY
)
_COUNT = select(func.count(_TRIALS.c.trial_id)).where(_IN_STUDY)
_COUNT_FINISHED = _COUNT.where(_TRIALS.c.state.in_((TrialState.COMPLETE, TrialState.FAIL)))
_COUNT_AFTER = _COUNT.where(_TRIALS.c.trial_id > _TRIAL)
_PARAMS_OF = (
    select(_PARAMS.c.trial_id, _PARAMS.c.param_name, _PARAMS.c.param_value)
    .join(_TRIALS, _TRIALS.c.trial_id == _PARAMS.c.trial_id)
    .where(_IN_STUDY)
    .where(
        or_(
            _TRIALS.c.trial_id.in_(bindparam("of_trials", expanding=True)),
            _TRIALS.c.trial_id > _TRIAL,
        )
    )
)
_STATE_OF = select(_TRIALS.c.state).where(_TRIALS.c.trial_id == _TRIAL).with_for_update()
_ATTRIBUTE_OF = select(_ATTRIBUTES.c.value_json).where(
    _ATTRIBUTES.c.trial_id == _TRIAL, _ATTRIBUTES.c.key == bindparam("of_key")
)
_DELETE_PARAMS = delete(_PARAMS).where(_PARAMS.c.trial_id == _TRIAL)
_DELETE_VALUES = delete(_VALUES).where(_VALUES.c.trial_id == _TRIAL)
_DELETE_ATTRIBUTES = {
    table: delete(table).where(
        table.c.trial_id == _TRIAL, table.c.key.in_(bindparam("of_keys", expanding=True))
    )
    for table in (_ATTRIBUTES, _SYSTEM_ATTRIBUTES)
}
_END = (
    update(_TRIALS)
    .where(_TRIALS.c.trial_id == _TRIAL)
    .values(state=bindparam("new_state"), datetime_complete=bindparam("ended"))
)
_INSERT = {
    table: insert(table)
    for table in (_TRIALS, _PARAMS, _VALUES, _ATTRIBUTES, _SYSTEM_ATTRIBUTES, _STUDY_ATTRIBUTES)
}
_BEGINNING = inspect_model(models.TrialModel).get_property_by_column(_TRIALS.c.datetime_start).key


def _now_as_stored() -> Any:
    """The time as this version of Optuna stores it, which older ones do by another clock."""
    return getattr(models.TrialModel(datetime_start=datetime.now()), _BEGINNING)


class SqlTransactions:
    """Transactions on a database."""

    def __init__(self, study: optuna.Study, backend: RDBStorage) -> None:
        self._study_id = study._study_id
        self._engine = backend.engine
        self._is_file = backend.engine.dialect.name == "sqlite"
        self.clock = self._now if backend.engine.dialect.name in CLOCKS else None

    @contextmanager
    def begin(self, durable: bool) -> Iterator[Transaction]:
        with self._engine.begin() as connection:
            if self._is_file:
                # Whether the disk is waited for. A process that dies loses nothing either way.
                setting = f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}"
                connection.connection.cursor().execute(setting)
            connection.execute(_LOCK, {"of_study": self._study_id})
            yield _SqlTransaction(connection, self._study_id)

    def _now(self) -> float:
        with self._engine.begin() as connection:
            query = text(CLOCKS[self._engine.dialect.name])
            return float(connection.execute(query).scalar_one())


class _SqlTransaction:
    def __init__(self, connection: Connection, study_id: int) -> None:
        self._connection = connection
        self._of_study = {"of_study": study_id}

    def study_attributes(self) -> dict[str, Any]:
        rows = self._connection.execute(_STUDY_ATTRIBUTES_OF, self._of_study)
        return {key: json.loads(value) for key, value in rows}

    def set_study_attribute(self, key: str, value: Any) -> None:
        row = {"study_id": self._of_study["of_study"], "key": key, "value_json": json.dumps(value)}
        self._connection.execute(_INSERT[_STUDY_ATTRIBUTES], row)

    def n_finished(self) -> int:
        return int(self._connection.execute(_COUNT_FINISHED, self._of_study).scalar_one())

    def n_after(self, trial_id: int) -> int:
        of = {**self._of_study, "of_trial": trial_id}
        return int(self._connection.execute(_COUNT_AFTER, of).scalar_one())

    def create(self, attributes: Mapping[str, Any]) -> tuple[int, int]:
        row = {
            "study_id": self._of_study["of_study"],
            "number": int(self._connection.execute(_COUNT, self._of_study).scalar_one()),
            "state": TrialState.RUNNING,
            "datetime_start": _now_as_stored(),
        }
        made = self._connection.execute(_INSERT[_TRIALS], row).inserted_primary_key
        assert made is not None
        self.set_attributes(made[0], attributes)
        return int(made[0]), int(row["number"])

    def params(self, of: Collection[int], after: int) -> dict[int, dict[str, float]]:
        given = {**self._of_study, "of_trials": list(of), "of_trial": after}
        found: dict[int, dict[str, float]] = {}
        for trial_id, name, value in self._connection.execute(_PARAMS_OF, given):
            found.setdefault(trial_id, {})[name] = value
        return found

    def state(self, trial_id: int) -> TrialState:
        found: TrialState = self._connection.execute(_STATE_OF, {"of_trial": trial_id}).scalar_one()
        return found

    def attribute(self, trial_id: int, key: str) -> Any:
        given = {"of_trial": trial_id, "of_key": key}
        found = self._connection.execute(_ATTRIBUTE_OF, given).scalar_one_or_none()
        return None if found is None else json.loads(found)

    def set_attributes(self, trial_id: int, attributes: Mapping[str, Any]) -> None:
        self._replace(_ATTRIBUTES, trial_id, attributes)

    def set_system_attributes(self, trial_id: int, attributes: Mapping[str, Any]) -> None:
        self._replace(_SYSTEM_ATTRIBUTES, trial_id, attributes)

    def _replace(self, table: Any, trial_id: int, attributes: Mapping[str, Any]) -> None:
        """Write attributes of a trial, all with two statements."""
        if not attributes:
            return
        old = {"of_trial": trial_id, "of_keys": list(attributes)}
        self._connection.execute(_DELETE_ATTRIBUTES[table], old)
        rows = [
            {"trial_id": trial_id, "key": key, "value_json": json.dumps(value)}
            for key, value in attributes.items()
        ]
        self._connection.execute(_INSERT[table], rows)

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
        self._connection.execute(_DELETE_PARAMS, {"of_trial": trial_id})
        self._connection.execute(_INSERT[_PARAMS], rows)

    def end(self, trial_id: int, value: float | None) -> None:
        if value is not None:
            stored, kind = models.TrialValueModel.value_to_stored_repr(value)
            row = {"trial_id": trial_id, "objective": 0, "value": stored, "value_type": kind}
            self._connection.execute(_DELETE_VALUES, {"of_trial": trial_id})
            self._connection.execute(_INSERT[_VALUES], row)
        state = TrialState.FAIL if value is None else TrialState.COMPLETE
        new = {"of_trial": trial_id, "new_state": state, "ended": _now_as_stored()}
        self._connection.execute(_END, new)
