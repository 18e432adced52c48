"""Posteriors of several environments."""

import pytest

from boirl.errors import InvalidInputError
from boirl.reproduction.plan import Plan
from boirl.reproduction.posteriors import (
    TESTED,
    Line,
    describe_searches,
    draw_posteriors,
    posterior_cells,
)


def test_environments_that_were_not_run_have_no_column(results, nothing):
    lines = [Line("rho-rbf", "mean", "mean")]
    figure = draw_posteriors(results, TESTED, lines)
    assert sum(bool(axes.get_xlabel()) for axes in figure.axes) == len(TESTED)
    figure = draw_posteriors(results, ("gridworld", "borlange narrow"), lines)
    assert sum(bool(axes.get_xlabel()) for axes in figure.axes) == 1
    with pytest.raises(InvalidInputError, match="no results of"):
        draw_posteriors(nothing, TESTED, lines)


def test_cells_and_words():
    kinds = [cell.kind for cell in posterior_cells(Plan(), ("gridworld", "maze"), ["rbf"])]
    assert kinds == ["problem", "landscape", "search", "search"]


def test_what_was_not_run_is_said(results):
    text = describe_searches(results, "figure8", ("gridworld", "borlange narrow"), ["rbf"])
    assert "| Gridworld | `rbf` | 2 | 6 |" in text
    command = "`boirl reproduce figure8 --environment 'borlange narrow'`"
    assert f"| Borlange, box of the code | `rbf` | not run: {command} |" in text
