"""Databases that somebody else wrote to, or that are damaged: what they raise, said in one line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from boirl.errors import BoirlError, StorageError
from boirl.search.passwords import hide_password, tells_password, without_password

UNREADABLE = (TypeError, ValueError, AttributeError, AssertionError, RuntimeError, OverflowError)
"""What Optuna raises at rows that are not as it wrote them."""


@contextmanager
def refused_if_unreadable(storage: str | None) -> Iterator[None]:
    """Turn what Optuna raises at a damaged database into a `StorageError` of one line."""
    try:
        yield
    except BoirlError:
        raise
    except UNREADABLE as error:
        words = without_password(" ".join(str(error).split()), storage)
        reason = f"{type(error).__name__}: {words}" if words else type(error).__name__
        raise StorageError(
            f"the storage {hide_password(storage or 'in memory')} holds what cannot be read "
            f"({reason}); it is damaged, or of another version of Optuna: bring back a copy, or "
            "name another storage"
        ) from (None if tells_password(error, storage) else error)


def holds_studies(file: str) -> bool:
    """Whether an SQLite file has a study, or parts of one: whoever created its tables is done."""
    return any(_has_rows(file, table) for table in ("studies", "study_directions"))


def _has_rows(file: str, table: str) -> bool:
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            return database.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None
    except sqlite3.Error:
        return False
