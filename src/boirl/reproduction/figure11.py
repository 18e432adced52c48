"""Figure 11: NLL of the recorded trips of Borlange, as methods go on."""

from __future__ import annotations

from functools import partial

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from boirl.baselines import get
from boirl.experiments.trials import Row
from boirl.reproduction.environments import ENVIRONMENTS, build_problem
from boirl.reproduction.methods import AS_PUBLISHED, KERNELS_SHOWN
from boirl.reproduction.methods import baselines as baseline_rows
from boirl.reproduction.panels import best_curves, draw_curves, missing
from boirl.reproduction.plan import Item, Plan, not_run
from boirl.reproduction.searches import search_cell
from boirl.reproduction.store import Cell, Store, Tables
from boirl.types import FloatArray

ENVIRONMENT = "borlange real"
SEARCHES = (*KERNELS_SHOWN, f"rho-rbf{AS_PUBLISHED}", "random")
RIVALS = ("airl", "gcl")
SEEDS = range(3)
TABLE = "curves"


def cells(plan: Plan) -> list[Cell]:
    """Searches, and the two methods that the paper compares them with."""
    if not plan.of([ENVIRONMENT]):
        return []
    wanted = []
    for seed in plan.seeds_or(SEEDS):
        wanted += [search_cell(plan, ENVIRONMENT, method, seed) for method in SEARCHES]
        wanted += [curve_cell(plan, method, seed) for method in RIVALS]
    return wanted


def curve_cell(plan: Plan, method: str, seed: int) -> Cell:
    """The NLLs of one run of a baseline, as many as a search has."""
    key: Row = {"environment": ENVIRONMENT, "method": method, "seed": seed}
    steps = plan.evaluations(ENVIRONMENTS[ENVIRONMENT].shown)
    settings = {"quick": plan.quick, "steps": steps}
    return Cell("curve", key, settings, partial(_curve, method, seed, steps, plan.quick, plan.data))


def _curve(method: str, seed: int, steps: int, quick: bool, data: str | None) -> Tables:
    problem = build_problem(ENVIRONMENT, None, quick, data)
    name, settings, _ = baseline_rows()[method]
    run = get(name, **settings).run(problem, steps, seed)
    return {TABLE: [{"number": number, "nll": nll} for number, nll in enumerate(run.nll.tolist())]}


def rival_curves(store: Store, method: str) -> FloatArray:
    """NLL of every iteration, one row per run: these methods have no best so far."""
    rows = store.select(TABLE, environment=ENVIRONMENT, method=method)
    seeds = sorted({row["seed"] for row in rows})
    return np.array(
        [[row["nll"] for row in rows if row["seed"] == seed] for seed in seeds], dtype=float
    )


def draw(store: Store) -> Figure:
    """The best NLL so far of searches, and that of each iteration of the others."""
    curves = {one: best_curves(store, ENVIRONMENT, one, "nll") for one in SEARCHES}
    curves |= {one: rival_curves(store, one) for one in RIVALS}
    there = {name: table for name, table in curves.items() if table.size}
    if not there:
        raise missing("the recorded trips of Borlange")
    figure = Figure(figsize=(8.5, 5.0), layout="constrained")
    axes = figure.subplots()
    draw_curves(axes, there)
    axes.set(yscale="log", ylabel="NLL per trip", title="Borlange: 54 recorded trips")
    # Numbers at each tick would run into each other.
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.legend(fontsize=9, title="median (runs)")
    return figure


def describe(store: Store) -> str:
    """Best NLLs, and how soon each search is within 1 % of the best of all."""
    found: dict[str, FloatArray] = {
        one: best_curves(store, ENVIRONMENT, one, "nll") for one in SEARCHES
    }
    found |= {
        one: np.fmin.accumulate(rival_curves(store, one), axis=1)
        for one in RIVALS
        if rival_curves(store, one).size
    }
    there = {name: table for name, table in found.items() if table.size}
    if not there:
        return not_run("figure11")
    lowest = min(float(np.nanmin(table)) for table in there.values())
    lines = [
        "| method | runs | best NLL, mean | within 1 % of the lowest after |",
        "| --- | --- | --- | --- |",
    ]
    for name, table in there.items():
        reached = [np.flatnonzero(one <= 1.01 * lowest) for one in table]
        hits = [str(hit[0]) if hit.size else "never" for hit in reached]
        lines.append(f"| `{name}` | {len(table)} | {table[:, -1].mean():.3f} | {', '.join(hits)} |")
    return "\n".join(
        [
            f"The lowest NLL found is {lowest:.3f} per trip. AIRL and GCL have one policy "
            "optimisation per iteration, as a search has.",
            "",
            *lines,
        ]
    )


ITEM = Item(
    "NLL of the Borlange data set",
    "BO-IRL finds rewards of low NLL within a few iterations, AIRL and GCL converge slowly, AIRL "
    "becomes unstable after 55; rho-RBF is slightly worse than the other kernels.",
    cells,
    draw,
    describe,
)
