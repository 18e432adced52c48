"""Who is at work on an evaluation, and who may take it over."""

import gc
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from optuna.distributions import FloatDistribution

from boirl.search.database import StudyDatabase
from boirl.search.leases import LEASE, Lease, Leases, is_free, place, start_time
from boirl.search.storage import open_study

SPACE = {"first": FloatDistribution(0.0, 1.0)}


@pytest.fixture
def database(tmp_path):
    address = f"sqlite:///{tmp_path}/a.db"
    return StudyDatabase(open_study(address, "one"), address)


def leased(database, leases):
    """A trial of a study object, as it begins."""
    lease = leases.new()
    trial_id = database.create({LEASE: lease.record()})
    leases.hold(trial_id, lease)
    return trial_id


def stored(database, number=0):
    return database.trials()[number]


def free(database, number=0):
    return is_free(stored(database, number), database.now())


def test_a_lease_lasts_while_its_study_lives(database):
    leases = Leases(database)
    leased(database, leases)
    assert not free(database)
    del leases
    gc.collect()
    assert free(database)


def test_deadlines_are_put_off_while_the_evaluation_runs(database):
    leases = Leases(database, seconds=0.4)
    trial_id = leased(database, leases)
    before = Lease.of(stored(database)).deadline
    time.sleep(1.0)
    assert Lease.of(stored(database)).deadline > before
    assert not free(database)
    leases.drop(trial_id)
    time.sleep(0.6)
    assert free(database)


def test_a_process_of_this_machine_that_ended_is_noticed_at_once(database):
    process = subprocess.Popen(["sleep", "60"])
    mine = Leases(database).new()
    theirs = replace(mine, owner="theirs", pid=process.pid, started=start_time(process.pid))
    database.create({LEASE: theirs.record()})
    try:
        assert not free(database)
        # Another process with the number of one that is gone.
        assert replace(theirs, started="long ago").is_of_dead_process
    finally:
        process.kill()
    while not free(database):
        # Before its parent has noticed, too.
        time.sleep(0.01)
    process.wait()
    assert free(database)


@pytest.mark.parametrize("where", ["", "another machine", f"{place()} another namespace"])
def test_elsewhere_only_the_deadline_counts(database, where):
    mine = Leases(database).new()
    theirs = replace(mine, owner="theirs", pid=2**22 + 1, started="1", place=where)
    database.create({LEASE: theirs.record()})
    assert not free(database)
    assert is_free(stored(database), theirs.deadline + 0.01)


def test_trials_of_others_are_left_alone(database):
    database.create({})
    database.create({LEASE: {"colour": "red"}})
    assert not is_free(stored(database, 0), 1e12)
    assert not is_free(stored(database, 1), 1e12)


def test_one_of_many_takes_an_abandoned_evaluation_over(database):
    gone = replace(Leases(database).new(), owner="theirs", deadline=1.0)
    database.create({LEASE: gone.record()})
    trial = stored(database)
    those = [Leases(database) for _ in range(6)]
    with ThreadPoolExecutor(len(those)) as threads:
        won = list(threads.map(lambda leases: leases.take_over(trial), those))
    assert sum(won) == 1
    assert Lease.of(stored(database)).owner == those[won.index(True)].owner


def test_deaths_are_counted_and_evaluations_given_back_are_none(database):
    leases = Leases(database)
    trial_id = leased(database, leases)
    database.propose(trial_id, {"first": 0.5}, SPACE, {}, lambda _: False)
    leases.give_back(trial_id)
    assert free(database)
    second = Leases(database)
    assert second.take_over(stored(database))
    assert Lease.of(stored(database)).deaths == 0
    third = Leases(database)
    assert third.take_over(stored(database))
    assert Lease.of(stored(database)).deaths == 1


def test_a_lease_that_was_taken_over_is_renewed_no_longer(database):
    slow, quick = Leases(database), Leases(database)
    leased(database, slow)
    assert quick.take_over(stored(database))
    slow.renew()
    assert Lease.of(stored(database)).owner == quick.owner
    slow.renew()


def test_a_study_in_memory_needs_no_thread():
    database = StudyDatabase(open_study(None, "one"), None)
    leases = Leases(database, seconds=0.01)
    trial_id = leased(database, leases)
    assert not leases._is_renewing
    leases.give_back(trial_id)
    assert free(database)


def test_the_place_is_this_machine_and_its_processes():
    assert place() == place()
    assert start_time(os.getpid())
    assert start_time(2**22 + 1) == ""


@pytest.mark.parametrize(
    "damage", [{"deadline": "x"}, {"deadline": float("nan")}, {"pid": None}, {"owner": 3}]
)
def test_a_damaged_lease_is_none(database, damage):
    lease = Leases(database).new().record()
    database.create({LEASE: {**lease, **damage}})
    assert Lease.of(stored(database)) is None
    assert not free(database)


def test_a_late_renewal_does_not_undo_that_a_lease_was_given_back(database):
    leases = Leases(database)
    trial_id = leased(database, leases)
    held = leases._held[trial_id]
    leases.give_back(trial_id)
    # As if the thread that renews had been about to.
    leases.hold(trial_id, held)
    leases.renew()
    assert Lease.of(stored(database)).is_released
    assert not leases.held


def test_deaths_are_counted_where_a_process_died_and_the_study_lives(database):
    leases = Leases(database)
    trial_id = leased(database, leases)
    for deaths in (1, 2):
        leases.give_back(trial_id, died=True)
        assert leases.take_over(stored(database))
        assert leases.deaths(trial_id) == deaths
