"""The folder in which data sets, and results that take long to compute, are kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Hashable
from datetime import datetime
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from boirl.errors import StorageError
from boirl.files import read_arrays, write_arrays

CACHE_VARIABLE = "BOIRL_CACHE"


def cache_folder() -> Path:
    """The folder: `$BOIRL_CACHE`, or else the user's cache."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boirl"


def interrupted_path(name: str) -> Path:
    """A new path in the cache for what was interrupted before it had a place."""
    return cache_folder() / "interrupted" / stamped(name)


def stamped(name: str) -> str:
    """A name that nobody had before."""
    return f"{name}-{datetime.now():%Y%m%d-%H%M%S-%f}"


def cached_arrays(
    name: str, key: Hashable, make: Callable[[], dict[str, NDArray[Any]]]
) -> dict[str, NDArray[Any]]:
    """Arrays that take long to make: read from the cache, or made now and kept there.

    Args:
        name: A folder of the cache.
        key: Everything that the arrays depend on; its `repr` decides.
        make: Makes them.
    """
    path = cache_folder() / name / f"{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.npz"
    if path.exists():
        try:
            return read_arrays(path, f"something that {name!r} needs")
        except StorageError as error:
            raise StorageError(f"{error}; remove it, and it is made again") from error
    arrays = make()
    write_arrays(path, arrays)
    return arrays
