"""Our trials beside the paper's numbers."""

import pytest

from boirl.experiments.published import Published
from boirl.reproduction.agreement import (
    compare_iterations,
    compare_shares,
    compared_rows,
    describe_agreement,
)

PAPER = Published(0.7, 16.0, 15.6)


def line(reached, trials, mean=None, sd=None):
    return {"reached": reached, "trials": trials, "after_mean": mean, "after_sd": sd}


def test_shares():
    assert compare_shares(line(0.7, 10), PAPER).p == pytest.approx(1.0)
    assert not compare_shares(line(1.0, 10), PAPER).is_detected
    assert compare_shares(line(1.0, 50), PAPER).is_detected
    assert compare_shares(line(0.0, 10), PAPER).is_detected


def test_iterations():
    same = compare_iterations(line(1.0, 10, 16.0, 15.0), PAPER)
    assert same is not None
    assert same.p == pytest.approx(1.0)
    fewer = compare_iterations(line(1.0, 10, 1.0, 0.5), PAPER)
    assert fewer is not None
    assert fewer.is_detected
    assert compare_iterations(line(0.1, 10, 3.0, 0.0), PAPER) is None
    assert compare_iterations(line(1.0, 10, 3.0, 1.0), Published(0.0, None)) is None


def test_rows_that_the_paper_has_no_number_of_are_left_out(results, nothing):
    rows = compared_rows(results)
    assert [row[1] for row in rows] == ["`rho-rbf`"]
    text = describe_agreement(results)
    assert text is not None
    assert "100% against 70%: no difference detected" in text
    assert describe_agreement(nothing) is None
