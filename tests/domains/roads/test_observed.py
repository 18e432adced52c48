"""What is computed once of trips, against plain loops."""

import numpy as np

from boirl.domains.roads.observed import ObservedTrips
from boirl.domains.roads.trips import TripDemonstrations
from boirl.problem.likelihood import trajectory_log_likelihoods

from .conftest import LOGIT_TRUTH


def test_counts_are_those_of_loops(logit_problem):
    plain = logit_problem.demonstrations
    given = np.linspace(1.0, 3.0, len(plain))
    seen = ObservedTrips(logit_problem.choice, TripDemonstrations.of(plain, weights=given))
    relative = given / given.mean()
    network = logit_problem.network
    turns, origins = np.zeros(len(network.turns)), np.zeros(network.n_links)
    states: dict[int, float] = {}
    for weight, (visited, _, following) in zip(relative, plain, strict=True):
        origins[visited[0] % network.n_links] += weight
        for here, there in zip(visited, following, strict=True):
            states[int(here)] = states.get(int(here), 0.0) + weight
            if there != logit_problem.choice.end:
                pair = (here % network.n_links, there % network.n_links)
                turns[network.turn_number(*map(np.array, pair))] += weight
    np.testing.assert_allclose(seen.turn_counts, turns)
    np.testing.assert_allclose(seen.origin_counts, origins)
    np.testing.assert_allclose(seen.state_counts, [states[state] for state in seen.states.tolist()])
    assert not seen.unfinished.any()


def test_likelihoods_are_sums_over_steps(logit_problem):
    policy = logit_problem.policy(LOGIT_TRUTH)
    seen = ObservedTrips(logit_problem.choice, logit_problem.demonstrations)
    expected = trajectory_log_likelihoods(policy, logit_problem.demonstrations)
    np.testing.assert_allclose(seen.log_likelihoods(policy), expected, rtol=1e-9, atol=1e-9)


def test_likelihoods_of_unfinished_trips_are_sums_over_steps(logit_problem):
    trips = [
        (states[:2], actions[:2], following[:2])
        for states, actions, following in logit_problem.demonstrations
    ]
    cut = logit_problem.complete(type(logit_problem.demonstrations).from_trajectories(trips))
    policy = logit_problem.policy(LOGIT_TRUTH)
    seen = ObservedTrips(logit_problem.choice, cut)
    assert seen.unfinished.any()
    np.testing.assert_allclose(
        seen.log_likelihoods(policy), trajectory_log_likelihoods(policy, cut), rtol=1e-9, atol=1e-9
    )
