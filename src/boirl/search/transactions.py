"""Transactions on the storage of an Optuna study: one writer at a time, all or nothing.

For studies in memory here, for databases in `boirl.search.sql_transactions`.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Protocol

import optuna
from optuna.distributions import BaseDistribution
from optuna.trial import TrialState


class Transaction(Protocol):
    """What can be read and written while nobody else writes to the study."""

    def study_attributes(self) -> dict[str, Any]: ...
    def set_study_attribute(self, key: str, value: Any) -> None: ...
    def n_finished(self) -> int: ...
    def n_after(self, trial_id: int) -> int:
        """Trials of the study with later ids."""
        ...

    def create(self, attributes: Mapping[str, Any]) -> tuple[int, int]:
        """Id and number of a new running trial that has attributes from the start."""
        ...

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

    def n_after(self, trial_id: int) -> int:
        return sum(one._trial_id > trial_id for one in self._study.get_trials(deepcopy=False))

    def create(self, attributes: Mapping[str, Any]) -> tuple[int, int]:
        template = optuna.trial.create_trial(state=TrialState.RUNNING, user_attrs=dict(attributes))
        template.datetime_start = datetime.now()
        trial_id = self._storage.create_new_trial(self._study._study_id, template)
        return trial_id, self._storage.get_trial_number_from_id(trial_id)

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
