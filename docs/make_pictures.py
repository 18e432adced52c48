"""Draw the pictures of the concepts and of a report: `make docs-pictures`.

Those of the concepts are of exact NLLs, without a search. That of a report is taken in headless
Chromium (`make browser`), and left as it is without.
"""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from scipy.stats import chi2

import boirl
from boirl.report.charts import LEVEL_COLOURS, LEVELS
from boirl.report.grid_scene import GridScene
from boirl.report.page import write_report
from boirl.search import SearchSettings
from boirl.types import FloatArray

PICTURES = Path(__file__).parent / "pictures"
COLOURS = ListedColormap(LEVEL_COLOURS)
NORM = BoundaryNorm([0.0, *LEVELS, 1e9], len(LEVEL_COLOURS))
GRID = 90
MARKED = ((1.0, 7.0), (1.95, 3.0))
"""Two rewards of `docs/concepts/why_a_set.md`."""


def grid_of(problem: Any, size: int = GRID) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Two axes, and NLLs above the best in tolerances, `size x size`."""
    box = problem.box
    x, y = (np.linspace(box.low[i], box.high[i], size) for i in (0, 1))
    thetas = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    nll = problem.nll_batch(thetas).reshape(size, size)
    tolerance = chi2.ppf(0.95, 2) / (2.0 * len(problem.demonstrations))
    return x, y, (nll - np.nanmin(nll)) / tolerance


def draw_landscape(axes: Axes, problem: Any, title: str) -> Any:
    x, y, excess = grid_of(problem)
    image = axes.pcolormesh(x, y, excess, cmap=COLOURS, norm=NORM, rasterized=True)
    axes.contour(x, y, excess, [1.0], colors="black", linewidths=1.2)
    axes.set(xlabel=problem.box.names[0], ylabel=problem.box.names[1], title=title)
    return image


def add_levels(figure: Figure, image: Any, axes: Any) -> None:
    bar = figure.colorbar(image, ax=axes, ticks=[0.0, *LEVELS], shrink=0.85)
    bar.ax.set_yticklabels([f"{level:g}" for level in (0.0, *LEVELS)])
    bar.set_label("above the best, in tolerances")


def draw_behaviour(axes: Axes, problem: Any, theta: tuple[float, float], colour: str) -> None:
    """Arrows and visits of a policy on a grid."""
    scene = GridScene(problem)
    frame = scene.frame(problem.policy(theta), np.array(theta))
    side = scene.columns
    visits = np.zeros(scene.squares)
    visits[frame["at"]] = frame["visits"]
    axes.imshow(np.sqrt(visits).reshape(-1, side), cmap="Blues")
    chances = np.reshape(frame["choices"], (len(frame["at"]), -1))
    steps = scene.moves[frame["at"]] * np.sqrt(chances)[..., None] * 0.48
    moving = np.abs(steps).sum(axis=2) > 0.1
    starts = np.broadcast_to(scene.places[frame["at"], None], steps.shape)[moving]
    dark = np.sqrt(visits[frame["at"]] / visits.max()) > 0.7
    colours = np.where(dark[:, None], "white", "black")
    axes.quiver(
        *starts.T,
        *steps[moving].T,
        color=np.broadcast_to(colours, moving.shape)[moving],
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.008,
        zorder=3,
    )
    axes.set(xticks=[], yticks=[])
    axes.set_title(f"steepness {theta[0]:g}, midpoint {theta[1]:g}", fontsize=10, color=colour)


def why_a_set() -> Figure:
    problem = boirl.load_problem("gridworld2d")
    figure = Figure(figsize=(12.5, 4.0), layout="constrained")
    left, *right = figure.subplots(1, 3, width_ratios=[1.5, 1, 1])
    image = draw_landscape(left, problem, "how well rewards explain 50 demonstrations")
    add_levels(figure, image, left)
    for theta, axes, colour in zip(MARKED, right, ("#d62728", "#7b3294"), strict=True):
        left.plot(*theta, "o", color=colour, markeredgecolor="white", markersize=10)
        draw_behaviour(axes, problem, theta, colour)
    return figure


def rho() -> Figure:
    problem = boirl.load_problem("gridworld2d")
    projection = SearchSettings(seed=0).build_surrogate(problem).projection
    thetas = problem.box.from_unit(np.random.default_rng(0).random((2500, 2)))
    latent = projection.transform(thetas).numpy()
    nll = problem.nll_batch(thetas)
    centred = latent - latent.mean(axis=0)
    main = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    style = {"c": nll, "s": 8, "cmap": "viridis_r"}
    image = left.scatter(*thetas.T, **style)
    right.scatter(*main.T, **style)
    left.set(xlabel="steepness", ylabel="midpoint", title="rewards in their box")
    right.set(
        xlabel="first direction", ylabel="second direction", title="the same rewards by log rho"
    )
    figure.colorbar(image, ax=[left, right], shrink=0.85).set_label("exact NLL")
    return figure


def toll_problem() -> Any:
    """As in `docs/concepts/identification.md`."""
    next_states = np.array([[1, 3], [2, 2], [4, 4], [4, 4], [4, 4]])
    start = np.eye(5)[0]
    mdp = boirl.TabularMDP.from_next_states(next_states, gamma=1.0, start=start, terminal=[4])
    features = np.zeros((5, 2, 2))
    features[:, :, 0] = 1.0
    features[0, 1, 1] = 1.0
    reward = boirl.LinearReward(features, {"time": (-3, 0), "toll": (-3, 0)})
    solver = boirl.TabularSolver("logsumexp")
    problem = boirl.TabularProblem(mdp, reward, solver=solver, name="toll")
    return problem.with_demonstrations(problem.demonstrate([-2.0, -1.5], 200, seed=0))


def identification() -> Figure:
    problem = toll_problem()
    figure = Figure(figsize=(10.5, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    image = draw_landscape(left, problem, "both weights sought: a ridge")
    left.plot(-2.0, -1.5, "*", color="white", markeredgecolor="black", markersize=14)
    add_levels(figure, image, left)
    time = np.linspace(-3.0, 0.0, 200)
    nll = problem.nll_batch(np.stack([time, np.full(200, -1.5)], axis=1))
    tolerance = chi2.ppf(0.95, 1) / (2.0 * len(problem.demonstrations))
    excess = (nll - nll.min()) / tolerance
    right.plot(time, excess, color="#0072B2")
    right.axhline(1.0, color="black", linestyle="--", linewidth=1)
    right.axvline(-2.0, color="#777", linestyle=":")
    right.set(
        ylim=(0.0, 8.0),
        xlabel="time",
        ylabel="above the best, in tolerances",
        title="the toll's weight held at -1.5: known",
    )
    return figure


def posterior() -> Figure:
    problem = boirl.load_problem("gridworld2d")
    x, y, excess = grid_of(problem)
    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    left.contourf(x, y, excess, [0.0, 1.0], colors=["#56c667"])
    left.contour(x, y, excess, [1.0], colors="black", linewidths=1.2)
    left.set(xlabel="steepness", ylabel="midpoint", title="likelihood-ratio set at 95 %")
    weights = np.exp(-0.5 * chi2.ppf(0.95, 2) * excess).reshape(-1)
    rng = np.random.default_rng(0)
    drawn = rng.choice(len(weights), 1500, p=weights / weights.sum())
    jitter = rng.uniform(-0.5, 0.5, (1500, 2)) * [x[1] - x[0], y[1] - y[0]]
    points = np.stack([x[drawn % GRID], y[drawn // GRID]], axis=1) + jitter
    points = np.clip(points, problem.box.low, problem.box.high)
    right.plot(*points.T, ".", color="#0072B2", markersize=3, alpha=0.5)
    right.contour(x, y, excess, [1.0], colors="black", linewidths=1.2)
    right.set(xlabel="steepness", title="samples of the posterior")
    right.set(xlim=(0.4, problem.box.high[0]), ylim=(1.0, problem.box.high[1]))
    return figure


def save_report_picture(path: Path) -> bool:
    """The landscape of `examples/frozen_lake.py` and what its best reward does."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return False
    from playwright.sync_api import sync_playwright

    found = runpy.run_path(str(PICTURES.parents[1] / "examples" / "frozen_lake.py"))["found"]
    with sync_playwright() as driver, TemporaryDirectory() as folder:
        page_file = write_report([found], Path(folder) / "report.html")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1380, "height": 760})
        page.goto(page_file.as_uri())
        page.wait_for_function("document.body.dataset.ready === 'yes'")
        page.locator("#landscape").evaluate("node => window.scrollTo(0, node.offsetTop - 20)")
        page.wait_for_timeout(500)
        page.screenshot(path=path)
        browser.close()
    return True


if __name__ == "__main__":
    if save_report_picture(PICTURES / "report.png"):
        print(PICTURES / "report.png")
    for draw in (why_a_set, rho, identification, posterior):
        path = PICTURES / f"{draw.__name__}.png"
        draw().savefig(path, dpi=110)
        print(path)
