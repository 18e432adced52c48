"""Numbers of a page: short, and never NaN, which JSON does not know."""

import json

import numpy as np
import pytest

from boirl.report.numbers import in_words, named, short, short_number


def test_numbers_keep_their_shape_and_four_digits():
    assert short([[1.23456, 2.0], [np.nan, -np.inf]]) == [[1.235, 2], [None, None]]
    assert json.dumps(short([0.1 + 0.2, 100.0])) == "[0.3, 100]"


@pytest.mark.parametrize("value", [1e-9, -123456.789, 0.5, 1e20])
def test_rounding_is_relative(value):
    assert short_number(value) == pytest.approx(value, rel=1e-3)


def test_rewards_are_named_where_names_fit():
    assert named(("a", "b"), [1.0, -0.25]) == "a 1, b -0.25"
    assert named(("a", "b"), [1.0, 2.0, 3.0]) == "learned network"
    assert in_words(1234.5678) == "1235"


@pytest.mark.parametrize(
    ("value", "words"),
    [(406.3, "410"), (30812.0, "31,000"), (0.0196, "0.02"), (7.26, "7.3"), (99.7, "100")],
)
def test_numbers_in_sentences_have_no_exponents(value, words):
    assert in_words(value, 2) == words
