"""Lines of the summary, and tables in files."""

import csv

import pytest

from boirl.experiments.suite.tables import COLUMNS, summarise, write_csv

ROW = {
    "problem": "mdp-few",
    "seed": 1000,
    "method": "search",
    "error": None,
    "reference_r_hat": 1.005,
    "tolerances": 0.05,
    "variation": 0.08,
    "noise": 0.06,
    "excess": 0.02,
    "coverage_box": 0.95,
    "coverage_posterior": 0.9,
    "seconds": 2.0,
    "used": 40,
    "excluded": [],
    "health": None,
}


def peer(variation, seed=1000):
    return {**ROW, "method": "pyvbmc", "seed": seed, "variation": variation}


def test_means_and_worst():
    worse = {**ROW, "seed": 1001, "tolerances": 3.0, "excess": 0.10, "coverage_box": 0.55}
    line = summarise([ROW, worse])
    assert (line["problems"], line["errors"], line["unmixed_references"]) == (2, 0, 0)
    assert line["within_tenth"] == line["within_one"] == 0.5
    assert line["tolerances_worst"] == 3.0
    assert (line["excess_mean"], line["excess_worst"]) == (pytest.approx(0.06), 0.10)
    assert (line["coverage_box_mean"], line["coverage_box_worst"]) == (pytest.approx(0.75), 0.55)


def test_intervals_that_exclude_the_median_count_unless_the_answer_says_so():
    silent = {**ROW, "excluded": ["w0"]}
    frank = {**ROW, "seed": 1001, "excluded": ["w1"], "health": ["predictions off"]}
    line = summarise([ROW, silent, frank])
    assert (line["excluding"], line["excluding_unwarned"]) == (2, 1)


def test_pyvbmc_is_compared_problem_by_problem():
    rows = [ROW, {**ROW, "seed": 1001}]
    assert summarise(rows)["no_worse_than_pyvbmc"] is None
    assert summarise(rows, [*rows, peer(0.09), peer(0.05, 1001)])["no_worse_than_pyvbmc"] == 0.5
    assert summarise(rows, [*rows, peer(0.075)])["no_worse_than_pyvbmc"] == 1.0


def test_errors_and_references_that_have_not_mixed_are_counted():
    failed = {"method": "search", "error": "SolverError: none", "problem": "town", "seed": 1}
    line = summarise([{**ROW, "reference_r_hat": 1.02}, failed])
    assert (line["errors"], line["unmixed_references"]) == (1, 1)
    assert summarise([failed])["excess_mean"] is None


def test_every_line_can_be_printed():
    for line in (summarise([ROW]), summarise([{**ROW, "error": "SolverError: none"}])):
        assert all(show(line) for show in COLUMNS.values())


def test_a_table_in_a_file_has_the_columns_of_all_rows(tmp_path):
    write_csv(tmp_path / "t.csv", [{"a": 1, "b": None}, {"a": 2, "c": ["x", "y"]}])
    with (tmp_path / "t.csv").open() as file:
        assert list(csv.DictReader(file)) == [
            {"a": "1", "b": "", "c": ""},
            {"a": "2", "b": "", "c": "x; y"},
        ]
