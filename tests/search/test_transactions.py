"""All or nothing, one writer at a time: in memory and in a database alike."""

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState

from boirl.search.sql_transactions import SqlTransactions
from boirl.search.storage import open_study
from boirl.search.transactions import MemoryTransactions

SPACE = {"first": FloatDistribution(0.0, 1.0), "second": FloatDistribution(0.0, 1.0)}


@pytest.fixture(params=["memory", "sqlite"])
def study(request, tmp_path):
    return open_study(None if request.param == "memory" else f"sqlite:///{tmp_path}/a.db", "one")


@pytest.fixture
def transactions(study):
    backend = getattr(study._storage, "_backend", None)
    return MemoryTransactions(study) if backend is None else SqlTransactions(study, backend)


def new_trial(study: optuna.Study) -> int:
    return study._storage.create_new_trial(study._study_id)


def test_what_is_written_is_what_optuna_reads(study, transactions):
    trial_id = new_trial(study)
    with transactions.begin(durable=False) as transaction:
        assert transaction.params([trial_id], 99) == {}
        transaction.set_params(trial_id, {"first": 0.25, "second": 0.75}, SPACE)
        transaction.set_attributes(trial_id, {"colour": "red"})
        transaction.set_system_attributes(trial_id, {"size": [1, 2]})
        transaction.set_study_attribute("owner", {"name": "me"})
    with transactions.begin(durable=False) as transaction:
        assert transaction.state(trial_id) == TrialState.RUNNING
        assert transaction.attribute(trial_id, "colour") == "red"
        assert transaction.attribute(trial_id, "weight") is None
        theta = {"first": 0.25, "second": 0.75}
        assert transaction.params([trial_id], 99) == {trial_id: theta}
        assert transaction.params([], trial_id - 1) == {trial_id: theta}
        assert transaction.params([], trial_id) == {}
        assert transaction.study_attributes() == {"owner": {"name": "me"}}
        assert transaction.n_finished() == 0
        transaction.end(trial_id, 3.5)
    (trial,) = study.trials
    assert (trial.state, trial.value) == (TrialState.COMPLETE, 3.5)
    assert trial.params == {"first": 0.25, "second": 0.75}
    assert trial.user_attrs == {"colour": "red"}
    assert trial.system_attrs == {"size": [1, 2]}
    assert trial.datetime_complete is not None
    assert study.user_attrs == {"owner": {"name": "me"}}


def test_a_failed_trial_has_no_value(study, transactions):
    trial_id = new_trial(study)
    with transactions.begin(durable=False) as transaction:
        transaction.end(trial_id, None)
        assert transaction.n_finished() == 1
    assert (study.trials[0].state, study.trials[0].value) == (TrialState.FAIL, None)


def test_a_transaction_that_breaks_off_leaves_no_trace_in_a_database(tmp_path):
    study = open_study(f"sqlite:///{tmp_path}/a.db", "one")
    transactions = SqlTransactions(study, study._storage._backend)  # type: ignore[attr-defined]
    trial_id = new_trial(study)

    def break_off() -> None:
        with transactions.begin(durable=False) as transaction:
            transaction.set_params(trial_id, {"first": 0.25}, SPACE)
            transaction.set_attributes(trial_id, {"colour": "red"})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    (trial,) = study.trials
    assert (trial.params, trial.user_attrs) == ({}, {})


def test_a_trial_that_is_created_is_as_one_of_optuna(study, transactions):
    first = new_trial(study)
    with transactions.begin(durable=False) as transaction:
        assert transaction.n_after(first) == 0
        trial_id, number = transaction.create({"colour": "red"})
        assert transaction.n_after(first) == 1
    old, new = study.trials
    assert (number, trial_id) == (new.number, new._trial_id) == (1, new._trial_id)
    assert (new.state, new.user_attrs) == (TrialState.RUNNING, {"colour": "red"})
    assert abs((new.datetime_start - old.datetime_start).total_seconds()) < 60.0
    with transactions.begin(durable=False) as transaction:
        transaction.end(trial_id, 1.0)
    study.tell(0, 2.0)
    assert [one.value for one in study.trials] == [2.0, 1.0]
    assert all(0.0 <= one.duration.total_seconds() < 60.0 for one in study.trials)
