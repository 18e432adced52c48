"""Arrays that users give."""

import numpy as np
import pytest

from boirl.array_checks import (
    LARGEST,
    any_in_row,
    as_numbers,
    as_whole_numbers,
    concatenate_or_none,
)
from boirl.errors import DemonstrationError


def test_whole_numbers_of_any_type_become_integers():
    for given in ([1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.uint8), ["1", "2"]):
        found = as_numbers(given, "states")
        assert found.tolist() == [1, 2]
        assert found.dtype == np.int64


def test_vectors_become_floats_of_their_own():
    given = np.arange(6.0).reshape(3, 2)
    found = as_numbers(given, "states")
    np.testing.assert_array_equal(found, given)
    given[0, 0] = 9.0
    assert found[0, 0] == 0.0
    assert as_numbers([[1, 2]], "states").dtype == np.float64


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0, 0.5], r"states, step 1: found 0\.5; expected a whole number"),
        ([np.nan, 1.0], "states, step 0: found nan"),
        ([np.inf], "states, step 0: found inf"),
        ([LARGEST], "states, step 0: found 9007199254740992"),
        (np.zeros((2, 0)), r"states holds an array of shape \(2, 0\)"),
        (np.zeros((2, 2, 2)), r"states holds an array of shape \(2, 2, 2\)"),
        (3, r"states holds an array of shape \(\)"),
        (["a"], "states holds something that is not a number"),
        ([[1, 2], [3]], "states holds something that is not a number"),
    ],
)
def test_what_is_neither_is_named(given, message):
    with pytest.raises(DemonstrationError, match=message):
        as_numbers(given, "states")


def test_vectors_are_no_whole_numbers():
    with pytest.raises(DemonstrationError, match=r"lengths holds an array of shape \(1, 2\)"):
        as_whole_numbers([[1, 2]], "lengths")


def test_rows_are_looked_at_as_a_whole():
    assert any_in_row(np.array([True, False])).tolist() == [True, False]
    rows = np.array([[False, True], [False, False]])
    assert any_in_row(rows).tolist() == [True, False]


def test_rows_are_put_together_where_all_have_them():
    one, two = np.zeros((2, 3)), np.ones((1, 3))
    np.testing.assert_array_equal(concatenate_or_none([one, two]), [[0.0] * 3] * 2 + [[1.0] * 3])
    assert concatenate_or_none([one, None]) is None
    assert concatenate_or_none([one, np.ones((1, 2))]) is None
