"""Posteriors as densities."""

import pytest

from boirl.reproduction.densities import EXACT, density_cell, shares_of, variation
from boirl.reproduction.plan import Plan


def test_densities_integrate_to_one_and_exact_is_no_distance_from_itself(
    nothing, monkeypatch, tmp_path
):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    for method in (EXACT, "birl"):
        cell = density_cell(Plan(quick=True), "gridworld", method, 0)
        nothing.add(cell, cell.run(), 0.0)
    rows = nothing.select("densities", method="birl")
    assert sum(row["density"] for row in rows) / len(rows) == pytest.approx(1.0, abs=1e-3)
    assert shares_of(nothing, "gridworld", EXACT).sum() == pytest.approx(1.0)
    assert variation(nothing, "gridworld", EXACT) == 0.0
    assert 0.0 < variation(nothing, "gridworld", "birl") < 1.0
    assert variation(nothing, "gridworld", "luck") is None
