"""Trips to many destinations: likelihood, gradient, visits and searches."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.sparse.linalg import spsolve

import boirl
from boirl.domains.roads.files import Trips
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.recursive_logit import recursive_logit_problem
from boirl.domains.roads.route_choice import RoutePolicy
from boirl.errors import DemonstrationError, SolverError

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
    return boirl.explore(problem, evaluations=8, seed=1000)


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


@pytest.fixture(scope="module")
def borlange(borlange_folder):
    return boirl.load_problem("borlange-recursive-logit", data=str(borlange_folder))


def test_all_trips_of_borlange_are_read(borlange):
    assert len(borlange.demonstrations) == 1832
    assert len(borlange.choice.destinations) == 466
    assert borlange.box.names == ("time", "left", "constant", "u-turn")
    assert borlange.gamma == 1.0


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
