"""How evaluations are marked: by how their NLL compares with the truth's."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from boirl.baselines import BaselineRun
from boirl.drawing.marks import add_legend, mark_evaluations, mark_truth, reference, ruled_out

FACTORS = np.array([0.999, 1.005, 1.05, 2.0, np.nan])


@pytest.fixture
def axes():
    return Figure().subplots()


def scaled(found, nll):
    """The first evaluations of a result with other NLLs."""
    evaluations = tuple(
        replace(one, nll=value, failure="no values" if np.isnan(value) else None)
        for one, value in zip(found.evaluations, nll, strict=False)
    )
    return replace(found, evaluations=evaluations)


def test_evaluations_are_classed_by_their_nll(found, axes):
    result = scaled(found, found.truth.nll * FACTORS)
    at = np.column_stack([np.arange(5.0), np.zeros(5)])
    mark_evaluations(axes, result, at)
    assert [line.get_xdata().tolist() for line in axes.lines] == [[0.0], [1.0], [2.0], [3.0, 4.0]]


def test_negative_nlls_are_classed_by_their_distance_from_the_reference(axes, two_states):
    evaluations = tuple(
        replace(two_states.evaluate((0.1, 0.1)), nll=nll) for nll in (-10.0, -9.95, -9.5, 10.0)
    )
    run = BaselineRun(two_states, evaluations, "random")
    mark_evaluations(axes, run, np.column_stack([np.arange(4.0), np.zeros(4)]))
    assert [line.get_xdata().tolist() for line in axes.lines] == [[0.0], [1.0], [2.0], [3.0]]


def test_evaluations_are_compared_with_the_truth_or_else_with_the_best(found, two_states):
    assert reference(found) == (found.truth.nll, "the truth")
    run = BaselineRun(two_states, (two_states.evaluate((0.1, 0.1)),), "random")
    assert reference(run) == (run.best_nll, "the best")


def test_the_truth_is_a_star(found, two_states, axes):
    mark_truth(axes, found, np.array([1.0, 2.0]))
    assert axes.lines[0].get_marker() == "*"
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[1.0, 2.0]])
    run = BaselineRun(two_states, (two_states.evaluate((0.1, 0.1)),), "random")
    mark_truth(axes, run, np.array([1.0, 2.0]))
    assert len(axes.lines) == 1


def test_the_legend_explains_every_mark(found, two_states):
    figure = Figure(layout="constrained")
    add_legend(figure, found, columns=3)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [
        "at least as good as the truth",
        "within 1 %",
        "within 10 %",
        "other evaluations",
        "true reward",
    ]
    other = Figure(layout="constrained")
    add_legend(other, BaselineRun(two_states, (two_states.evaluate((0.1, 0.1)),), "random"), 2)
    labels = [text.get_text() for text in other.legends[0].get_texts()]
    assert labels[0] == "at least as good as the best"
    assert "true reward" not in labels


def test_what_breaks_a_constraint_is_marked_as_such(held, axes):
    broken = ruled_out(held)
    assert broken[0]
    assert held.nll[0] < held.best_nll
    assert reference(held) == (held.best_nll, "the best"), "the truth is ruled out as well"
    mark_evaluations(axes, held, np.column_stack([np.arange(len(held)), np.zeros(len(held))]))
    *classes, crosses = axes.lines
    assert crosses.get_xdata().tolist() == np.flatnonzero(broken).tolist()
    assert classes[0].get_xdata().tolist() == [held.best_index]
    figure = Figure(layout="constrained")
    add_legend(figure, held, columns=3)
    assert "breaks a constraint" in [text.get_text() for text in figure.legends[0].get_texts()]
