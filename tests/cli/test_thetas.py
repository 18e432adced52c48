"""Thetas on the command line, negative ones included."""

import json

import pytest

from boirl.cli.thetas import join_thetas, parse_initial, parse_theta, theta_of
from boirl.errors import InvalidInputError


def test_a_theta_is_numbers_with_commas():
    assert parse_theta("1.25,5,-1e-3") == [1.25, 5.0, -0.001]
    for wrong in ("a,b", "1;2", "", "1,,2"):
        with pytest.raises(InvalidInputError, match="expected numbers with commas between"):
            parse_theta(wrong)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--theta", "-1", "2"], ["--theta=-1,2"]),
        (
            ["--theta", "-1,2", "--theta", "3", "-4", "town"],
            ["--theta=-1,2", "--theta=3,-4", "town"],
        ),
        (["--theta=-1,2", "x"], ["--theta=-1,2", "x"]),
        (["run", "--seed", "1", "--initial", "hard"], ["run", "--seed", "1", "--initial", "hard"]),
        (["--theta"], ["--theta"]),
        (["--theta", "--out", "x"], ["--theta", "--out", "x"]),
    ],
)
def test_numbers_after_an_option_are_one_value(given, expected):
    assert join_thetas(given) == expected


def test_a_theta_is_given_once_in_either_way():
    assert theta_of(["-1", "2"], None) == theta_of([], "-1,2") == theta_of(["-1,2"], None)
    with pytest.raises(InvalidInputError, match="given twice"):
        theta_of(["1"], "1")
    with pytest.raises(InvalidInputError, match="there is no theta"):
        theta_of([], None)
    with pytest.raises(InvalidInputError, match="there is no option --sed"):
        theta_of(["1", "--sed", "3"], None)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, "sobol"),
        ([], "sobol"),
        (["hard"], "hard"),
        (["sobol"], "sobol"),
        (["1,2"], [[1.0, 2.0]]),
        (["1,2", "3,4"], [[1.0, 2.0], [3.0, 4.0]]),
    ],
)
def test_where_to_start_is_a_design_or_thetas(given, expected):
    assert parse_initial(given) == expected


def test_a_design_beside_a_theta_is_refused():
    with pytest.raises(InvalidInputError, match="theta is 'hard'"):
        parse_initial(["hard", "1,2"])


@pytest.mark.parametrize("words", [("-1", "2"), ("-1,2",), ("--theta", "-1", "2"), ("--", "-1,2")])
def test_negative_numbers_are_no_options(command, words):
    code, out, errors = command("evaluate", "gridworld2d", "--json", *words)
    assert code == 0, errors
    assert json.loads(out)["theta"] == [-1.0, 2.0]
