"""The evidence of a study in its artifact folder: demonstrations and comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boirl.files import make_folder, prefixed, write_arrays
from boirl.problem import Problem
from boirl.problem.preferences import Preferences


def write_evidence(
    folder: Path, version: int, problem: Problem[Any], preferences: Preferences | None
) -> None:
    """Write what a study explains.

    Args:
        folder: Made where it is missing.
        version: How often the evidence has changed.
        problem: With the demonstrations of that version.
        preferences: The comparisons; None where there are none.
    """
    make_folder(folder)
    arrays = prefixed("demonstrations", problem.demonstrations.to_dict())
    if preferences is not None:
        arrays |= prefixed("preferences", preferences.to_dict())
    write_arrays(evidence_file(folder, version), arrays)


def evidence_file(folder: Path, version: int) -> Path:
    return folder / f"evidence-{version}.npz"
