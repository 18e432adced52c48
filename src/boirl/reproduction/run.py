"""Reproduce: compute what is missing, then draw from files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from boirl.errors import InvalidInputError
from boirl.experiments.trials import OnTrial, quiet
from boirl.files import make_folder, save_figure
from boirl.reproduction import ITEMS
from boirl.reproduction.cells import run_cells
from boirl.reproduction.plan import Item, Plan
from boirl.reproduction.store import Store
from boirl.reproduction.video import save_film

ALL = "all"
FIGURES = "figures"
VIDEO = "video"
DPI = 90
"""Of figures, which are up to 21 inches wide."""


def chosen_items(name: str) -> dict[str, Item]:
    """The table or figure of this name, or all of them."""
    if name == ALL:
        return ITEMS
    if name not in ITEMS:
        raise InvalidInputError(
            f"the paper has no {name!r}; expected one of {', '.join(ITEMS)}, {ALL} or page"
        )
    return {name: ITEMS[name]}


def reproduce(
    items: dict[str, Item],
    folder: Path,
    plan: Plan,
    workers: int = 1,
    on_cell: OnTrial = quiet,
) -> None:
    """Run the cells of tables and figures that a folder does not hold yet.

    Args:
        items: Some of `ITEMS`.
        folder: For the result files.
        plan: How much to run.
        workers: See `run_cells`.
        on_cell: See `run_cells`.
    """
    wanted = [cell for item in items.values() for cell in item.cells(plan)]
    with sole_writer(folder):
        run_cells(Store(folder), wanted, workers, on_cell)


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder; a process that dies lets go of it.

    Raises:
        InvalidInputError: Another process writes there now.
    """
    make_folder(folder)
    with (folder / ".lock").open("w") as lock:
        try:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # No such locks on this platform.
            pass
        except OSError:
            raise InvalidInputError(
                f"another process is writing results to {str(folder)!r}; wait for it, or choose "
                "another folder with --out"
            ) from None
        yield


def redraw(items: dict[str, Item], folder: Path) -> list[Path]:
    """Draw figures from the result files of a folder; nothing is computed.

    Returns:
        The pictures written, into `figures` below the folder.

    Raises:
        InvalidInputError: There is nothing to draw; of several items, none could be drawn.
    """
    store = Store(folder)
    written: list[Path] = []
    refused: list[InvalidInputError] = []
    for name, item in items.items():
        try:
            if item.draw is not None:
                written.append(save_figure(item.draw(store), picture(folder, name), DPI))
            elif name == VIDEO:
                written.append(save_film(store, picture(folder, name)))
        except InvalidInputError as error:
            refused.append(error)
    if refused and not written:
        raise refused[0]
    return written


def picture(folder: Path, name: str) -> Path:
    """Where the picture of an item is."""
    return folder / FIGURES / f"{name}.{'gif' if name == VIDEO else 'png'}"


def lines_of(items: Sequence[Item], folder: Path) -> list[str]:
    """What the result files say of each item, for the terminal."""
    store = Store(folder)
    return [item.describe(store) for item in items]
