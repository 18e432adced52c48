"""Estimates in words and as plain numbers."""

import json

import numpy as np
import pytest

import boirl
from boirl.estimation.tables import aligned, plain
from boirl.rewards import LinearReward


@pytest.fixture(scope="module")
def undetermined(request):
    """One parameter on its bound, one that changes nothing, one that is estimated."""
    features = np.random.default_rng(6).uniform(-1.0, 1.0, (4, 3))
    features[:, 1] = 1.0
    bounds = {"slope": (-2.0, 2.0), "constant": (-2.0, 2.0), "pressed": (1.9, 2.0)}
    build = request.getfixturevalue("random_problem")
    return boirl.maximum_likelihood(
        build(5, "logsumexp", reward=LinearReward(features, bounds), count=60)
    )


def test_a_row_per_parameter_with_its_interval(random_problem):
    found = boirl.maximum_likelihood(random_problem(5, "logsumexp", count=60))
    lines = str(found).splitlines()
    assert lines[0] == "unnamed: maximum likelihood of 60 demonstrations, 360 steps"
    assert "(N = 60 demonstrations)" in lines[1]
    assert lines[2].split() == ["estimate", "std.", "error", "t", "P>|t|", "[0.025", "0.975]"]
    name, value, error, t, p, low, high = lines[3].split()
    assert name == "first"
    assert float(value) == pytest.approx(found.theta[0], rel=1e-5)
    assert float(error) == pytest.approx(found.standard_errors[0], rel=1e-4)
    assert float(t) == pytest.approx(found.theta[0] / found.standard_errors[0], abs=0.006)
    assert float(p) == pytest.approx(found.p_values[0], abs=6e-4)
    middle, half = (float(low) + float(high)) / 2.0, (float(high) - float(low)) / 2.0
    assert middle == pytest.approx(found.theta[0], abs=1e-3)
    assert half == pytest.approx(1.96 * found.standard_errors[0], rel=1e-3)


def test_what_is_not_determined_is_named_and_has_no_numbers(undetermined):
    text = str(undetermined)
    slope, constant, pressed = text.splitlines()[3:6]
    assert len(slope.split()) == 7
    assert constant.split()[2:] == ["not", "determined"]
    assert pressed.split()[2:] == ["on", "its", "bound"]
    assert "not determined: constant; changing constant by 4 changes the log-likelihood" in text
    assert np.isinf(undetermined.standard_errors[1])
    assert np.isnan(undetermined.t_values[1:]).all()
    assert np.isnan(undetermined.p_values[1:]).all()
    assert undetermined.n_determined == 2


def test_numbers_for_a_file_are_plain_json(undetermined):
    facts = json.loads(json.dumps(undetermined.to_dict(), allow_nan=False))
    assert facts["log_likelihood"] == undetermined.log_likelihood
    assert (facts["aic"], facts["bic"]) == (undetermined.aic, undetermined.bic)
    assert (facts["demonstrations"], facts["steps"], facts["gamma"]) == (60, 360, 0.9)
    assert facts["parameters"]["slope"]["estimate"] == undetermined.theta[0]
    assert facts["parameters"]["constant"]["standard_error"] is None
    assert facts["on_bound"] == ["pressed"]
    assert facts["not_determined"][0]["parameters"] == ["constant"]


def test_plain_numbers():
    given = {"a": np.arange(2), "b": (np.inf, np.float64(1.5)), "c": float("nan"), "d": None}
    assert plain(given) == {"a": [0, 1], "b": [None, 1.5], "c": None, "d": None}


def test_columns_are_aligned():
    assert aligned(["what", "n"], [["apples", "1000"], ["figs", ""]]) == [
        "what       n",
        "apples  1000",
        "figs",
    ]
