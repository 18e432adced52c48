"""Angles in either unit, and what may stand in a file once."""

from pathlib import Path

import numpy as np
import pytest

from boirl.domains.roads.road_checks import (
    check_once,
    check_unit,
    group_links,
    read_angles,
    read_times,
)
from boirl.errors import InvalidInputError
from boirl.rows import Rows


def rows(*cells):
    return Rows(Path("turns.csv"), range(2, 2 + len(cells)), {"angle": [str(one) for one in cells]})


def test_degrees_are_turned_into_radians():
    degrees = (0, 90, -90, 180, -45, 270, -360)
    expected = np.array([0, 0.5, -0.5, 1, -0.25, -0.5, 0]) * np.pi
    np.testing.assert_allclose(
        read_angles(rows(*degrees), "angle", "degrees"), expected, atol=1e-12
    )
    radians = np.radians(degrees)
    np.testing.assert_allclose(
        read_angles(rows(*radians), "angle", "radians"), expected, atol=1e-12
    )


def test_a_rounded_u_turn_stays_as_it_is():
    np.testing.assert_array_equal(
        read_angles(rows(3.1416, -3.142), "angle", "radians"), [3.1416, -3.142]
    )


def test_degrees_among_radians_are_named_with_the_way_out():
    with pytest.raises(
        InvalidInputError, match=r"turns.csv, line 3: the angle is 90; .*pass angles='degrees'"
    ):
        read_angles(rows(0.1, 90, -90), "angle", "radians")
    with pytest.raises(InvalidInputError, match=r"line 3: the angle is 1.5, .*angles='radians'"):
        read_angles(rows(0, 1.5, -3.14), "angle", "degrees")
    np.testing.assert_array_equal(read_angles(rows(0, 0), "angle", "degrees"), [0.0, 0.0])
    with pytest.raises(InvalidInputError, match=r"line 2: the angle is 400; expected degrees, at"):
        read_angles(rows(400), "angle", "degrees")
    with pytest.raises(InvalidInputError, match="expected 'radians' or 'degrees'"):
        check_unit("gon")


def test_times_are_not_negative():
    np.testing.assert_array_equal(read_times(rows(0, 1.5), "angle"), [0.0, 1.5])
    with pytest.raises(InvalidInputError, match="line 3"):
        read_times(rows(0, -1), "angle")


def test_the_first_row_that_repeats_another_is_named():
    columns = (np.array([5, 1, 5, 1, 5]), np.array([2, 2, 3, 2, 2]))
    with pytest.raises(InvalidInputError, match=r"line 5: turn 1 to 2 stands .*, on line 3;"):
        check_once(rows(*range(5)), columns, "turn")
    check_once(rows(*range(3)), tuple(values[:3] for values in columns), "turn")


def test_links_are_grouped_by_key_whatever_its_size():
    keys = np.array([2**62, 3, 2**62, 3, 3])
    groups = group_links(keys, np.array([4, 2, 1, 2, 0]))
    assert {key: links.tolist() for key, links in groups.items()} == {3: [0, 2], 2**62: [1, 4]}
