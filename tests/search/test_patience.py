"""What is worth trying again, and for how long."""

import sqlite3

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from boirl.errors import BoirlWarning
from boirl.search import patience
from boirl.search.patience import (
    is_created_meanwhile,
    is_creation_race,
    is_lost_server,
    keep_trying,
)


class ServerError(Exception):
    def __init__(self, message, sqlstate=None):
        super().__init__(message)
        self.sqlstate = sqlstate


def raised(error):
    return OperationalError("select", {}, error)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (raised(ServerError("terminating connection", "57P01")), True),
        (raised(ServerError("the database system is starting up", "57P03")), True),
        (raised(ServerError("deadlock detected", "40P01")), True),
        (raised(ServerError("connection refused")), True),
        (raised(ServerError("password authentication failed", "28P01")), False),
        (raised(ServerError("No space left on device", "53100")), False),
        (raised(sqlite3.OperationalError("database is locked")), False),
        (raised(sqlite3.OperationalError("disk I/O error")), False),
        (ZeroDivisionError(), False),
    ],
)
def test_a_server_that_is_away_is_told_from_one_that_refuses(error, expected):
    assert is_lost_server(error) is expected


def test_what_an_error_was_raised_from_counts():
    wrapped = RuntimeError("commit")
    wrapped.__cause__ = raised(ServerError("gone", "57P01"))
    assert is_lost_server(wrapped)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (raised(sqlite3.OperationalError("table studies already exists")), True),
        (raised(sqlite3.OperationalError("database is locked")), True),
        (IntegrityError("insert", {}, sqlite3.IntegrityError("UNIQUE")), True),
        (AssertionError(), True),
        (raised(sqlite3.DatabaseError("file is not a database")), False),
    ],
)
def test_races_of_creation_are_told_from_damage(error, expected):
    assert is_creation_race(error) is expected


def failing(times, error):
    calls = []

    def operation():
        calls.append(1)
        if len(calls) <= times:
            raise error
        return len(calls)

    return operation


def test_an_operation_is_repeated_until_it_works(monkeypatch):
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.001)
    with pytest.warns(BoirlWarning, match="trying again for up to 60 s") as caught:
        assert keep_trying(failing(3, KeyError()), lambda _: True, 60.0) == 4
    assert len(caught) == 1


def test_other_errors_and_impatience_raise_at_once():
    with pytest.raises(KeyError):
        keep_trying(failing(1, KeyError()), lambda _: False)
    with pytest.raises(KeyError):
        keep_trying(failing(1, KeyError()), lambda _: True, patience=0.0)


def test_so_many_attempts_are_made_however_long_they_take():
    calls = []

    def slow():
        calls.append(1)
        raise IntegrityError("insert", {}, sqlite3.IntegrityError("UNIQUE"))

    with pytest.raises(IntegrityError):
        keep_trying(slow, is_created_meanwhile, patience=0.0, announce=False, attempts=3)
    assert len(calls) == 3


def test_a_locked_file_is_not_one_that_was_created_meanwhile():
    assert is_created_meanwhile(raised(sqlite3.OperationalError("table studies already exists")))
    assert not is_created_meanwhile(raised(sqlite3.OperationalError("database is locked")))
