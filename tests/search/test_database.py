"""Of several processes that want the same thing, one gets it."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState
from sqlalchemy.exc import OperationalError

from boirl.errors import BoirlWarning, StorageError
from boirl.search import patience
from boirl.search.database import TOLD, StudyDatabase
from boirl.search.storage import open_study

SPACE = {"first": FloatDistribution(0.0, 1.0)}


@pytest.fixture(params=["memory", "sqlite"])
def database(request, tmp_path):
    address = None if request.param == "memory" else f"sqlite:///{tmp_path}/a.db"
    return StudyDatabase(open_study(address, "one"), address)


def at_once(work, count=8):
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(lambda _: work(), range(count)))


def never(params):
    return False


def test_the_first_record_of_an_attribute_stays(database):
    numbers = iter(range(8))
    seen = at_once(lambda: database.record("seed", next(numbers)))
    assert len(set(seen)) == 1
    assert database.attribute("seed") == seen[0]
    assert database.attribute("colour") is None


def test_one_of_many_ends_a_trial_and_its_attributes_are_of_the_same(database):
    trial_id = database.create({"owner": "me"})
    numbers = iter(range(8))

    def finish():
        number = next(numbers)
        return number, database.finish(trial_id, float(number), {"who": number}, {})

    won = [number for number, counts in at_once(finish) if counts]
    assert len(won) == 1
    (ended,) = database.trials((TrialState.COMPLETE,))
    assert (ended.value, ended.user_attrs["who"]) == (float(won[0]), won[0])
    assert ended.user_attrs["owner"] == "me"


def test_the_order_in_which_evaluations_end_is_kept(database):
    trials = [database.create({}) for _ in range(4)]
    for number in (2, 0, 3, 1):
        database.finish(trials[number], None if number == 3 else 1.0, {}, {})
    assert [trial.user_attrs[TOLD] for trial in database.trials()] == [1, 3, 0, 2]


def test_one_of_many_replaces_an_attribute(database):
    trial_id = database.create({"owner": "nobody"})
    numbers = iter(range(8))
    replaced = at_once(
        lambda: database.replace(trial_id, "owner", "nobody", f"owner {next(numbers)}")
    )
    assert sum(replaced) == 1
    database.finish(trial_id, 1.0, {}, {})
    kept = database.trials()[0].user_attrs["owner"]
    assert not database.replace(trial_id, "owner", kept, "too late")


def test_one_of_many_gets_a_theta(database):
    trials = iter([database.create({}) for _ in range(8)])

    def propose():
        return database.propose(
            next(trials),
            {"first": 0.5},
            SPACE,
            {"purpose": "improve"},
            lambda params: params["first"] == 0.5,
        )

    assert sum(at_once(propose)) == 1
    (given,) = [trial for trial in database.trials() if trial.params]
    assert given.system_attrs == {"purpose": "improve"}


def test_repeating_a_write_whose_answer_was_lost_changes_nothing(database):
    trial_id = database.create({"owner": "nobody"})
    for _ in range(2):
        assert database.propose(trial_id, {"first": 0.5}, SPACE, {}, never)
        assert database.replace(trial_id, "owner", "nobody", "me")
    assert database.trials()[0].params == {"first": 0.5}


def test_a_lost_server_is_waited_for_and_reported_in_the_end(database, monkeypatch):
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.001)
    error = OperationalError("select", {}, Exception("server closed the connection"))
    answers = iter([error, error, []])

    def get_trials(**_):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(database.study, "get_trials", get_trials)
    with pytest.warns(BoirlWarning, match="does not answer; trying again for up to 300 s"):
        assert database.trials() == []
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    answers = iter([error])
    with pytest.raises(StorageError, match="server closed the connection"):
        database.trials()


def create(address, number, start, said):
    start.wait()
    database = StudyDatabase(open_study(address, "one"), address)
    number_of = database.study._storage.get_trial_number_from_id
    said.put((database.record("seed", number), number_of(database.create({}))))


def test_processes_that_create_a_study_together_share_it(tmp_path):
    address, n = f"sqlite:///{tmp_path}/new.db", 4
    context = multiprocessing.get_context("fork")
    start, said = context.Event(), context.SimpleQueue()
    started = [
        context.Process(target=create, args=(address, number, start, said)) for number in range(n)
    ]
    for process in started:
        process.start()
    start.set()
    for process in started:
        process.join()
    assert [process.exitcode for process in started] == [0] * n
    answers = [said.get() for _ in range(n)]
    assert len({seed for seed, _ in answers}) == 1
    assert sorted(number for _, number in answers) == list(range(n))


def test_an_attribute_is_changed_by_what_is_stored(database):
    trial_id = database.create({"count": 1})
    assert database.change(trial_id, "count", lambda stored: stored + 1)
    assert not database.change(trial_id, "count", lambda stored: None)
    assert database.trials()[0].user_attrs["count"] == 2
    database.finish(trial_id, None, {}, {})
    assert not database.change(trial_id, "count", lambda stored: stored + 1)


def test_who_stops_waits_for_no_server(database, monkeypatch):
    calls = []

    def gone(**given):
        calls.append(given)
        raise OperationalError("SELECT", {}, Exception("the server closed the connection"))

    monkeypatch.setattr(database.study, "get_trials", gone)
    with database.without_patience(), pytest.raises(StorageError):
        database.trials()
    assert len(calls) == 1
