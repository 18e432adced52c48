"""Maximum likelihood: properties, then numbers that others computed from the same data."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import boirl
from boirl.domains.roads.problem import build_borlange_recursive_logit
from boirl.errors import InvalidInputError
from boirl.experiments.suite import suite_problem
from boirl.rewards import LinearReward

SHARED = Path(__file__).parents[3] / "shared"
BUSES = SHARED / "data" / "rust_bus" / "buses.csv"
BORLANGE = SHARED / "borlange"
INCREMENTS = (0.39841566, 0.58876980, 0.01281454)


def bus_problem(gamma, bounds):
    """Rust's bus engines, group 4: keep or replace, by mileage in steps of 5,000."""
    n_states = 90
    probabilities = np.zeros((n_states, 2, n_states))
    for rise, share in enumerate(np.array(INCREMENTS) / sum(INCREMENTS)):
        for state in range(n_states):
            probabilities[state, 0, min(state + rise, n_states - 1)] += share
            probabilities[state, 1, rise] += share
    features = np.zeros((n_states, 2, 2))
    features[:, 0, 0] = -0.001 * np.arange(n_states)
    features[:, 1, 1] = -1.0
    records: dict[str, list[tuple[int, int]]] = {}
    with BUSES.open() as file:
        for row in csv.DictReader(file):
            if row["group"] == "4":
                records.setdefault(row["bus"], []).append((int(row["bin"]), int(row["replaced"])))
    shown = boirl.Demonstrations.from_trajectories(
        [tuple(np.array(column) for column in zip(*bus, strict=True)) for bus in records.values()]
    )
    return boirl.TabularProblem(
        boirl.TabularMDP.from_probabilities(probabilities, gamma),
        LinearReward(features, bounds),
        shown,
        boirl.TabularSolver("logsumexp", method="newton"),
        name="buses",
    )


@pytest.fixture(scope="module")
def problem(request):
    return request.getfixturevalue("random_problem")(5, "logsumexp", count=60)


@pytest.fixture(scope="module")
def estimate(problem):
    return boirl.maximum_likelihood(problem)


def test_the_gradient_vanishes_at_the_estimate(estimate, problem):
    nll, gradient = problem.nll_and_gradient(estimate.theta)
    assert nll == estimate.nll
    np.testing.assert_allclose(gradient, 0.0, atol=1e-5)
    assert estimate.log_likelihood == -60 * estimate.nll


def test_standard_errors_are_those_of_the_curvature(estimate, problem):
    step = 1e-3 * np.eye(2)
    total = [
        [
            sum(
                sign * one * 60 * problem.nll(estimate.theta + sign * step[i] + one * step[j])
                for sign in (1, -1)
                for one in (1, -1)
            )
            / 4e-6
            for j in range(2)
        ]
        for i in range(2)
    ]
    exact = np.sqrt(np.diag(np.linalg.inv(np.array(total))))
    np.testing.assert_allclose(estimate.standard_errors, exact, rtol=1e-3)
    np.testing.assert_allclose(estimate.t_values, estimate.theta / exact, rtol=1e-3)


def test_criteria(estimate):
    assert estimate.aic == pytest.approx(4.0 - 2.0 * estimate.log_likelihood)
    assert estimate.bic == pytest.approx(2.0 * np.log(60) - 2.0 * estimate.log_likelihood)


def test_at_the_ends_of_a_profile_interval_the_test_rejects(estimate, problem):
    interval = estimate.profile_interval("first")
    assert interval.low < estimate.theta[0] < interval.high
    second = np.linspace(-2.0, 2.0, 2001)
    for end, is_open in ((interval.low, interval.open_low), (interval.high, interval.open_high)):
        thetas = np.stack([np.full_like(second, end), second], axis=1)
        rise = 2 * 60 * (problem.nll_batch(thetas).min() - estimate.nll)
        assert is_open or rise == pytest.approx(3.841, rel=2e-3)


def test_the_order_of_demonstrations_does_not_matter(estimate, problem):
    turned = problem.with_demonstrations(problem.demonstrations.subset(range(59, -1, -1)))
    again = boirl.maximum_likelihood(turned)
    np.testing.assert_allclose(again.theta, estimate.theta, atol=1e-5)


def test_the_same_call_gives_the_same_estimate(estimate, problem):
    again = boirl.maximum_likelihood(problem)
    np.testing.assert_array_equal(again.theta, estimate.theta)
    assert again.evaluations == estimate.evaluations


