"""Demonstrations in files: `.npz` archives of arrays, and tables of steps."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from boirl.demonstrations.trajectories import Demonstrations
from boirl.errors import InvalidInputError
from boirl.files import damage_reported, read_arrays


def load_demonstrations(path: str | os.PathLike[str], **columns: Any) -> Demonstrations:
    """Read a file of demonstrations, whatever its form; see `Demonstrations.load`."""
    if Path(path).suffix != ".npz":
        return Demonstrations.from_table(path, **columns)
    if columns:
        raise InvalidInputError(
            f"{os.fspath(path)!r} holds arrays, which have no {next(iter(columns))}; expected that "
            "of a table of steps alone (.csv, .jsonl or .parquet): leave it out"
        )
    return _load_arrays(path)


def _load_arrays(path: str | os.PathLike[str]) -> Demonstrations:
    arrays = read_arrays(path, "demonstrations")
    missing = {"states", "actions"} - set(arrays)
    if missing:
        raise InvalidInputError(
            f"{os.fspath(path)!r} holds {sorted(arrays)} and lacks {sorted(missing)}; "
            "expected arrays states and actions of shape N x L"
        )
    with damage_reported(path, "demonstrations"):
        if "lengths" in arrays and "next_states" in arrays:
            return Demonstrations.from_dict(arrays)
        starts = arrays.get("start_states")
        if "lengths" in arrays:
            ends = np.cumsum(arrays["lengths"])[:-1]
            parts = (np.split(arrays[name], ends) for name in ("states", "actions"))
            return Demonstrations.from_trajectories(zip(*parts, strict=True), starts)
        following = arrays.get("next_states")
        read = Demonstrations.from_arrays(arrays["states"], arrays["actions"], following)
        return replace(read, start_states=starts)
