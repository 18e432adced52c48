"""Public data sets: brought to a cache folder once, checked, and found there by name.

boirl does not know where a data set lives on the web; whoever has it names a folder or an address.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.request
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from boirl.environments.road_files import TEXT_FILES
from boirl.errors import InvalidInputError, StorageError
from boirl.files import make_folder, read_arrays, write_arrays, write_bytes

CACHE_VARIABLE = "BOIRL_CACHE"
TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class DataSet:
    """The files of a data set with their SHA-256 checksums."""

    summary: str
    checksums: Mapping[str, str]


DATA_SETS = {
    "borlange": DataSet(
        "roads and 1,832 recorded trips of the town of Borlange, Sweden",
        {
            TEXT_FILES["incidence"]: (
                "edf74e6de66f8227ee55cb024aa1107689e7d894062018eebea034252abc991f"
            ),
            TEXT_FILES["times"]: (
                "8fa6bee68933af81c15c7508dce83514c8648e5a330c7ff4278925c11a2c30d8"
            ),
            TEXT_FILES["angles"]: (
                "28cbfc175de86a5e69d8acfd090410c04501d3f6ca9f42b72ab0ce3816a364c4"
            ),
            TEXT_FILES["trips"]: (
                "5b2c774572693a35c7c725c894653ef12483d9dbd408563268952e21fcbc817e"
            ),
        },
    )
}


def cache_folder() -> Path:
    """Where data sets are kept: `$BOIRL_CACHE`, or else the user's cache."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boirl"


def data_folder(name: str, given: str | os.PathLike[str] | None = None) -> Path:
    """The folder of a data set: the one given, or else the one that `fetch` filled."""
    if given is not None:
        return Path(given)
    folder = cache_folder() / name
    missing = [file for file in _data_set(name).checksums if not (folder / file).exists()]
    if missing:
        raise InvalidInputError(
            f"the data set {name!r} is not in the cache ({missing[0]} is missing from "
            f"{str(folder)!r}); bring it there with `boirl data {name} --from FOLDER_OR_URL`, or "
            "pass data='path/to/folder'"
        )
    return folder


def remembered(
    name: str, key: Hashable, make: Callable[[], dict[str, NDArray[Any]]]
) -> dict[str, NDArray[Any]]:
    """Arrays that take long to make: read from the cache, or made now and kept there.

    Args:
        name: A folder of the cache.
        key: Everything that the arrays depend on; its `repr` decides.
        make: Makes them.
    """
    path = cache_folder() / name / f"{_checksum(repr(key).encode())[:16]}.npz"
    if path.exists():
        try:
            return read_arrays(path, f"something that {name!r} needs")
        except StorageError as error:
            raise StorageError(f"{error}; remove it, and it is made anew") from error
    arrays = make()
    write_arrays(path, arrays)
    return arrays


def fetch(
    name: str,
    source: str,
    on_file: Callable[[str], None] = lambda file: None,
) -> Path:
    """Bring the files of a data set to the cache, and check them.

    A file is kept only where its checksum is right; those already there stay as they are.

    Args:
        name: Of the data set.
        source: A folder, or the address that the names of the files are appended to.
        on_file: Told the name of each file when it is in place.

    Returns:
        The folder in the cache.
    """
    folder = cache_folder() / name
    wanted = _data_set(name).checksums
    make_folder(folder)
    for file, checksum in wanted.items():
        target = folder / file
        if not _is_right(target, checksum):
            content = _read(source, file)
            found = _checksum(content)
            if found != checksum:
                raise StorageError(
                    f"{file} from {source!r} has {len(content)} bytes and the checksum "
                    f"{found[:12]}..., expected {checksum[:12]}...: it is damaged or another "
                    "version, and was not kept. To use a version of your own, pass its folder as "
                    "data"
                )
            write_bytes(target, content)
        on_file(file)
    return folder


def _data_set(name: str) -> DataSet:
    if name not in DATA_SETS:
        raise InvalidInputError(
            f"there is no data set {name!r}; expected one of {', '.join(DATA_SETS)}"
        )
    return DATA_SETS[name]


def _read(source: str, file: str) -> bytes:
    if source.partition(":")[0] in ("http", "https", "ftp", "file"):
        address = f"{source.rstrip('/')}/{file}"
        try:
            with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as response:
                content: bytes = response.read()
                return content
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise StorageError(
                f"{address!r} could not be read ({error}); what arrived before is kept, so run "
                "the same command again, or name another source"
            ) from error
    path = Path(source) / file
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(
            f"{str(path)!r} could not be read ({error.strerror}); expected a folder with "
            f"{file}, or an address that starts with http"
        ) from error


def _is_right(path: Path, checksum: str) -> bool:
    try:
        return _checksum(path.read_bytes()) == checksum
    except OSError:
        return False


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
