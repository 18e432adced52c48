"""What a study reads from its storage and writes to it; each write counts whole or not at all.

Optuna writes attributes, parameters and the state of a trial one after the other, and on SQLite it
lets two processes finish one trial. Several processes on several machines need more: each function
here is one transaction, and of two processes that want the same thing, one gets it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import optuna
from optuna.distributions import BaseDistribution
from optuna.storages import InMemoryStorage, RDBStorage
from optuna.trial import FrozenTrial, TrialState

from boirl.search.damage import refused_if_unreadable
from boirl.search.patience import is_lost_server, keep_trying
from boirl.search.sql_transactions import SqlTransactions
from boirl.search.storage import storage_errors
from boirl.search.transactions import MemoryTransactions, Transaction

TOLD = "boirl:told"
"""Attribute of a finished evaluation: how many were finished before it."""

T = TypeVar("T")


class StudyDatabase:
    """The trials of one Optuna study, and its attributes.

    Lost connections are waited for, see `boirl.search.patience`. A write of which it is not known
    whether it arrived is repeated, which changes nothing if it did. What cannot be read or written
    in the end is a `StorageError`.

    Args:
        study: Of Optuna.
        address: Where it is kept, for messages; None for memory.
    """

    def __init__(self, study: optuna.Study, address: str | None) -> None:
        self.study = study
        self.address = address
        self._patience: float | None = None
        backend = getattr(study._storage, "_backend", None)
        self._transactions: SqlTransactions | MemoryTransactions = (
            SqlTransactions(study, backend)
            if isinstance(backend, RDBStorage)
            else MemoryTransactions(study)
        )

    @property
    def is_shared(self) -> bool:
        """Whether other processes may use the same storage."""
        return not isinstance(self.study._storage, InMemoryStorage)

    def trials(self, states: Sequence[TrialState] | None = None) -> list[FrozenTrial]:
        """All trials in the order of their numbers, or those in some states; not to be changed."""
        with refused_if_unreadable(self.address):
            return self._patiently(lambda: self.study.get_trials(deepcopy=False, states=states))

    def now(self) -> float:
        """Seconds by the clock that everybody who uses this storage shares."""
        clock = self._transactions.clock
        return time.time() if clock is None else self._patiently(clock)

    def attribute(self, key: str) -> Any:
        """An attribute of the study; None where it has none."""
        with refused_if_unreadable(self.address):
            return self._patiently(lambda: self.study.user_attrs.get(key))

    def check_readable(self) -> None:
        """Refuse a study whose attributes are damaged."""
        self.attribute("")

    def record(self, key: str, value: Any) -> Any:
        """Give the study an attribute where it has none; returns the one it has afterwards."""

        def record(transaction: Transaction) -> Any:
            stored = transaction.study_attributes()
            if key not in stored:
                transaction.set_study_attribute(key, value)
            return stored.get(key, value)

        # What is there already is read without writing anything.
        known = self.attribute(key)
        return self._within(record, durable=True) if known is None else known

    def create(self, attributes: Mapping[str, Any]) -> int:
        """The id of a new running trial that has attributes from the start."""
        trial_id, _ = self._within(lambda transaction: transaction.create(attributes))
        return trial_id

    def create_within(
        self, attributes: Mapping[str, Any], known: Sequence[FrozenTrial], room: float
    ) -> tuple[int, int] | None:
        """Id and number of a new running trial that has attributes from the start.

        Args:
            attributes: Of the trial.
            known: All trials when there was room for some more.
            room: For how many.

        Returns:
            None, with nothing changed, where others may have taken that room since.
        """
        latest = _latest(known)

        def create(transaction: Transaction) -> tuple[int, int] | None:
            if transaction.n_after(latest) >= room:
                return None
            return transaction.create(attributes)

        return self._within(create)

    def add(self, template: FrozenTrial) -> int:
        """The id of a new trial with everything that another one has, but for its number."""
        storage, study = self.study._storage, self.study._study_id
        return self._patiently(lambda: storage.create_new_trial(study, template_trial=template))

    def replace(self, trial_id: int, key: str, old: Any, new: Any) -> bool:
        """Replace an attribute of a running trial; False where it is no longer the old one."""
        return self.change(trial_id, key, lambda stored: new if stored in (old, new) else None)

    def change(self, trial_id: int, key: str, new_for: Callable[[Any], Any]) -> bool:
        """Change an attribute of a running trial.

        Args:
            trial_id: Of the trial.
            key: Of the attribute.
            new_for: From what is stored to what is to be, the same if done twice; None to leave it.

        Returns:
            False, with nothing changed, where the trial has ended or is to be left as it is.
        """

        def change(transaction: Transaction) -> bool:
            if transaction.state(trial_id) != TrialState.RUNNING:
                return False
            new = new_for(transaction.attribute(trial_id, key))
            if new is None:
                return False
            transaction.set_attributes(trial_id, {key: new})
            return True

        return self._within(change)

    def propose(
        self,
        trial_id: int,
        params: Mapping[str, float],
        space: Mapping[str, BaseDistribution],
        attributes: Mapping[str, Any],
        is_taken: Callable[[Mapping[str, float]], bool] | None = None,
        known: Sequence[FrozenTrial] = (),
    ) -> bool:
        """Give a running trial its parameters and system attributes, all at once.

        Args:
            trial_id: Without parameters so far.
            params: The theta, by name.
            space: The bounds, by name.
            attributes: Of the proposal.
            is_taken: Whether the parameters of another trial are the same theta; None where that
                does not matter.
            known: The trials that the proposal follows from; others may have got theirs since.

        Returns:
            False, with nothing changed, where another trial has that theta that is running, or was
            when the proposal was made.
        """
        open_then = {one._trial_id for one in known if one.state == TrialState.RUNNING} | {trial_id}
        latest = _latest(known)

        def propose(transaction: Transaction) -> bool:
            since = transaction.params(open_then, latest)
            others = [one for other, one in since.items() if other != trial_id]
            if is_taken is not None and any(map(is_taken, others)):
                return False
            if len(since.get(trial_id, {})) < len(params):
                transaction.set_params(trial_id, params, space)
                transaction.set_system_attributes(trial_id, attributes)
            return True

        return self._within(propose)

    def finish(
        self,
        trial_id: int,
        nll: float | None,
        attributes: Mapping[str, Any],
        system_attributes: Mapping[str, Any],
    ) -> bool:
        """End a running trial, with its NLL or (None) as failed, and with attributes.

        Returns:
            False, with nothing changed, where it has ended already.
        """

        def finish(transaction: Transaction) -> bool:
            if transaction.state(trial_id) != TrialState.RUNNING:
                return False
            order = {TOLD: transaction.n_finished()}
            transaction.set_attributes(trial_id, {**attributes, **order})
            transaction.set_system_attributes(trial_id, system_attributes)
            transaction.end(trial_id, nll)
            return True

        return self._within(finish, durable=True)

    def _within(self, work: Callable[[Transaction], T], durable: bool = False) -> T:
        """Do some work in one transaction.

        Args:
            work: What to do.
            durable: Whether it must survive a loss of power.
        """
        begin: Callable[[bool], AbstractContextManager[Transaction]] = self._transactions.begin

        def whole() -> T:
            with begin(durable) as transaction:
                return work(transaction)

        return self._patiently(whole)

    @contextmanager
    def without_patience(self) -> Iterator[None]:
        """Inside, a server that is away is not waited for: somebody wants to stop."""
        before, self._patience = self._patience, 0.0
        try:
            yield
        finally:
            self._patience = before

    def _patiently(self, operation: Callable[[], T]) -> T:
        with storage_errors(self.address):
            return keep_trying(operation, is_lost_server, self._patience)


def _latest(trials: Sequence[FrozenTrial]) -> int:
    """The largest id of some trials."""
    return max((trial._trial_id for trial in trials), default=-1)
