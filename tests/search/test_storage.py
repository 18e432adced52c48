"""Databases of studies: addresses, opening, and what goes wrong with them."""

import os
import sqlite3
import traceback

import optuna
import pytest
from sqlalchemy.exc import OperationalError

from boirl.errors import InvalidInputError, StorageError
from boirl.search.storage import open_study, storage_errors


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("select", {}, sqlite3.OperationalError("disk I/O error")),
        sqlite3.OperationalError("disk I/O error"),
        optuna.exceptions.StorageInternalError("disk I/O error"),
        ImportError("disk I/O error"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_a_database_raises_is_a_storage_error_of_one_line(error):
    with (
        pytest.raises(StorageError, match=r"sqlite:///x\.db cannot be used \(disk I/O") as caught,
        storage_errors("sqlite:///x.db"),
    ):
        raise error
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is error


SECRET = "postgresql://user:s3cret@host/db"


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("select", {}, sqlite3.OperationalError(f"cannot connect to {SECRET}")),
        optuna.exceptions.StorageInternalError("password s3cret is wrong"),
        ImportError(f"no driver for {SECRET}"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_passwords_are_in_no_message_and_no_traceback(error):
    with (
        pytest.raises(StorageError, match=r"user:\*\*\*@host/db cannot be used") as caught,
        storage_errors(SECRET),
    ):
        raise error
    assert "s3cret" not in "".join(traceback.format_exception_only(caught.value))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "address",
    [
        SECRET,
        "postgresql://user:a@c:s3cret@host:port/db",
        "://user:s3cret@host",
        "user:s3cret@host",
        "nonsense://user:s3cret@host/db",
        "redis://user:s3cret@host/0",
    ],
)
def test_addresses_that_cannot_be_opened_are_refused_without_their_password(address, caplog):
    with pytest.raises((StorageError, InvalidInputError)) as caught, storage_errors(address):
        open_study(address, "one")
    printed = "".join(traceback.format_exception(caught.value, limit=0))
    assert "s3cret" not in printed + caplog.text
    # Without the driver of PostgreSQL its address is not even looked at.
    assert "***" in str(caught.value) or "boirl[postgres]" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_errors_pass():
    with pytest.raises(ZeroDivisionError), storage_errors(None):
        raise ZeroDivisionError


def test_a_study_is_created_and_then_opened(tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    first = open_study(storage, "one")
    first.set_user_attr("colour", "red")
    assert open_study(storage, "one").user_attrs == {"colour": "red"}
    assert open_study(storage, "another").user_attrs == {}
    assert open_study(None, "one").user_attrs == {}


def test_optuna_says_no_more_and_no_less_than_before(tmp_path, capfd):
    optuna.logging.set_verbosity(optuna.logging.INFO)
    try:
        open_study(f"sqlite:///{tmp_path}/search.db", "one")
        assert optuna.logging.get_verbosity() == optuna.logging.INFO
    finally:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
    assert "A new study" not in capfd.readouterr().err


def test_a_pipe_is_no_database_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "search.db")
    with pytest.raises(InvalidInputError, match="is a pipe; expected an SQLite file"):
        open_study(f"sqlite:///{tmp_path}/search.db", "one")


@pytest.mark.parametrize(
    ("storage", "message"),
    [
        ("search.db", "expected a database address such as 'sqlite:///search.db'"),
        ("sqlite:///{folder}/nowhere/search.db", "nowhere' of the storage does not exist"),
    ],
)
def test_addresses_that_make_no_sense_are_refused(tmp_path, storage, message):
    with pytest.raises(InvalidInputError, match=message):
        open_study(storage.format(folder=tmp_path), "one")


def test_an_address_without_a_scheme_does_not_tell_its_password():
    with pytest.raises(InvalidInputError, match=r"such as 'sqlite:///search\.db'") as said:
        open_study("me:SECRET@127.0.0.1", "one")
    assert "SECRET" not in str(said.value)
