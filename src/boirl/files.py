"""Reading and writing files without losing what was there."""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boirl.errors import InvalidInputError, StorageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DAMAGE = (OSError, ValueError, TypeError, EOFError, KeyError, zlib.error, zipfile.BadZipFile)
"""What NumPy raises for files that are not, or no longer, archives of arrays."""


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
        temporary.write_bytes(content)
        os.replace(temporary, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise cannot_write(target, error) from error


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a picture and return its path."""
    known = figure.canvas.get_supported_filetypes()
    if path.suffix.lstrip(".") not in known:
        raise InvalidInputError(
            f"{str(path)!r} names no format of pictures; expected an ending such as .png, .pdf or "
            ".svg"
        )
    make_folder(path.parent)
    try:
        figure.savefig(path, dpi=130)
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def read_arrays(path: str | os.PathLike[str], what: str) -> dict[str, NDArray[Any]]:
    """Read all arrays of an `.npz` file; `what` says in errors what was expected in it."""
    try:
        content = io.BytesIO(Path(path).read_bytes())
        with np.load(content, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {os.fspath(path)!r} with {what}") from None
    except _DAMAGE as error:
        raise StorageError(
            f"{os.fspath(path)!r} cannot be read as an .npz file with {what} "
            f"({type(error).__name__}: {error}); it is damaged or something else"
        ) from error


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
