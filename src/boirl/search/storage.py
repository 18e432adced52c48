"""Databases of studies: addresses, opening, and what goes wrong with them."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import optuna
from optuna.samplers import BaseSampler

from boirl.errors import InvalidInputError, StorageError
from boirl.search.damage import holds_studies, refused_if_unreadable
from boirl.search.passwords import hide_password, tells_password, without_password
from boirl.search.patience import (
    CREATION_ATTEMPTS,
    CREATION_PATIENCE,
    is_created_meanwhile,
    is_creation_race,
    keep_trying,
)

ADVICE = {
    "full": "Free some space on its disk",
    "No space left": "Free some space on the disk of the server",
    "locked": "Another program has kept it locked for a minute: wait for that one or end it",
    "malformed": "The file is damaged: bring back a copy, or name a new file",
    "not a database": "The file is something else, or damaged: name another one",
    "readonly": "Make the file and its folder writable",
    "authentication failed": "Check user and password",
}
"""What to do, by words in what a database says."""

FILE_ADVICE = (
    "Check that the file is an Optuna database, that its folder is writable and that the disk is "
    "not full"
)
SERVER_ADVICE = "Check that the server runs, that this machine reaches it and that it lets you in"

BUSY_SECONDS = 60.0
"""How long an SQLite file that another process writes to is waited for."""


@contextmanager
def storage_errors(storage: str | None) -> Iterator[None]:
    """Turn what a database raises into a `StorageError` of one line, without the password."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (
        SQLAlchemyError,
        ImportError,
        LookupError,
        json.JSONDecodeError,
        optuna.exceptions.StorageInternalError,
        sqlite3.Error,
    ) as error:
        cause = getattr(error, "orig", None) or error.__cause__ or error
        reason = str(getattr(cause, "orig", None) or cause).splitlines()[0]
        reason = without_password(reason, storage)
        advice = next((said for word, said in ADVICE.items() if word in reason), None)
        if advice is None:
            is_server = storage is not None and not storage.startswith("sqlite:")
            advice = SERVER_ADVICE if is_server else FILE_ADVICE
        # A traceback prints what an error was raised from.
        raise StorageError(
            f"the storage {hide_password(storage or 'in memory')} cannot be used ({reason}); "
            f"evaluations finished before are kept. {advice}, then run again to resume"
        ) from (None if tells_password(error, storage) else error)


def open_study(storage: str | None, name: str, sampler: BaseSampler | None = None) -> optuna.Study:
    """Create a study in a storage, or open the one that is there."""
    if storage is not None and "://" not in storage:
        shown, name = hide_password(storage), Path(storage).name
        file = name if shown == storage and Path(name).suffix else "search.db"
        raise InvalidInputError(
            f"the storage is {shown!r}; expected a database address such as 'sqlite:///{file}'"
        )
    if storage is not None:
        _check_address(storage)
    is_file = storage is not None and storage.startswith("sqlite:///")
    file = (storage or "").removeprefix("sqlite:///")
    if is_file:
        folder = Path(file).resolve().parent
        if not folder.is_dir():
            raise InvalidInputError(f"the folder {str(folder)!r} of the storage does not exist")
        if Path(file).is_fifo():
            raise InvalidInputError(f"the storage {file!r} is a pipe; expected an SQLite file")

    was_there = False

    def create() -> optuna.Study:
        nonlocal was_there
        was_there = is_file and holds_studies(file)
        return optuna.create_study(
            storage=_connect(storage), study_name=name, sampler=sampler, load_if_exists=True
        )

    def is_race(error: BaseException) -> bool:
        return is_creation_race(error) and not was_there

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with refused_if_unreadable(storage), _refused_addresses(storage):
            return keep_trying(
                lambda: keep_trying(create, is_race, CREATION_PATIENCE, announce=False),
                lambda error: is_race(error) and is_created_meanwhile(error),
                patience=0.0,
                announce=False,
                attempts=CREATION_ATTEMPTS,
            )
    finally:
        optuna.logging.set_verbosity(verbosity)


@contextmanager
def _refused_addresses(storage: str | None) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise InvalidInputError(
            f"the storage {hide_password(storage or 'in memory')} cannot be opened "
            f"({without_password(str(error), storage)}); expected a database address such as "
            "'sqlite:///search.db'"
        ) from None


def _connect(storage: str | None) -> optuna.storages.BaseStorage | None:
    """The storage at an address; None for memory."""
    from sqlalchemy import make_url

    if storage is None:
        return None
    url = make_url(storage)
    if url.get_backend_name() == "sqlite":
        return _connect_to_file(storage, url.database or "")
    if url.drivername in ("postgresql", "postgres"):
        _check_driver()
        url = url.set(drivername="postgresql+psycopg")
    address = url.render_as_string(hide_password=False)
    return optuna.storages.RDBStorage(address, engine_kwargs={"pool_pre_ping": True})


def _connect_to_file(storage: str, file: str) -> optuna.storages.BaseStorage:
    """An SQLite file, with a write-ahead log where its file system allows for one.

    A commit then costs one write to the disk in place of several, and readers wait for no writer.
    """
    from sqlalchemy import event

    options = {"connect_args": {"timeout": BUSY_SECONDS}}
    connected = optuna.storages.RDBStorage(storage, engine_kwargs=options)
    if file not in ("", ":memory:"):

        def set_up(connection: sqlite3.Connection, record: Any) -> None:
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")

        event.listen(connected.engine, "connect", set_up)
        connected.engine.dispose()
    return connected


def _check_driver() -> None:
    if importlib.util.find_spec("psycopg") is None:
        raise StorageError(
            "PostgreSQL needs its driver, which is not installed; "
            "install it with: pip install 'boirl[postgres]'"
        )


def _check_address(storage: str) -> None:
    """Refuse an address that cannot be parsed; errors of the parser may quote the password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        make_url(storage)
    except (ArgumentError, ValueError):
        raise InvalidInputError(
            f"the storage {hide_password(storage)!r} is no database address; expected one such as "
            "'postgresql://user:password@host:5432/name', with %40 for @ and %2F for / in the "
            "password"
        ) from None
