"""Runs of baselines in files, so that they go on after a break."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any, NamedTuple

from boirl.errors import InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.files import write_bytes

FORMAT = 2


class Checkpoint(NamedTuple):
    """Where a run is: the state of its method, and its evaluations so far."""

    state: Any
    evaluations: list[Evaluation]


def load_checkpoint(path: Path, key: str) -> Checkpoint:
    """Read what `save_checkpoint` wrote for the same run.

    Only open files that you trust: they are pickled.
    """
    try:
        kept = pickle.loads(path.read_bytes())
        found, checkpoint = kept["key"], Checkpoint(kept["state"], kept["evaluations"])
        outdated = kept["format"] != FORMAT
    except Exception as error:
        raise StorageError(
            f"{str(path)!r} cannot be read as a run of a baseline ({error!r}); it is damaged "
            "or something else: remove it to begin again"
        ) from error
    if outdated:
        raise StorageError(
            f"{str(path)!r} was written by another version of boirl; finish the run with that "
            "version, or remove the file to begin again"
        )
    if found != key:
        raise InvalidInputError(
            f"{str(path)!r} keeps another run ({found}); expected {key}: choose another file, "
            "or remove this one to begin again"
        )
    return checkpoint


def save_checkpoint(path: Path, key: str, checkpoint: Checkpoint) -> None:
    """Write a run to a file, in full or not at all.

    Raises:
        StorageError: The file cannot be written, or something in the run cannot be pickled.
    """
    buffer = io.BytesIO()
    try:
        pickle.dump({"format": FORMAT, "key": key, **checkpoint._asdict()}, buffer)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise StorageError(
            f"the run cannot be kept in {str(path)!r} ({error}); define the functions of the "
            "reward family at the top level of a module, not inside a function or as a lambda, or "
            "run without a checkpoint"
        ) from error
    write_bytes(path, buffer.getvalue())
