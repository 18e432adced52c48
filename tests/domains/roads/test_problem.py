"""Problems on roads with one destination."""

from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.domains.roads.problem import BOXES, trips_to_demonstrations
from boirl.errors import InvalidInputError

from .conftest import town_with_trips

THETA, OTHER = (-2.0, -1.0, -1.0), (-1.0, 1.0, -1.0)


@pytest.fixture(scope="module", params=["max", "logsumexp"])
def problem(request):
    return boirl.load_problem("road-network", n_links=200, bellman=request.param)


@pytest.fixture(scope="module")
def own():
    """A user's own trips to one destination of a town."""
    network, trips = town_with_trips(3)
    chosen = [links for links in trips.to(0) if len(links) > 1]
    return boirl.road_problem(network, 0, chosen, BOXES["wide"], "logsumexp"), chosen


def passages(problem, demonstrations):
    """How often each trajectory passes each link, `N x n_links`; to wait is to pass once."""
    entered = problem.network.turns[:, 1]
    counts = np.zeros((len(demonstrations), problem.network.n_links))
    for number, (states, _, _) in enumerate(demonstrations):
        before = None
        for state in states.tolist():
            if state != before and state < len(entered):
                counts[number, entered[state]] += 1
            before = state
    return counts


def test_trips_become_states_and_actions(own):
    problem, trips = own
    assert len(problem.demonstrations) == len(trips)
    for (states, actions, following), links in zip(problem.demonstrations, trips, strict=True):
        np.testing.assert_array_equal(problem.mdp.next_states[states, actions], following)
        np.testing.assert_array_equal(problem.network.turns[states, 1], links[1:])
        assert following[-1] >= len(problem.network.turns)
    assert problem.evaluate((-1, -1, -1)).nll > 0
    assert (problem.box.names, problem.gamma) == (("time", "left", "constant"), 0.99)


def test_utilities_have_bounds_of_their_own(own):
    problem, trips = own
    network = problem.network
    utilities = {"time": (-3, 0), "right": (-2, 1), "main*time": (-1, 1), "u-turn": (-9, 0)}
    other = boirl.road_problem(network, 0, trips, bellman="logsumexp", utilities=utilities)
    assert other.box.names == tuple(utilities)
    assert other.fingerprint() != problem.fingerprint()
    np.testing.assert_array_equal(other.box.low, [-3, -2, -1, -9])
    theta = np.array([-2.0, -0.5, 0.2, -4.0])
    found = other.evaluate(theta).gradient
    for column, move in enumerate(1e-5 * np.eye(4)):
        slope = (other.nll(theta + move) - other.nll(theta - move)) / 2e-5
        assert found[column] == pytest.approx(slope, rel=1e-4, abs=1e-6)
    same = dict.fromkeys(("time", "left", "constant"), BOXES["wide"])
    again = boirl.road_problem(
        network, 0, trips, bellman="logsumexp", utilities={**same, "u-turn": -20}
    )
    assert again.evaluate(THETA).nll == problem.evaluate(THETA).nll
    for wrong in ({}, {"bounds": (-1.0, 0.0), "utilities": utilities}):
        with pytest.raises(InvalidInputError, match="of bounds and utilities are given"):
            boirl.road_problem(network, 0, trips, **wrong)


def test_a_trip_without_a_turn_is_refused(own):
    network = own[0].network
    feeder = network.feeders(0)[:1]
    with pytest.raises(InvalidInputError, match=r"trip 0 has 1 links; expected at least two"):
        trips_to_demonstrations(network, 0, [feeder])


def test_demonstrated_visits_are_counts(problem):
    expected = passages(problem, problem.demonstrations).mean(axis=0)
    np.testing.assert_allclose(problem.demonstrated_visits(), expected, atol=1e-12)


def test_a_demonstration_that_starts_where_another_ended_counts_as_well(town_problem):
    twice = boirl.Demonstrations.from_trajectories([([5], [0]), ([5], [0])])
    visits = town_problem.with_demonstrations(twice).demonstrated_visits()
    assert visits[town_problem.network.turns[5, 1]] == visits.sum() == 1.0


@pytest.mark.parametrize("horizon", [1, 4, 100])
@pytest.mark.parametrize("theta", [THETA, OTHER])
def test_expected_visits_are_what_sampling_gives(problem, theta, horizon):
    policy, rng = problem.policy(theta), np.random.default_rng(0)
    visits = replace(problem, horizon=horizon).expected_visits(policy)
    starts = np.repeat(problem.demonstrations.starts, 10)
    counts = passages(problem, problem.roll_out(policy, starts, horizon, rng))
    # Of links that hardly anybody passes, the sample may know nothing.
    error = np.sqrt(np.maximum(counts.var(axis=0), visits) / len(starts))
    assert (np.abs(counts.mean(axis=0) - visits) <= 4.5 * error + 3.0 / len(starts)).all()
    total = counts.sum(axis=1)
    assert abs(total.mean() - visits.sum()) <= 4.5 * total.std() / np.sqrt(len(starts))


def test_visits_of_a_kept_policy_are_those_of_the_policy(problem):
    evaluation = problem.evaluate(THETA)
    kept = problem.expected_visits(problem.policy_of(evaluation))
    np.testing.assert_allclose(kept, problem.expected_visits(problem.policy(THETA)), atol=1e-10)


def test_the_generated_town_is_a_problem():
    problem = boirl.load_problem("road-network", n_links=300, seed=1, n_demonstrations=20)
    assert problem.truth == (-2.0, -1.0, -1.0)
    assert problem.box.names == ("time", "left", "constant")
    assert problem.evaluate(problem.truth).nll < problem.evaluate((2.0, 2.0, 2.0)).nll
    assert len(problem.demonstrations) == len(np.unique(problem.demonstrations.starts)) == 20
    assert problem.demonstrations.lengths.tolist() == [100] * 20


@pytest.mark.parametrize("box", ["narrow", "wide"])
def test_a_box_is_known_by_name(box):
    problem = boirl.load_problem("road-network", n_links=60, box=box)
    low, high = BOXES[box]
    np.testing.assert_array_equal(problem.box.low, low)
    np.testing.assert_array_equal(problem.box.high, high)


def test_an_unknown_box_and_missing_data_are_reported(monkeypatch, tmp_path):
    with pytest.raises(InvalidInputError, match="expected narrow or wide"):
        boirl.load_problem("road-network", box="huge")
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    for name in ("borlange-virtual", "borlange-real"):
        with pytest.raises(InvalidInputError, match="boirl data borlange --from"):
            boirl.load_problem(name)
