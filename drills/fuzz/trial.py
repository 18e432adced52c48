"""One damaged file, and what came of it."""

from __future__ import annotations

import hashlib
import shutil
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from boirl.errors import BoirlError
from drills.fuzz.targets import Target

ACCEPTED, REFUSED, RAISED, WROTE, HELD_LINES = (
    "accepted",
    "refused",
    "raised",
    "wrote",
    "several lines",
)
GOOD = (ACCEPTED, REFUSED)


def run_trial(
    target: Target, index: int, seed: int, number: int, whole: Path, copy: Path
) -> dict[str, Any]:
    """Damage a copy of whole files and use it; the same for the same numbers.

    Args:
        target: The kind of file.
        index: Its place among all kinds.
        seed: Of the drill.
        number: Of the mutation.
        whole: Folder of files that are as they should be.
        copy: Folder for the copy, which is replaced.
    """
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(whole, copy)
    target.damage(copy, np.random.default_rng([seed, index, number]))
    before = _contents(copy)
    outcome: dict[str, Any] = {"number": number, "outcome": ACCEPTED}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.use(copy)
        except BoirlError as error:
            lines = "\n" in str(error)
            outcome = {"number": number, "outcome": HELD_LINES if lines else REFUSED}
        except Exception as error:
            outcome = {
                "number": number,
                "outcome": RAISED,
                "error": f"{type(error).__name__}: {error}"[:200],
                "at": [f"{one.filename}:{one.lineno}" for one in _own_frames(error)],
            }
    if outcome["outcome"] in GOOD and not target.may_write and _contents(copy) != before:
        outcome["outcome"] = WROTE
    return outcome


def _own_frames(error: Exception) -> list[traceback.FrameSummary]:
    frames = traceback.extract_tb(error.__traceback__)
    return [one for one in frames if "/boirl/" in one.filename][-3:]


def _contents(folder: Path) -> dict[str, str]:
    """A digest of every file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
