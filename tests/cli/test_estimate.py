"""`boirl estimate` and `boirl compare`: what Python says, on the command line."""

import json

import pytest

import boirl


@pytest.fixture(scope="module")
def problem():
    return boirl.load_problem("gridworld2d", bellman="logsumexp")


@pytest.fixture(scope="module")
def estimate(problem):
    return boirl.maximum_likelihood(problem)


ESTIMATE = ("estimate", "gridworld2d", "--bellman", "logsumexp")


def test_it_prints_the_table_and_profile_intervals(command, estimate):
    code, out, errors = command(*ESTIMATE, "--profile", "midpoint", "--level", "0.9")
    assert code == 0, errors
    interval = estimate.profile_interval("midpoint", 0.9)
    assert out == f"{estimate}\nprofile interval, 90%: {interval}\n"


def test_numbers_as_json(command, estimate):
    code, out, errors = command(*ESTIMATE, "--json", "--profile", "midpoint")
    assert code == 0, errors
    facts = json.loads(out)
    assert facts.pop("profiles")[0]["low"] == estimate.profile_interval("midpoint").low
    assert facts == estimate.to_dict()


def test_robust_standard_errors(command, estimate):
    expected = float(estimate.robust_standard_errors()[1])
    code, out, errors = command(*ESTIMATE, "--robust", "--json")
    assert code == 0, errors
    shown = json.loads(out)["robust_standard_errors"]
    assert shown == {"steepness": None, "midpoint": pytest.approx(expected)}, "one is on a bound"
    code, out, errors = command(*ESTIMATE, "--robust")
    assert f"robust standard error of midpoint: {expected:.5g}" in out


def test_another_discount(command, problem):
    code, out, errors = command(*ESTIMATE, "--gamma", "0.8", "--json")
    assert code == 0, errors
    assert json.loads(out)["gamma"] == 0.8
    again = boirl.maximum_likelihood(problem.with_gamma(0.8))
    assert json.loads(out)["log_likelihood"] == again.log_likelihood


def test_other_demonstrations(command, problem, tmp_path):
    problem.demonstrations.subset(range(10)).save(tmp_path / "ten.npz")
    code, out, errors = command(*ESTIMATE, "--demonstrations", tmp_path / "ten.npz")
    assert code == 0, errors
    assert "maximum likelihood of 10 demonstrations, 150 steps" in out


def test_discounts_side_by_side(command):
    options = ("--gamma", "0.9", "--gamma", "0.99", "--folds", "2", "--starts", "2")
    code, out, errors = command("compare", "gridworld2d", *options)
    assert code == 0, errors
    assert [line.split(",")[0] for line in out.splitlines()[2:4]] == ["gridworld2d"] * 2
    given = boirl.load_problem("gridworld2d")
    found = boirl.compare(given, gammas=[0.9, 0.99], folds=2, starts=2)
    assert out == f"{found}\n"


def test_problems_and_files_side_by_side(command, tmp_path):
    boirl.explore(boirl.load_problem("gridworld2d"), evaluations=3, kernel="rbf", seed=1000).save(
        tmp_path / "rewards.npz"
    )
    file = tmp_path / "rewards.npz"
    code, out, errors = command("compare", "gridworld", file, "--folds", 0, "--json")
    assert code == 0, errors
    facts = json.loads(out)["models"]
    assert [one["name"] for one in facts] == ["gridworld", str(file)]
    code, out, errors = command("compare", tmp_path, "--folds", 0, "--json")
    assert code == 0, errors
    assert json.loads(out)["models"][0]["parameters"] == facts[1]["parameters"]
    assert facts[1]["nested_in"] == "gridworld"
    assert facts[1]["log_likelihood"] == pytest.approx(facts[0]["log_likelihood"], abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("estimate", "gridwrld"), "there is no problem 'gridwrld'"),
        (("estimate", "gridworld2d", "--gamma", "2"), "gamma is 2.0; expected a number in (0, 1]"),
        (("estimate", "gridworld2d", "--profile", "slope"), "no parameter 'slope'; expected one"),
        (("compare", "gridworld", "gridworld"), "gridworld is given twice"),
        (("compare", "gridworld", "terrain"), "likelihoods of different data cannot be compared"),
        (
            ("compare", "gridworld", "--folds", "1"),
            "folds is 1; expected a whole number, at least 2",
        ),
        (("compare", "lost.npz"), "there is no file 'lost.npz'"),
        (("compare", "a.npz", "--bellman", "max"), "--bellman belongs to problems by name"),
    ],
)
def test_wrong_input_is_one_line(command, arguments, message):
    code, out, errors = command(*arguments)
    assert code == 2
    assert out == ""
    assert message in errors
    assert errors.count("\n") == 1
