"""The video of the supplement: the best reward of Fetch-Reach after each evaluation."""

from __future__ import annotations

from pathlib import Path

from matplotlib.animation import PillowWriter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from boirl.files import cannot_write, make_folder
from boirl.reproduction.figure7 import ENVIRONMENT, KERNEL, best_rewards, threshold_panel
from boirl.reproduction.panels import COLOURS, best_curves, missing
from boirl.reproduction.plan import Item, Plan, not_run
from boirl.reproduction.searches import search_cell
from boirl.reproduction.store import Cell, Store

FRAMES_PER_SECOND = 2


def cells(plan: Plan) -> list[Cell]:
    """One search with the paper's kernel."""
    if not plan.of([ENVIRONMENT]):
        return []
    return [search_cell(plan, ENVIRONMENT, KERNEL, plan.seeds_or((0,))[0])]


def save_film(store: Store, path: Path) -> Path:
    """Write a `.gif`, one frame per evaluation."""
    best = best_rewards(store)
    if not best:
        raise missing("Fetch-Reach")
    curve = best_curves(store, ENVIRONMENT, KERNEL, "success")[0]
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    writer = PillowWriter(fps=FRAMES_PER_SECOND)
    make_folder(path.parent)
    try:
        with writer.saving(figure, str(path), dpi=80):
            for number in range(len(curve)):
                row = [one for one in best if one["number"] <= number][-1]
                figure.clear()
                left, right = figure.subplots(1, 2)
                threshold_panel(left, store, row)
                left.set_title(f"evaluation {number}: best NLL {row['nll']:.2f}")
                right.step(range(number + 1), curve[: number + 1], where="post", color=COLOURS[0])
                right.set(xlim=(0, len(curve)), ylim=(-0.03, 1.03), xlabel="evaluation")
                right.xaxis.set_major_locator(MaxNLocator(integer=True))
                right.set(ylabel="success rate of the best reward")
                writer.grab_frame()
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def describe(store: Store) -> str:
    return not_run("video") if not best_rewards(store) else "One frame per evaluation."


ITEM = Item(
    "Fetch-Reach training progress (the video of the supplement)",
    "The best reward after each iteration: its threshold as a circle, and its penalty.",
    cells,
    None,
    describe,
)
