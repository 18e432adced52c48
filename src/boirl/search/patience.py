"""Databases that go away and come back: what is worth trying again, and for how long."""

from __future__ import annotations

import random
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator
from typing import TypeVar

from boirl.errors import BoirlWarning

PATIENCE = 300.0
"""Seconds in which a database server that went away may come back."""

FIRST_WAIT, LONGEST_WAIT = 0.1, 10.0

PASSING_STATES = ("08", "57P", "40001", "40P01", "53300")
"""Beginnings of SQLSTATEs that pass: lost connections, a server that stops or starts, conflicts
between transactions, and too many connections."""

CREATION_PATIENCE = 30.0
"""Seconds in which the tables of a new database appear, while several processes create them."""

CREATION_ATTEMPTS = 10
"""Attempts after another process has created some of them: on a machine that is busy, a single one
may take longer than that."""

T = TypeVar("T")


def keep_trying(
    operation: Callable[[], T],
    passes: Callable[[BaseException], bool],
    patience: float | None = None,
    announce: bool = True,
    attempts: int = 1,
) -> T:
    """What an operation returns once it no longer raises an error that passes.

    Args:
        operation: Must do no harm if it is done twice: an answer may have been lost on its way.
        passes: Whether an error is worth waiting for.
        patience: Seconds to go on for, `PATIENCE` by default; afterwards the error is raised.
        announce: Whether to warn when the first wait begins.
        attempts: How many there are at least, however long they take.
    """
    deadline = time.monotonic() + (PATIENCE if patience is None else patience)
    pause = FIRST_WAIT
    while True:
        try:
            return operation()
        except Exception as error:
            attempts -= 1
            is_late = attempts <= 0 and time.monotonic() + pause > deadline
            if is_late or not passes(error):
                raise
            if announce:
                warnings.warn(
                    "the database does not answer; trying again for up to "
                    f"{deadline - time.monotonic():.0f} s",
                    BoirlWarning,
                    stacklevel=2,
                )
                announce = False
        # Spread, so that many processes do not come back all at once.
        time.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(2.0 * pause, LONGEST_WAIT)


def is_lost_server(error: BaseException) -> bool:
    """Whether an error says that a database server is away, or that transactions collided."""
    from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

    for cause in causes(error):
        if not isinstance(cause, DBAPIError) or isinstance(cause.orig, sqlite3.Error):
            continue
        if cause.connection_invalidated:
            return True
        state = getattr(cause.orig, "sqlstate", None) or getattr(cause.orig, "pgcode", None)
        if state is not None:
            return str(state).startswith(PASSING_STATES)
        return isinstance(cause, OperationalError | InterfaceError)
    return False


def is_creation_race(error: BaseException) -> bool:
    """Whether an error is one of two processes that create the tables of one database."""
    from sqlalchemy.exc import IntegrityError

    if isinstance(error, AssertionError):
        # Optuna has seen the table of versions before its only row.
        return True
    found = list(causes(error))
    return any(isinstance(cause, IntegrityError) for cause in found) or any(
        words in str(cause) for cause in found for words in ("already exists", "is locked")
    )


def is_created_meanwhile(error: BaseException) -> bool:
    """Whether another process has just created what was to be created."""
    is_locked = any("is locked" in str(cause) for cause in causes(error))
    return is_creation_race(error) and not is_locked


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, what it was raised from, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
