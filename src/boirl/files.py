"""Reading and writing files without losing what was there."""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from boirl.errors import BoirlError, InvalidInputError, StorageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_BYTES = 2**30
"""Bytes that an `.npz` file may have, and that its arrays may take in memory: a small archive can
expand to more than the memory of any machine."""

CHUNK_BYTES = 2**20

LIMIT_VARIABLE = "BOIRL_MAX_BYTES"
"""Environment variable that replaces `MAX_BYTES`, for files of one's own that are larger."""


class TooLargeError(Exception):
    """A stream has more bytes than whoever reads it allows."""


def make_folder(path: Path) -> None:
    """Create a folder, and those above it, where they are missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an `.npz` file in full or not at all; an older file stays whole if that fails."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_bytes(path, buffer.getvalue())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file in full or not at all; an older file stays whole if that fails."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            # What is in place of an older file must not be empty after a loss of power.
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise cannot_write(target, error) from error


def save_figure(figure: Figure, path: Path, dpi: int = 130) -> Path:
    """Write a picture and return its path."""
    known = figure.canvas.get_supported_filetypes()
    if path.suffix.lstrip(".") not in known:
        raise InvalidInputError(
            f"{str(path)!r} names no format of pictures; expected an ending such as .png, .pdf or "
            ".svg"
        )
    make_folder(path.parent)
    try:
        figure.savefig(path, dpi=dpi)
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def read_arrays(path: str | os.PathLike[str], what: str) -> dict[str, NDArray[Any]]:
    """Read all arrays of an `.npz` file; `what` says in errors what was expected in it."""
    limit = max_bytes()
    try:
        with damage_reported(path, f"an .npz file with {what}"):
            with Path(path).open("rb") as stream:
                content = io.BytesIO(read_bounded(stream, limit))
            _check_archive(content, os.fspath(path), limit)
            with np.load(content, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {os.fspath(path)!r} with {what}") from None
    except TooLargeError as error:
        raise too_large(os.fspath(path), limit, str(error)) from None


@contextlib.contextmanager
def damage_reported(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn what a damaged file makes its readers raise, nearly anything, into a `StorageError`.

    What is said on purpose, and that there is no file or too much of it, passes.
    """
    try:
        yield
    except (BoirlError, FileNotFoundError, TooLargeError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise StorageError(
            f"{os.fspath(path)!r} cannot be read as {what} ({type(error).__name__}: {reason}); it "
            "is damaged or something else"
        ) from error


def max_bytes() -> int:
    """The limit on what is read whole: `$BOIRL_MAX_BYTES`, or else `MAX_BYTES`."""
    given = os.environ.get(LIMIT_VARIABLE)
    if not given:
        return MAX_BYTES
    if not given.isdecimal():
        raise InvalidInputError(f"${LIMIT_VARIABLE} is {given!r}; expected a number of bytes")
    return int(given)


def read_bounded(stream: BinaryIO, limit: int) -> bytes:
    """Everything that a stream holds, where that is at most `limit` bytes.

    Raises:
        TooLargeError: There is more, or no end.
    """
    parts, size = [], 0
    while part := stream.read(min(CHUNK_BYTES, limit + 1 - size)):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise TooLargeError(f"there are more than {limit} bytes")
    return b"".join(parts)


def _check_archive(content: BinaryIO, name: str, limit: int) -> None:
    """Refuse, before anything is expanded, what is too large or has names outside the archive."""
    with zipfile.ZipFile(content) as archive:
        members = archive.infolist()
    content.seek(0)
    size = sum(member.file_size for member in members)
    if size > limit:
        raise too_large(name, limit, f"it would expand to {size} bytes")
    for member in members:
        if member.filename.startswith("/") or ".." in member.filename.split("/"):
            raise StorageError(
                f"{name!r} holds {member.filename!r}, a path outside of the archive; expected an "
                ".npz file as NumPy writes them"
            )


def too_large(name: str, limit: int, found: str) -> StorageError:
    """The error for a file of more bytes than are read whole."""
    return StorageError(
        f"{name!r} is too large ({found}); expected at most {limit} bytes: it is damaged or "
        f"something else, or raise ${LIMIT_VARIABLE} where you trust it"
    )


def prefixed(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The same arrays under names that start with a prefix."""
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays whose names start with a prefix, under the rest of their names."""
    start = f"{prefix}/"
    return {name[len(start) :]: a for name, a in arrays.items() if name.startswith(start)}


def cannot_write(path: Path, error: OSError) -> StorageError:
    """The error for a file that could not be written."""
    return StorageError(
        f"{str(path)!r} could not be written ({error.strerror}); free some space or choose "
        "another folder"
    )
