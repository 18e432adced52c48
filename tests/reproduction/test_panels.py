"""One scale for all kernels, panels, and curves."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from boirl.errors import InvalidInputError
from boirl.reproduction.panels import (
    as_grid,
    best_curves,
    draw_curves,
    draw_nll,
    missing,
    posterior_panel,
    scale_of,
)


def test_the_scale_opens_up_where_good_rewards_are(results):
    scale = scale_of(results, "gridworld")
    assert scale.lowest == 23.0
    assert scale.norm.vmin == pytest.approx(0.01 * scale.tolerance)
    assert scale.norm(scale.tolerance) > 0.2
    axes = Figure().subplots()
    image = draw_nll(axes, results.select("landscapes", held=0.0), "nll", scale)
    assert image.get_array().min() >= scale.norm.vmin


def test_no_results_are_an_error_that_says_what_to_do(nothing):
    with pytest.raises(InvalidInputError, match="no results of gridworld to draw; run the same"):
        scale_of(nothing, "gridworld")
    assert "mars" in str(missing("mars"))


def test_a_table_has_one_row_per_y():
    rows = [{"x": x, "y": y, "v": 10 * y + x} for x in (1, 2) for y in (5, 6)]
    x, y, table = as_grid(rows, "v")
    assert (x.tolist(), y.tolist()) == ([1, 2], [5, 6])
    np.testing.assert_array_equal(table, [[51, 52], [61, 62]])


def test_a_search_that_was_not_run_leaves_its_panel_empty(results):
    scale = scale_of(results, "gridworld")
    axes = Figure().subplots()
    assert posterior_panel(axes, results, "gridworld", "luck", scale) is None
    assert axes.texts[0].get_text() == "not run"
    assert posterior_panel(Figure().subplots(), results, "gridworld", "rbf", scale) is not None


def test_curves_follow_the_best_so_far(results):
    table = best_curves(results, "gridworld", "rbf", "nll")
    assert table.shape == (2, 6)
    assert (np.diff(table, axis=1) <= 0.0).all()
    axes = Figure().subplots()
    draw_curves(axes, {"rbf": table})
    assert axes.get_legend_handles_labels()[1] == ["rbf (2)"]
    assert best_curves(results, "gridworld", "luck", "nll").size == 0
