"""Charts in Vega-Lite: what the page relies on."""

import json
import re

import pytest

from boirl.report import charts

from .conftest import HOSTILE


def fields(spec):
    return set(re.findall(r'"field": "(\w+)"', json.dumps(spec)))


@pytest.mark.parametrize(
    ("chart", "names"),
    [
        (charts.landscape_chart, {"cells", "points"}),
        (charts.curve_chart, {"curve", "points"}),
        (charts.convergence_chart, {"evaluations", "best"}),
        (charts.predictions_chart, {"predictions", "diagonal"}),
    ],
)
def test_data_are_named_and_left_to_the_page(chart, names):
    text = json.dumps(chart())
    assert {name for name in names if f'{{"name": "{name}"}}' in text} == names
    assert '"picked"' in text


def test_pairs_are_a_triangle_with_one_brush():
    spec = charts.pairs_chart([HOSTILE, "b", "c"], [0, 1, 2], [[0, 1]] * 3)
    assert [len(row["hconcat"]) for row in spec["vconcat"]] == [1, 2, 3]
    brushes = [one for one in spec["params"] if one["name"] == "brush"]
    assert len(brushes) == 1
    assert len(brushes[0]["views"]) == 3
    assert fields(spec) == {"p0", "p1", "p2", "group"}


def test_colours_of_levels_are_one_more_than_levels():
    assert len(charts.LEVEL_COLOURS) == len(charts.LEVELS) + 1
    assert 1.0 in charts.LEVELS, "where a likelihood-ratio test rejects"
