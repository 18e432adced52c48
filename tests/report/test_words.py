"""What was found in two sentences."""

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from boirl.report.words import assurance, headline, listed
from boirl.results import Finding, Health, ParameterSummary


class Evaluated(SimpleNamespace):
    """Ten evaluations, some of which are not rejected."""

    best_nll = 1.0

    def __len__(self):
        return 10

    def likelihood_ratio_tolerance(self):
        return 0.5

    def indices_within(self, tolerance, absolute):
        return np.arange(self.kept)


@pytest.mark.parametrize(
    ("kept", "nlls", "expected"),
    [
        (1, [1.0], "no other evaluated reward explains them as well"),
        (4, [1.0, 1.8], "4 rewards are not rejected .*behave alike"),
        (4, [1.0, 1.2, 1.8], "behave in 2 different ways"),
    ],
)
def test_behaviours_that_are_not_rejected_are_counted(kept, nlls, expected):
    groups: list[Any] = [SimpleNamespace(nll=nll) for nll in nlls]
    sentence = headline(Evaluated(kept=kept), groups)
    assert re.search(expected, sentence)
    assert sentence.count(".") == 1


SUMMARY = [
    ParameterSummary("time", 0.0, 0.1, 0.2, 0.1),
    ParameterSummary("left", 0.0, 0.1, 0.2, 0.9),
]


def test_what_needs_attention_is_named():
    health = Health([Finding("edge of the box", True, "widen it"), Finding("noise", False, "none")])
    sentence = assurance(health, SUMMARY)
    assert "1 check needs attention" in sentence
    assert "edge of the box" in sentence
    assert "noise" not in sentence


def test_what_is_known_of_parameters_is_said():
    assert assurance(Health(), SUMMARY) == (
        "No check speaks against this answer; time is pinned down and left is free."
    )
    many = [ParameterSummary(f"p{i}", 0.0, 0.1, 0.2, 0.1) for i in range(9)]
    assert "9 of 9 parameters are pinned down" in assurance(Health(), many)
    assert "nobody knows" in assurance(None, [])


def test_lists_read_as_english():
    assert [listed("abc"[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
