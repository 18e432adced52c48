"""What page and script read: complete, and ready for JSON."""

import json

import pytest

from boirl.baselines import BaselineRun
from boirl.report.answer import answer_of
from boirl.report.content import content_of

from .conftest import HOSTILE


def test_data_are_plain_json_without_nan(content):
    json.dumps(content["data"], allow_nan=False)
    json.dumps(content["text"], allow_nan=False)


def test_every_chart_is_there(content):
    assert set(content["data"]["specs"]) == {"landscape", "pairs", "convergence", "predictions"}


def test_names_of_users_are_text_and_never_columns(content):
    cells = json.dumps(content["data"]["evaluations"]) + json.dumps(content["data"]["samples"])
    assert HOSTILE not in cells
    assert content["data"]["names"][0] == HOSTILE


def test_bars_lie_within_the_range(content):
    for row in content["text"]["parameters"]:
        left, width, median, best = map(float, row["bar"])
        assert 0.0 <= left <= median <= left + width <= 100.1
        assert 0.0 <= best <= 100.0


def test_rivals_that_do_nearly_the_same_are_called_so(content, found):
    furthest = max(float(one["distance"]) for one in content["text"]["to_observe"])
    assert content["text"]["nearly_alike"] == (furthest <= found.problem.same_behaviour)


def test_figures_say_how_many_are_not_rejected(content, found):
    kept = len(found.indices_within(found.likelihood_ratio_tolerance(), absolute=True))
    assert ("rewards not rejected", f"{kept} of {len(found)}") in content["text"]["figures"]


@pytest.fixture(scope="module")
def baseline(street, found):
    failed = street.evaluate(street.box.low)
    object.__setattr__(failed, "failure", "it diverged")
    object.__setattr__(failed, "nll", float("nan"))
    return content_of(answer_of(BaselineRun(street, (*found.evaluations[:4], failed), "random")))


def test_a_baseline_says_what_it_does_not_know(baseline):
    assert baseline["text"]["parameters"] == []
    assert "no model" in baseline["text"]["landscape"]
    assert set(baseline["data"]["specs"]) == {"landscape", "convergence"}


def test_failures_are_counted_by_reason(baseline):
    assert baseline["text"]["failures"] == [("it diverged", 1)]
    assert ("failed evaluations", "1") in baseline["text"]["figures"]
    assert baseline["data"]["evaluations"][-1]["nll"] is None