def test_it_prints_a_table(estimate):
    lines = str(estimate).splitlines()
    assert lines[0] == "unnamed: maximum likelihood of 60 demonstrations, 360 steps"
    assert "AIC" in lines[1]
    assert lines[3].split()[0] == "first"
    assert float(lines[3].split()[1]) == pytest.approx(estimate.theta[0], rel=1e-5)
    assert repr(estimate).startswith("Estimate('unnamed', 2 parameters, log-likelihood -")


def test_a_constant_that_changes_nothing_is_not_hidden(random_problem):
    features = np.random.default_rng(0).uniform(-1.0, 1.0, (4, 2))
    features[:, 1] = 1.0
    family = LinearReward(features, {"slope": (-2.0, 2.0), "constant": (-2.0, 2.0)})
    found = boirl.maximum_likelihood(random_problem(5, "logsumexp", reward=family, count=60))
    assert [str(direction) for direction in found.flat_directions] == ["constant"]
    assert np.isinf(found.standard_errors[1])
    assert np.isfinite(found.standard_errors[0])
    assert "not determined: constant; changing constant by 4 changes" in str(found)
    interval = found.profile_interval("constant")
    assert (interval.low, interval.high) == (-2.0, 2.0)
    assert interval.open_low
    assert interval.open_high


def test_prices_that_all_rise_together_are_named_and_can_be_cured():
    problem = boirl.load_problem("terrain")
    found = boirl.maximum_likelihood(problem, starts=1)
    assert len(found.flat_directions[0].names) == 20
    assert "16 others together; changing terrain1 by 2" in str(found)
    held = replace(problem, reward=problem.reward.fix(terrain1=0.0), truth=None)
    again = boirl.maximum_likelihood(held, starts=1)
    assert again.nll >= found.nll - 1e-9


def test_a_parameter_on_its_bound_is_named(random_problem, estimate):
    narrow = LinearReward(
        np.random.default_rng(6).uniform(-1.0, 1.0, (4, 2)),
        {"first": (-2.0, 2.0), "second": (1.9, 2.0)},
    )
    found = boirl.maximum_likelihood(random_problem(5, "logsumexp", reward=narrow, count=60))
    assert found.on_bound == ("second",)
    assert np.isnan(found.standard_errors[1])
    assert "on its bound" in str(found)


def test_towns_part_of_whose_box_has_no_policy():
    problem = suite_problem("town", 0)
    found = boirl.maximum_likelihood(problem)
    assert found.agreeing == found.descents == 4
    assert found.nll <= problem.nll(problem.truth)
    assert (np.abs(found.theta - problem.truth) < 5.0 * found.standard_errors).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda one: one.profile_interval("third"), "no parameter 'third'; expected one of first"),
        (lambda one: one.profile_interval("first", 95), r"level is 95; expected one in \(0, 1\)"),
        (lambda one: boirl.maximum_likelihood(one.problem, starts=0), "starts is 0; expected"),
        (lambda one: boirl.maximum_likelihood(one.problem, initial=[5, 0]), "first = 5; expected"),
    ],
)
def test_wrong_input_is_named(estimate, call, message):
    with pytest.raises(InvalidInputError, match=message):
        call(estimate)


@pytest.mark.skipif(not BUSES.exists(), reason="needs the bus records in ../shared/data")
@pytest.mark.parametrize(
    ("gamma", "bounds", "theta", "log_likelihood", "standard_errors"),
    [
        (0.9999, (10.0, 20.0), (2.25554, 10.14955), -163.7097330455, (0.545, 1.376)),
        (0.0001, (200.0, 20.0), (72.28797, 7.71635), -165.2169754643, (11.107, 0.596)),
    ],
)
def test_bus_engines(gamma, bounds, theta, log_likelihood, standard_errors):
    names = ("maintenance", "replacement")
    box = {name: (0.0, high) for name, high in zip(names, bounds, strict=True)}
    found = boirl.maximum_likelihood(bus_problem(gamma, box))
    np.testing.assert_allclose(found.theta, theta, rtol=2e-5)
    assert found.log_likelihood == pytest.approx(log_likelihood, abs=1e-6)
    np.testing.assert_allclose(found.standard_errors, standard_errors, atol=6e-4)
    assert found.evaluations < 120


@pytest.mark.skipif(not BORLANGE.exists(), reason="needs the Borlange data in ../shared/borlange")
def test_borlange_trips():
    found = boirl.maximum_likelihood(build_borlange_recursive_logit(str(BORLANGE)), starts=1)
    assert found.log_likelihood == pytest.approx(-6302.93, abs=0.01)
    np.testing.assert_allclose(found.theta, (-2.494, -0.933, -0.411, -4.459), atol=1e-3)
