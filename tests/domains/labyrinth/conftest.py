"""Made-up mice in a small maze, the file that holds them, and the recorded ones where at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from boirl.domains.labyrinth.made_up import make_up_recordings
from boirl.domains.labyrinth.problem import LabyrinthProblem, labyrinth_problem
from boirl.domains.labyrinth.recordings import Recordings

RECORDED = Path(__file__).parents[4] / "shared" / "data" / "labyrinth"

# A maze of three levels. In node 2 action 2 leads back, in node 1 action 3 does; node 1 has its
# passages the other way round.
NEXT_STATES = np.array(
    [
        [1, 2, 0, 0],
        [4, 3, 1, 0],
        [5, 6, 0, 2],
        [3, 3, 1, 3],
        [4, 4, 4, 1],
        [5, 5, 2, 5],
        [6, 6, 6, 2],
    ]
)
STATES = np.array([[0, 1, 4, 1, 0], [0, 0, 2, 6, 2], [5, 2, 5, 2, 0]])
ACTIONS = np.array([[0, 0, 3, 3, 2], [3, 1, 1, 3, 0], [2, 0, 2, 2, 1]])


@pytest.fixture(scope="session")
def recorded() -> Path:
    """The folder of the recordings of Rosenberg and others (2021)."""
    if not (RECORDED / "labyrinth.npz").exists():
        pytest.skip("the recordings of mice are not at hand (../shared/data/labyrinth)")
    return RECORDED


@pytest.fixture(scope="session")
def recordings() -> Recordings:
    return make_up_recordings()


@pytest.fixture(scope="session")
def problem(recordings: Recordings) -> LabyrinthProblem:
    return labyrinth_problem(recordings)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small `labyrinth.npz`."""
    write(tmp_path)
    return tmp_path


def write(folder: Path, **changed: np.ndarray) -> None:
    arrays = {"states": STATES, "actions": ACTIONS, "next_states": NEXT_STATES, **changed}
    np.savez(
        folder / "labyrinth.npz",
        allow_pickle=False,
        **{name: array for name, array in arrays.items() if array is not None},
    )
