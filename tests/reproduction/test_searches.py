"""Searches that are drawn: one row per evaluation, and the posterior on a grid."""

import numpy as np

from boirl.reproduction.plan import Plan
from boirl.reproduction.searches import numbers_in, search_cell, seeds_of


def test_a_search_keeps_all_that_figures_draw(nothing):
    cell = search_cell(Plan(quick=True), "gridworld", "rbf", 1000, 3)
    tables = cell.run()
    nothing.add(cell, tables, 0.0)
    rows = nothing.table("evaluations")
    assert [row["number"] for row in rows] == [0, 1, 2]
    nll = [row["nll"] for row in rows]
    assert [row["best"] for row in rows] == [v <= min(nll[: i + 1]) for i, v in enumerate(nll)]
    assert all((row["esor"] is not None) == row["best"] for row in rows)
    (fit,) = nothing.table("fits")
    assert fit["best_nll"] == min(nll)
    assert fit["rmse"] > 0.0
    assert numbers_in(fit["truth"]) == [1.25, 5.0, 0.0]
    assert all(row["sd"] >= 0.0 and np.isfinite(row["mean"]) for row in nothing.table("posteriors"))
    assert seeds_of(nothing, "gridworld", "rbf") == [1000]
    beside = search_cell(Plan(quick=True, seeds=(7, 1000)), "gridworld", "rbf", 1000, 3)
    assert beside.settings["grid"] == 0
    again = search_cell(Plan(quick=True), "gridworld", "rbf", 1000, 3).run()
    for name in ("fits", "posteriors"):
        assert again[name] == tables[name]
