"""Public data sets: brought to the cache folder once, checked, and found there by name.

boirl does not know where a data set lives on the web; whoever has it names a folder or an address.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from boirl.cache import cache_folder
from boirl.errors import InvalidInputError, StorageError
from boirl.files import TooLargeError, make_folder, read_bounded, write_bytes
from boirl.registry import Registry

TIMEOUT_SECONDS = 60

MAX_FILE_BYTES = 2**28
"""Size of a file of a data set at most, unless the data set says otherwise: those of boirl have
a few megabytes."""


@dataclass(frozen=True)
class DataSet:
    """The files of a data set with their SHA-256 checksums.

    Attributes:
        summary: What it is, in a line.
        checksums: By name of file.
        max_bytes: Size of the largest file at most; `fetch` reads no further.
    """

    summary: str
    checksums: Mapping[str, str]
    max_bytes: int = MAX_FILE_BYTES


DATASETS: Registry[DataSet] = Registry("data set", "boirl.datasets")
"""The data sets that `boirl data` brings to the cache, by name."""


def data_folder(name: str, given: str | os.PathLike[str] | None = None) -> Path:
    """The folder of a data set: the one given, or else the one that `fetch` filled."""
    if given is not None:
        return Path(given)
    folder = cache_folder() / name
    missing = [file for file in DATASETS[name].checksums if not (folder / file).exists()]
    if missing:
        raise InvalidInputError(
            f"the data set {name!r} is not in the cache ({missing[0]} is missing from "
            f"{str(folder)!r}); bring it there with `boirl data {name} --from FOLDER_OR_URL`, or "
            "pass data='path/to/folder'"
        )
    return folder


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
        on_file: Called with the name of each file when it is in place.

    Returns:
        The folder in the cache.
    """
    folder = cache_folder() / name
    wanted = DATASETS[name].checksums
    make_folder(folder)
    for file, checksum in wanted.items():
        target = folder / file
        if not _is_right(target, checksum):
            content = _read(source, file, DATASETS[name].max_bytes)
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


def _read(source: str, file: str, limit: int) -> bytes:
    if source.partition(":")[0] in ("http", "https", "ftp", "file"):
        address = f"{source.rstrip('/')}/{file}"
        try:
            with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as response:
                content = _within(response, address, limit)
                if getattr(response, "length", None):
                    raise http.client.IncompleteRead(content, response.length)
                return content
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise StorageError(
                f"{address!r} could not be read ({error}); what arrived before is kept, so run "
                "the same command again, or name another source"
            ) from error
    path = Path(source) / file
    try:
        with path.open("rb") as stream:
            return _within(stream, str(path), limit)
    except OSError as error:
        raise InvalidInputError(
            f"{str(path)!r} could not be read ({error.strerror}); expected a folder with "
            f"{file}, or an address that starts with http"
        ) from error


def _within(stream: BinaryIO, name: str, limit: int) -> bytes:
    """Everything that a stream holds; an endless one is refused."""
    try:
        return read_bounded(stream, limit)
    except TooLargeError:
        raise StorageError(
            f"{name!r} has more than {limit} bytes; expected a file of the data set, which has "
            "fewer: nothing of it was kept, name another source"
        ) from None


def _is_right(path: Path, checksum: str) -> bool:
    try:
        return _checksum(path.read_bytes()) == checksum
    except OSError:
        return False


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
