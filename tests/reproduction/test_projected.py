"""Rewards in the space of the projection."""

import pytest
from matplotlib.figure import Figure

from boirl.errors import InvalidInputError
from boirl.reproduction.panels import scale_of
from boirl.reproduction.plan import Plan
from boirl.reproduction.projected import (
    MARKS,
    distances,
    is_invariant,
    projection_cell,
    projection_panel,
)


@pytest.mark.parametrize("projection", ["rho", "log-rho"])
def test_policy_invariant_rewards_fall_on_one_point(nothing, projection):
    cell = projection_cell(Plan(quick=True), projection, 5, 2.0)
    nothing.add(cell, cell.run(), 0.0)
    found = distances(nothing, projection, 5, 2.0)
    assert found is not None
    assert is_invariant(found)
    assert not is_invariant({**found, "a to b": 0.1})
    assert not is_invariant({**found, "nll a to b": 0.1})
    assert found["at random"] > 0.0
    assert {row["mark"] for row in nothing.table("projections")} == {"cloud", *MARKS}


def test_the_panel_draws_the_cloud_and_the_four(results, nothing):
    axes = Figure().subplots()
    scale = scale_of(results, "gridworld")
    projection_panel(axes, results, "rho", 10, 2.0, scale)
    assert len(axes.lines) == 4
    with pytest.raises(InvalidInputError, match="no results of the projection 'rho'"):
        projection_panel(axes, nothing, "rho", 10, 2.0, scale)
    assert distances(nothing, "rho", 10, 2.0) is None
