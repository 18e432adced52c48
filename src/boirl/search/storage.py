"""Where evaluations are kept, and who is at work on them."""

from __future__ import annotations

import os
import socket
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import optuna
from optuna.samplers import BaseSampler

from boirl.errors import InvalidInputError, StorageError
from boirl.search.passwords import hide_password, tells_password, without_password

RELEASED = "released"
"""Owner of an evaluation that was interrupted and waits for anybody to take it up."""


@contextmanager
def storage_errors(storage: str | None) -> Iterator[None]:
    """Turn what a database raises into a `StorageError` of one line, without the password."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (
        SQLAlchemyError,
        ImportError,
        optuna.exceptions.StorageInternalError,
        sqlite3.Error,
    ) as error:
        cause = getattr(error, "orig", None) or error.__cause__ or error
        reason = str(getattr(cause, "orig", None) or cause).splitlines()[0]
        reason = without_password(reason, storage)
        # A traceback prints what an error was raised from.
        raise StorageError(
            f"the storage {hide_password(storage or 'in memory')} cannot be used ({reason}); "
            "evaluations finished before are kept. Check that the file is an Optuna database, that "
            "its folder is writable and that the disk is not full, then run again to resume"
        ) from (None if tells_password(error, storage) else error)


def open_study(storage: str | None, name: str, sampler: BaseSampler | None = None) -> optuna.Study:
    """Create a study in a storage, or open the one that is there."""
    if storage is not None and "://" not in storage:
        raise InvalidInputError(
            f"the storage is {hide_password(storage)!r}; expected a database address such as "
            "'sqlite:///search.db'"
        )
    if storage is not None:
        _check_address(storage)
    if storage is not None and storage.startswith("sqlite:///"):
        folder = Path(storage.removeprefix("sqlite:///")).resolve().parent
        if not folder.is_dir():
            raise InvalidInputError(f"the folder {str(folder)!r} of the storage does not exist")
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(
            storage=storage, study_name=name, sampler=sampler, load_if_exists=True
        )
    except ValueError as error:
        raise InvalidInputError(
            f"the storage {hide_password(storage or 'in memory')} cannot be opened "
            f"({without_password(str(error), storage)}); expected a database address such as "
            "'sqlite:///search.db'"
        ) from None
    finally:
        optuna.logging.set_verbosity(verbosity)


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


class Owner:
    """Marks evaluations as being at work on by one study object of one process."""

    def __init__(self) -> None:
        self.token = uuid.uuid4().hex
        _LIVE[self.token] = self

    def record(self) -> dict[str, Any]:
        """What is stored with an evaluation."""
        pid = os.getpid()
        return {
            "host": socket.gethostname(),
            "pid": pid,
            "started": _start_time(pid),
            "study": self.token,
        }


def _start_time(pid: int) -> str:
    """Distinguishes two processes with one number; empty where the system does not know."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def is_alive(owner: dict[str, Any] | str | None) -> bool:
    """Whether the recorded owner of an evaluation may still be at work.

    Owners on other machines, and those that are not studies of boirl, are given the benefit of the
    doubt.
    """
    if owner is None or isinstance(owner, str):
        return owner != RELEASED
    if owner["host"] != socket.gethostname():
        return True
    if owner["pid"] == os.getpid() and owner["started"] == _start_time(os.getpid()):
        return owner["study"] in _LIVE
    try:
        os.kill(owner["pid"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return bool(owner["started"] == _start_time(owner["pid"]))


_LIVE: WeakValueDictionary[str, Owner] = WeakValueDictionary()
"""The owners in this process, by their token."""
