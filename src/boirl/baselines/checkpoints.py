"""Runs of baselines in files, so that they go on after a break.

A file is an `.npz` archive of arrays, one of which is a header in JSON. Reading it runs no code.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boirl.baselines.plain import Arrays, from_plain, to_plain
from boirl.errors import InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.files import read_arrays, write_arrays
from boirl.problem import Problem

FORMAT = 4
HEADER = "checkpoint"
PICKLE_START = b"\x80"
"""First byte of a pickle, which is what older versions wrote."""


class Checkpoint(NamedTuple):
    """Where a run is: the state of its method, and its evaluations so far."""

    state: Any
    evaluations: list[Evaluation]


def load_checkpoint(
    path: Path,
    key: str,
    problem: Problem[Any],
    unpack: Callable[[Problem[Any], Any], Any] = lambda problem, packed: packed,
) -> Checkpoint:
    """Read what `save_checkpoint` wrote for the same run.

    Args:
        path: The file.
        key: Identifies the run.
        problem: What the run explains.
        unpack: From the problem and the packed state to the state, see `Baseline.unpack`.
    """
    _refuse_pickle(path)
    try:
        arrays = read_arrays(path, "a run of a baseline")
        header = json.loads(str(arrays[HEADER]))
        found, outdated = header["key"], header["format"] != FORMAT
    except Exception as error:
        raise _unreadable(path, error) from error
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
    try:
        evaluations = from_plain(header["evaluations"], arrays, problem)
        state = unpack(problem, from_plain(header["state"], arrays, problem))
        if not all(isinstance(one, Evaluation) for one in evaluations):
            raise ValueError("something among its evaluations is none")
    except Exception as error:
        raise _unreadable(path, error) from error
    return Checkpoint(state, evaluations)


def save_checkpoint(path: Path, key: str, checkpoint: Checkpoint) -> None:
    """Write a run to a file, in full or not at all; its state is packed, see `Baseline.pack`.

    Raises:
        StorageError: The file cannot be written, or something in the run cannot be kept.
    """
    arrays: Arrays = {}
    try:
        header = {
            "format": FORMAT,
            "key": key,
            "evaluations": to_plain(checkpoint.evaluations, arrays),
            "state": to_plain(checkpoint.state, arrays),
        }
    except TypeError as error:
        raise StorageError(
            f"the run cannot be kept in {str(path)!r} ({error}); expected a state of numbers, "
            "strings, arrays, generators, evaluations, lists and dictionaries: define pack and "
            "unpack of the baseline, or run without a checkpoint"
        ) from error
    write_arrays(path, {HEADER: np.array(json.dumps(header)), **arrays})


def _refuse_pickle(path: Path) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if start == PICKLE_START:
        raise StorageError(
            f"{str(path)!r} is a pickle, as older versions of boirl wrote them; expected an .npz "
            "file with a run of a baseline. Pickles can run code and are not opened: delete it to "
            "begin again"
        )


def _unreadable(path: Path, error: Exception) -> StorageError:
    reason = " ".join(str(error).split())
    return StorageError(
        f"{str(path)!r} cannot be read as a run of a baseline ({type(error).__name__}: {reason}); "
        "it is damaged or something else: remove it to begin again"
    )
