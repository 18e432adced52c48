"""Transactions in the tables of Optuna."""

import optuna
import pytest
from optuna.trial import TrialState

from boirl.search.sql_transactions import SqlTransactions


@pytest.fixture
def study(tmp_path):
    return optuna.create_study(storage=f"sqlite:///{tmp_path / 'study.db'}")


@pytest.fixture
def transactions(study):
    backend = getattr(study._storage, "_backend", study._storage)
    return SqlTransactions(study, backend)


def test_a_new_trial_runs_and_has_its_attributes(study, transactions):
    with transactions.begin(True) as transaction:
        first = transaction.create({"owner": "me"})
        second = transaction.create({})
        assert transaction.n_after(first[0]) == 1
    assert (first[1], second[1]) == (0, 1)
    one, other = study.get_trials()
    assert (one.state, one.user_attrs) == (TrialState.RUNNING, {"owner": "me"})
    assert (one._trial_id, other._trial_id) == (first[0], second[0])
    assert one.datetime_start is not None


def test_what_fails_leaves_nothing_behind(study, transactions):
    def create_and_fail():
        with transactions.begin(True) as transaction:
            transaction.create({})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        create_and_fail()
    assert study.get_trials() == []
