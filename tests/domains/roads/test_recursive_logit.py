"""Trips to many destinations: likelihood, gradient, visits and searches."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.sparse.linalg import spsolve

import boirl
from boirl.domains.roads.attributes import Utilities
from boirl.domains.roads.files import Trips
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.recursive_logit import BOUNDS, recursive_logit_problem
from boirl.domains.roads.route_choice import RouteChoice, RoutePolicy
from boirl.errors import DemonstrationError, InvalidInputError, SolverError

from .conftest import BORLANGE, LOGIT_TRUTH, town_with_trips

TRUTH = LOGIT_TRUTH
DIVERGING = (1.0, 1.0, 1.0, 1.0)
PUBLISHED = np.array([-2.494, -0.933, -0.411, -4.459])


@pytest.fixture(scope="module")
def problem(logit_problem):
    return logit_problem


def dense_nll(network, trips, theta, at_destination="absorb"):
    """Mean over trips of what their turns cost more than the value of their origin."""
    utility = {}
    for (left, entered), angle in zip(network.turns.tolist(), network.angles, strict=True):
        counts = (network.times[entered], -3.1 < angle < -0.5236, 1.0, abs(angle) > 3.1)
        utility[left, entered] = sum(w * c for w, c in zip(theta, counts, strict=True))
    weights = np.zeros((network.n_links, network.n_links))
    for (left, entered), value in utility.items():
        weights[left, entered] = np.exp(value)
    total = 0.0
    for destination, links in zip(trips.destinations.tolist(), trips.links, strict=True):
        allowed = weights.copy()
        if at_destination == "absorb":
            allowed[network.destinations[destination]] = 0.0
        inverse = np.linalg.inv(np.eye(network.n_links) - allowed)
        z = sum(inverse[links[0], feeder] for feeder in network.destinations[destination])
        gained = sum(utility[pair] for pair in pairwise(links))
        total += np.log(z) - gained
    return total / len(trips)


THETAS = [TRUTH, (-4.0, 0.5, -1.5, -9.0), (-0.5, -3.0, -2.0, -1.0)]


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("at_destination", ["absorb", "pass"])
@pytest.mark.parametrize("seed", range(2))
def test_the_nll_is_that_of_a_dense_computation(seed, at_destination, theta):
    network, trips = town_with_trips(seed)
    problem = recursive_logit_problem(network, trips, at_destination=at_destination)
    expected = dense_nll(network, trips, theta, at_destination)
    evaluation = problem.evaluate(theta)
    assert evaluation.ok
    assert evaluation.nll == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(problem.nll_batch([theta, theta]), expected, rtol=1e-10)


@pytest.mark.parametrize("at_destination", ["absorb", "pass"])
@pytest.mark.parametrize("theta", THETAS)
def test_the_gradient_is_that_of_finite_differences(roads, at_destination, theta):
    problem = recursive_logit_problem(*roads, at_destination=at_destination)
    steps = 1e-5 * np.eye(4)
    above, below = (problem.nll_batch(theta + sign * steps) for sign in (1.0, -1.0))
    np.testing.assert_allclose(problem.gradient(theta), (above - below) / 2e-5, atol=1e-6)


def test_fixed_weights_have_no_gradient(problem):
    fixed = replace(problem, reward=problem.reward.fix(**{"u-turn": TRUTH[3]}))
    assert fixed.box.names == ("time", "left", "constant")
    np.testing.assert_allclose(fixed.gradient(TRUTH[:3]), problem.gradient(TRUTH)[:3])
    assert fixed.evaluate(TRUTH[:3]).nll == problem.evaluate(TRUTH).nll


def test_the_truth_is_near_the_lowest_nll():
    problem = recursive_logit_problem(*town_with_trips(0, count=2000))
    best = minimize(
        lambda theta: (problem.evaluate(theta).nll, problem.gradient(theta)),
        [-2.0, -2.0, -2.0, -2.0],
        jac=True,
        bounds=list(zip(problem.box.low, problem.box.high * 0.0 - 0.8, strict=True)),
    )
    assert np.abs(problem.gradient(best.x)).max() < 1e-3
    np.testing.assert_allclose(best.x, TRUTH, atol=0.6)


def passages(sampled, end, n_links):
    """How often each trajectory passes each link, `N x n_links`, in plain Python."""
    counts = np.zeros((len(sampled), n_links))
    for number, (states, _, _) in enumerate(sampled):
        for state in states:
            if state != end:
                counts[number, state % n_links] += 1
    return counts


def test_demonstrated_visits_are_counts(problem, roads):
    network, trips = roads
    counts = np.zeros(network.n_links)
    for links in trips.links:
        for link in links:
            counts[link] += 1
    np.testing.assert_allclose(problem.demonstrated_visits(), counts / len(trips), atol=1e-12)


@pytest.mark.parametrize("theta", [TRUTH, (-0.5, -0.2, -1.2, -2.0)])
def test_expected_visits_are_what_sampling_gives(problem, theta):
    policy = problem.policy(theta)
    visits = problem.expected_visits(policy)
    assert np.isfinite(visits).all()
    starts = np.repeat(problem.demonstrations.starts, 100)
    rng = np.random.default_rng(0)
    sampled = problem.roll_out(policy, starts, 150, rng)
    assert all(one.next_states[-1] == problem.choice.end for one in sampled)
    counts = passages(sampled, problem.choice.end, problem.network.n_links)
    # Of links that hardly anybody passes, the sample may know nothing.
    error = np.sqrt(np.maximum(counts.var(axis=0), visits) / len(starts))
    assert (np.abs(counts.mean(axis=0) - visits) <= 4.5 * error + 3.0 / len(starts)).all()
    total = counts.sum(axis=1)
    assert abs(total.mean() - visits.sum()) <= 4.5 * total.std() / np.sqrt(len(starts))


def test_visits_are_expected_features(problem):
    # The turns into a link other than at the origin each take its time.
    entered = problem.expected_visits(problem.policy(TRUTH)) - problem.demonstrated_visits()
    time = (entered * problem.network.times).sum()
    assert time == pytest.approx(problem.gradient(TRUTH)[0], rel=1e-9)


def test_a_diverging_theta_is_a_failed_evaluation(problem):
    evaluation = problem.evaluate(DIVERGING)
    assert not evaluation.ok
    assert np.isnan(evaluation.nll)
    assert "diverges" in evaluation.failure
    np.testing.assert_array_equal(np.isnan(problem.nll_batch([TRUTH, DIVERGING])), [False, True])
    for computed in (problem.policy, problem.gradient, problem.nll):
        with pytest.raises(SolverError, match="diverges"):
            computed(DIVERGING)


@pytest.mark.parametrize("theta", THETAS)
def test_an_evaluation_has_its_gradient_and_likelihoods(problem, theta):
    evaluation = problem.evaluate(theta)
    np.testing.assert_allclose(evaluation.gradient, problem.gradient(theta), rtol=1e-12)
    assert evaluation.log_likelihoods.shape == (len(problem.demonstrations),)
    assert -evaluation.log_likelihoods.mean() == pytest.approx(evaluation.nll)


@pytest.mark.parametrize(("kept_values", "solves"), [(10**6, 0), (0, 1)])
def test_a_kept_policy_is_the_policy(problem, monkeypatch, kept_values, solves):
    monkeypatch.setattr("boirl.domains.roads.kept_policy.KEPT_VALUES", kept_values)
    whole = problem.policy(TRUTH)
    evaluation = problem.evaluate(TRUTH)
    starts = problem.demonstrations.starts
    expected = whole.sample(starts, 50, np.random.default_rng(0))
    solve, solved = RoutePolicy.solve, []

    def spy(*given):
        solved.append(given)
        return solve(*given)

    monkeypatch.setattr(RoutePolicy, "solve", spy)
    kept = problem.policy_of(evaluation)
    states, actions = problem.demonstrations.states, problem.demonstrations.actions
    np.testing.assert_array_equal(kept.log_prob(states, actions), whole.log_prob(states, actions))
    np.testing.assert_array_equal(kept.turn_flows(starts), whole.turn_flows(starts))
    assert problem.behaviour_distances([kept, whole])[0, 1] == 0.0
    assert problem.most_different(kept, whole, 3)[0].distance == 0.0
    assert solved == []
    # In other states it needs the values of all links, which large networks do not keep.
    everywhere = np.arange(problem.choice.n_states)
    np.testing.assert_array_equal(
        kept.log_probabilities(everywhere), whole.log_probabilities(everywhere)
    )
    sampled = kept.sample(starts, 50, np.random.default_rng(0))
    np.testing.assert_array_equal(sampled.states, expected.states)
    assert len(solved) == solves
    # From other starts it needs to know more in any case.
    np.testing.assert_allclose(kept.turn_flows(starts[:3]), whole.turn_flows(starts[:3]))
    assert len(solved) == 1
    again = problem.compact_policy(kept)
    assert again.keys() == evaluation.policies[0].keys()


def test_other_trips_are_scored_by_kept_policies(problem):
    fewer = problem.with_demonstrations(problem.demonstrations.subset(range(20)))
    scored = fewer.rescore(problem.evaluate(TRUTH))
    assert scored.nll == pytest.approx(fewer.evaluate(TRUTH).nll, rel=1e-12)
    assert scored.gradient is None


def test_trips_that_are_not_finished_have_no_gradient(problem):
    states, actions, _ = problem.demonstrations[0]
    cut = boirl.Demonstrations.from_trajectories([(states[:1], actions[:1])])
    unfinished = problem.with_demonstrations(cut)
    assert unfinished.demonstrations.next_states[-1] != problem.choice.end
    assert unfinished.evaluate(TRUTH).gradient is None
    with pytest.raises(DemonstrationError, match="trajectory 0 does not end at its destination"):
        unfinished.gradient(TRUTH)


def test_an_evaluation_is_finite_or_says_why_not():
    n_links = 200
    links = np.arange(n_links)
    row = np.stack([links[:-1], links[1:]], axis=1)
    network = RoadNetwork(np.ones(n_links), row, np.zeros(n_links - 1), {500: links[-1:]})
    problem = recursive_logit_problem(network, Trips(np.array([500]), (links,)))
    assert problem.evaluate((-1.0, -1.0, -1.0, -1.0)).nll == pytest.approx(0.0, abs=1e-9)
    # The utility of the only route is -1990: its exponential is no number.
    evaluation = problem.evaluate(problem.box.low)
    assert np.isfinite(evaluation.nll) == evaluation.ok


@pytest.fixture(scope="module")
def found(problem):
    # Where every turn is worth having, the sum over routes diverges.
    return boirl.explore(
        problem, evaluations=8, seed=1000, initial=[problem.box.high, problem.box.low]
    )


def test_a_search_survives_failures(found):
    failed = np.isnan(found.nll)
    assert 1 <= failed.sum() <= 7
    assert [failure is not None for failure in found.failures] == failed.tolist()
    assert np.isfinite(found.best_nll)


def test_the_rewards_found_can_be_saved_and_loaded(problem, found, tmp_path):
    found.save(tmp_path / "rewards.npz")
    loaded = boirl.RewardSet.load(tmp_path / "rewards.npz", problem=problem)
    np.testing.assert_array_equal(loaded.thetas, found.thetas)
    np.testing.assert_array_equal(loaded.nll, found.nll)
    assert loaded.failures == found.failures
    assert loaded.settings == dict(found.settings)
    np.testing.assert_array_equal(loaded.predict_nll(found.best), found.predict_nll(found.best))
    assert str(loaded) == str(found)


def test_a_network_with_a_dead_end_can_be_searched():
    # Link 2 leads nowhere, and roll-outs of random turns get onto it.
    turns = np.array([[1, 0], [0, 1], [0, 2]])
    network = RoadNetwork(np.full(3, 0.1), turns, np.array([0.0, 0.0, 1.0]), {5: np.array([1])})
    trips = Trips(np.array([5, 5]), (np.array([0, 1]), np.array([0, 1, 0, 1])))
    problem = recursive_logit_problem(network, trips, at_destination="pass")
    found = boirl.explore(problem, evaluations=4)
    assert np.isfinite(found.best_nll)


def test_impossible_steps_are_refused_and_named(problem):
    choice, network = problem.choice, problem.network
    on_the_way = int(np.setdiff1d(np.arange(network.n_links), network.destinations[0])[0])
    few_ways = int((network.ways_on >= 0).sum(axis=1).argmin())
    feeder = int(network.destinations[0][0])
    wrong = {
        f"action {choice.end_trip} on link {on_the_way} is not a turn": (
            [on_the_way],
            [choice.end_trip],
        ),
        f"on link {few_ways} is not a turn": ([few_ways], [choice.end_trip - 1]),
        "leads elsewhere": ([feeder, feeder], [choice.end_trip]),
        f"actions is {choice.n_actions}; expected": ([on_the_way], [choice.n_actions]),
        f"states is {choice.n_states}; expected": ([choice.n_states], [0]),
    }
    good = ([feeder, choice.end], [choice.end_trip])
    for message, trajectory in wrong.items():
        demonstrations = boirl.Demonstrations.from_trajectories([good, trajectory])
        with pytest.raises(DemonstrationError, match=f"trajectory 1, step 0: .*{message}"):
            problem.with_demonstrations(demonstrations)


def test_ends_that_nobody_recorded_are_filled_in(problem):
    given = problem.demonstrations
    bare = boirl.Demonstrations.from_trajectories(
        [(states, actions) for states, actions, _ in given]
    )
    np.testing.assert_array_equal(problem.complete(bare).next_states, given.next_states)


def test_the_fingerprint_is_that_of_the_problem(problem, roads):
    network, trips = roads
    print_of = problem.fingerprint()
    assert recursive_logit_problem(network, trips).fingerprint() == print_of
    assert replace(problem, name="other").fingerprint() == print_of
    fewer = Trips(trips.destinations[1:], trips.links[1:])
    slower = replace(network, times=network.times * 1.1)
    assert recursive_logit_problem(network, fewer).fingerprint() != print_of
    assert recursive_logit_problem(slower, trips).fingerprint() != print_of
    assert recursive_logit_problem(network, trips, {"time": (-5.0, 0.0)}).fingerprint() != print_of


def test_the_fingerprint_changes_with_the_links_that_lead_to_a_destination(problem, roads):
    network, trips = roads
    more = {**network.destinations, 7: np.append(network.destinations[7], 30)}
    other = recursive_logit_problem(replace(network, destinations=more), trips)
    assert other.evaluate(TRUTH).nll != problem.evaluate(TRUTH).nll
    assert other.fingerprint() != problem.fingerprint()


def test_equal_rewards_behave_alike_and_others_do_not(problem):
    policies = [problem.policy(theta) for theta in (TRUTH, TRUTH, (-5.0, 0.0, -2.0, -1.0))]
    distances = problem.behaviour_distances(policies)
    assert distances[0, 1] == 0.0
    assert 0.01 < distances[0, 2] <= 1.0
    np.testing.assert_allclose(distances, distances.T)


UTILITIES: Utilities = {
    "time": (-5.0, 0.0),
    "length": (-5.0, 0.0),
    "main": (-2.0, 2.0),
    "right*main": (-3.0, 1.0),
    "constant": (-4.0, 0.0),
    "u-turn": -4.0,
}
WEIGHTS = np.array([-1.0, -0.5, 0.3, -0.7, -1.0])


def test_utilities_are_those_of_the_attributes_named(roads):
    network, trips = roads
    problem = recursive_logit_problem(network, trips, utilities=UTILITIES)
    assert problem.box.names == tuple(UTILITIES)[:-1]
    entered, right = network.turns[:, 1], network.turn_attributes["right"]
    length, main = (network.link_attributes[name][entered] for name in ("length", "main"))
    expected = (
        WEIGHTS[0] * network.times[entered]
        + WEIGHTS[1] * length
        + WEIGHTS[2] * main
        + WEIGHTS[3] * right * main
        + WEIGHTS[4]
        - 4.0 * (np.abs(network.angles) > 3.1)
    )
    np.testing.assert_allclose(problem.utilities(WEIGHTS), expected, rtol=1e-12)
    for column, move in enumerate(1e-5 * np.eye(5)):
        slope = (problem.nll(WEIGHTS + move) - problem.nll(WEIGHTS - move)) / 2e-5
        assert problem.gradient(WEIGHTS)[column] == pytest.approx(slope, abs=1e-6)


def test_the_four_features_are_a_case_of_utilities(problem, roads):
    network, trips = roads
    same = recursive_logit_problem(network, trips, utilities=BOUNDS)
    assert same.evaluate(TRUTH).nll == problem.evaluate(TRUTH).nll
    assert same.fingerprint() == problem.fingerprint()
    with pytest.raises(InvalidInputError, match="both bounds and utilities"):
        recursive_logit_problem(network, trips, BOUNDS, utilities=UTILITIES)


def test_the_fingerprint_depends_on_utilities_attributes_weights_and_destinations(roads):
    network, trips = roads
    longer = {**network.link_attributes, "length": network.link_attributes["length"] * 1.1}
    weights = np.linspace(1.0, 2.0, len(trips))
    wider = {**UTILITIES, "main": (-2.0, 3.0)}
    other = {**UTILITIES, "left*main": UTILITIES["right*main"]}
    del other["right*main"]
    problems = [
        recursive_logit_problem(network, trips, utilities=UTILITIES),
        recursive_logit_problem(network, trips, utilities=wider),
        recursive_logit_problem(network, trips, utilities=other),
        recursive_logit_problem(network, trips, utilities={**UTILITIES, "u-turn": -3.0}),
        recursive_logit_problem(
            replace(network, link_attributes=longer), trips, utilities=UTILITIES
        ),
        recursive_logit_problem(network, replace(trips, weights=weights), utilities=UTILITIES),
        recursive_logit_problem(network, trips, utilities=UTILITIES, at_destination="pass"),
    ]
    assert len({problem.fingerprint() for problem in problems}) == len(problems)
    # Who made a trip, and what weights are multiplied by, changes nothing.
    named = replace(trips, travellers=np.arange(len(trips)), weights=4.0 * weights)
    again = recursive_logit_problem(network, named, utilities=UTILITIES)
    assert again.fingerprint() == problems[5].fingerprint()


def test_a_weight_of_two_is_the_same_trip_twice(roads):
    network, trips = roads
    weights = np.ones(len(trips))
    weights[:10] = 2.0
    twice = Trips(
        np.append(trips.destinations, trips.destinations[:10]), trips.links + trips.links[:10]
    )
    weighted = recursive_logit_problem(network, replace(trips, weights=3.0 * weights))
    repeated = recursive_logit_problem(network, twice)
    for theta in THETAS:
        one, other = weighted.evaluate(theta), repeated.evaluate(theta)
        assert one.nll == pytest.approx(other.nll, rel=1e-12)
        assert one.nll == pytest.approx(weighted.nll(theta), rel=1e-12)
        assert -one.log_likelihoods.mean() == pytest.approx(one.nll, rel=1e-12)
        np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-9)
        assert weighted.rescore(one).nll == pytest.approx(one.nll, rel=1e-12)
    np.testing.assert_allclose(weighted.demonstrated_visits(), repeated.demonstrated_visits())
    policies = [problem.policy(TRUTH) for problem in (weighted, repeated)]
    np.testing.assert_allclose(
        weighted.expected_visits(policies[0]), repeated.expected_visits(policies[1])
    )
    kept = weighted.policy_of(weighted.evaluate(TRUTH))
    assert kept.weights is not None
    np.testing.assert_array_equal(
        weighted.expected_visits(kept), weighted.expected_visits(policies[0])
    )
    far = [problem.policy((-5.0, 0.0, -2.0, -1.0)) for problem in (weighted, repeated)]
    distances = [
        problem.behaviour_distances([near, other])[0, 1]
        for problem, near, other in zip((weighted, repeated), policies, far, strict=True)
    ]
    assert distances[0] == pytest.approx(distances[1], rel=1e-12)


def test_standard_errors_of_counts_follow_from_those_of_weights(roads):
    network, trips = roads
    twice = Trips(
        np.append(trips.destinations, trips.destinations[:30]), trips.links + trips.links[:30]
    )
    weights = np.where(np.arange(len(trips)) < 30, 2.0, 1.0)
    weighted = boirl.maximum_likelihood(
        recursive_logit_problem(network, replace(trips, weights=weights)), starts=1
    )
    counted = boirl.maximum_likelihood(recursive_logit_problem(network, twice), starts=1)
    np.testing.assert_allclose(weighted.theta, counted.theta, atol=1e-3)
    np.testing.assert_allclose(
        weighted.standard_errors / np.sqrt(weights.mean()), counted.standard_errors, rtol=1e-2
    )


def test_equal_weights_are_none(problem, roads):
    network, trips = roads
    same = recursive_logit_problem(network, replace(trips, weights=np.full(len(trips), 7.0)))
    assert same.evaluate(TRUTH).nll == pytest.approx(problem.evaluate(TRUTH).nll, rel=1e-14)
    estimates = [boirl.maximum_likelihood(one, starts=1) for one in (problem, same)]
    np.testing.assert_allclose(
        estimates[0].standard_errors, estimates[1].standard_errors, rtol=1e-3
    )
    assert estimates[0].log_likelihood == pytest.approx(estimates[1].log_likelihood, rel=1e-6)


def test_travellers_and_weights_stay_with_their_trips(roads):
    network, trips = roads
    people = np.arange(len(trips)) % 7
    panel = replace(trips, travellers=people, weights=1.0 + people)
    problem: Any = recursive_logit_problem(network, panel)
    np.testing.assert_array_equal(problem.demonstrations.travellers, people)
    fewer = problem.with_demonstrations(problem.demonstrations.subset(people == 3))
    np.testing.assert_array_equal(fewer.demonstrations.travellers, 3)
    alone = recursive_logit_problem(
        network,
        Trips(trips.destinations[people == 3], tuple(np.array(trips.links, object)[people == 3])),
    )
    assert fewer.evaluate(TRUTH).nll == pytest.approx(alone.evaluate(TRUTH).nll, rel=1e-12)


def test_origins_are_drawn_by_weight(roads):
    network, trips = roads
    weights = np.full(len(trips), 1e-12)
    weights[4] = 1.0
    problem = recursive_logit_problem(network, replace(trips, weights=weights))
    drawn = problem.demonstrate(TRUTH, 20, seed=1000, horizon=300)
    assert set(drawn.starts.tolist()) == {int(problem.demonstrations.starts[4])}
    # A trip is over when it has arrived.
    assert (drawn.states != problem.choice.end).all()
    assert problem.with_demonstrations(drawn).evaluate(TRUTH).gradient is not None


def test_a_trip_that_passes_its_destination_is_refused_unless_it_may(roads):
    network, trips = roads
    feeder = int(network.feeders(7)[0])
    (turn, *_) = network.turns[network.turns[:, 0] == feeder]
    (back, *_) = RoutePolicy.solve(
        RouteChoice(network, np.array([7])), network.features @ LOGIT_TRUTH
    ).sample(turn[1:], 300, np.random.default_rng(0))
    links = np.append(feeder, back.states[back.states < network.n_links])
    several = Trips(np.append(trips.destinations, 7), (*trips.links, links))
    with pytest.raises(
        InvalidInputError,
        match=rf"trip {len(trips)}, counted from 0: it reaches its destination 7 on link number 1 "
        rf"of {len(links)} and goes on; .*at_destination='pass'",
    ):
        recursive_logit_problem(network, several)
    assert recursive_logit_problem(network, several, at_destination="pass").evaluate(TRUTH).ok


def test_a_representation_counts_its_trips(problem):
    assert "60 trajectories" in repr(problem)


@pytest.fixture(scope="module")
def borlange(borlange_folder):
    return boirl.load_problem("borlange-recursive-logit", data=str(borlange_folder))


def test_all_trips_of_borlange_are_read(borlange):
    assert len(borlange.demonstrations) == 1832
    assert len(borlange.choice.destinations) == 466
    assert borlange.box.names == ("time", "left", "constant", "u-turn")
    assert borlange.gamma == 1.0
    assert borlange.choice.at_destination == "pass"


def test_some_trips_of_borlange_pass_their_destination(borlange_folder):
    with pytest.raises(InvalidInputError, match=r"and goes on; .*at_destination='pass'"):
        recursive_logit_problem(*boirl.load_road_network(borlange_folder))


def borlange_log_likelihood(theta):
    """From the files to the number, with nothing of boirl in between."""

    def columns(name):
        table = np.loadtxt(BORLANGE / name)
        pairs = [(int(a), int(b)) for a, b in table[:, :2]]
        return pairs, table[:, 2].tolist()

    pairs, _ = columns("linkIncidence.txt")
    times = dict(zip(*columns("ATTRIBUTEestimatedtime.txt"), strict=True))
    angles = dict(zip(*columns("ATTRIBUTEturnangles.txt"), strict=True))
    n_links = max(left for left, _ in pairs)
    utility: dict[tuple[int, int], float] = {}
    leads_to: dict[int, list[int]] = {}
    for left, entered in pairs:
        if entered > n_links:
            leads_to.setdefault(entered, []).append(left)
            continue
        angle = angles.get((left, entered), 0.0)
        seen = (times[left, entered], -3.1 < angle < -0.5236, 1.0, abs(angle) > 3.1)
        utility[left, entered] = sum(w * x for w, x in zip(theta, seen, strict=True))
    recorded: dict[int, list[tuple[int, int]]] = {}
    for (trip, position), link in zip(*columns("observationsForEstimBAI.txt"), strict=True):
        recorded.setdefault(trip, []).append((position, int(link)))
    trips = [[link for _, link in sorted(rows) if link > 0] for rows in recorded.values()]
    destinations = sorted({links[0] for links in trips})
    number = {destination: i for i, destination in enumerate(destinations)}
    ends = np.zeros((n_links, len(destinations)))
    for destination in destinations:
        for link in leads_to[destination]:
            ends[link - 1, number[destination]] = 1.0
    rows, columns_of = np.array(list(utility)).T - 1
    weights = sp.csr_array(
        (np.exp(list(utility.values())), (rows, columns_of)), shape=(n_links, n_links)
    )
    z = spsolve(sp.csc_array(sp.identity(n_links) - weights), ends)
    total = 0.0
    for destination, *links in trips:
        links = [link for link in links if link != destination]
        taken = sum(utility[pair] for pair in pairwise(links))
        total += taken - np.log(z[links[0] - 1, number[destination]])
    return total


def test_the_likelihood_of_borlange_is_that_of_an_independent_computation(borlange):
    found = 1832 * borlange.evaluate(PUBLISHED).nll
    assert found == pytest.approx(6302.93, abs=0.01)
    assert found == pytest.approx(-borlange_log_likelihood(PUBLISHED), rel=1e-6)


def test_the_published_estimate_is_where_the_likelihood_of_borlange_is_highest(borlange):
    assert np.abs(borlange.gradient(PUBLISHED)).max() < 3e-3
    best = minimize(
        lambda theta: (borlange.evaluate(theta).nll, borlange.gradient(theta)),
        PUBLISHED,
        jac=True,
        method="BFGS",
        options={"maxiter": 3, "gtol": 1e-4},
    )
    assert np.abs(best.jac).max() < 1e-3
    np.testing.assert_allclose(best.x, PUBLISHED, atol=0.05)


def test_rewards_are_probed_on_turns(roads):
    problem = recursive_logit_problem(*roads)
    possible = (problem.choice.turn_steps[0] >= 0).sum()
    assert len(problem.probed_transitions()) == possible
    assert problem.jumping_parameters == ()
