"""Route choice: the linear system, the probabilities that follow from it, and sampling."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.route_choice import RouteChoice, RoutePolicy
from boirl.domains.roads.town import generate_town
from boirl.errors import InvalidInputError, SolverError

WEIGHTS = np.array([-2.0, -1.0, -1.0, -4.0])
NAMES = np.array([0, 7, 9])


def town(seed, at_destination="absorb"):
    """Three destinations, two of them with several links that lead there."""
    network = generate_town(60, seed)
    last = network.n_links - 1
    others = {9: np.array([5, last, 20]), 7: np.array([last])}
    network = replace(network, destinations={**network.destinations, **others})
    return RouteChoice(network, NAMES, at_destination)


@pytest.fixture(scope="module", params=[(0, "absorb"), (1, "absorb"), (0, "pass"), (1, "pass")])
def choice(request):
    return town(*request.param)


@pytest.fixture(scope="module")
def policy(choice):
    return RoutePolicy.solve(choice, choice.network.features @ WEIGHTS)


def dense(network, utilities):
    weights = np.zeros((network.n_links, network.n_links))
    for (left, entered), utility in zip(network.turns, utilities, strict=True):
        weights[left, entered] = np.exp(utility)
    return weights


def dense_towards(choice, utilities):
    """The weights of turns on the way to each destination."""
    weights = np.stack([dense(choice.network, utilities)] * len(NAMES))
    if choice.absorbing:
        for number, name in enumerate(NAMES.tolist()):
            weights[number, choice.network.destinations[name]] = 0.0
    return weights


def radius_of(choice, utilities):
    return np.abs(np.linalg.eigvals(dense_towards(choice, utilities))).max()


def every_step(choice):
    """All states and actions, each `S x A`."""
    return np.meshgrid(np.arange(choice.n_states), np.arange(choice.n_actions), indexing="ij")


def possible_steps(choice):
    """The state that follows each possible (state, action), in plain Python."""
    network, steps = choice.network, {(choice.end, choice.end_trip): choice.end}
    for number, name in enumerate(choice.destinations.tolist()):
        for link in range(network.n_links):
            state = number * network.n_links + link
            if link in network.destinations[name]:
                steps[state, choice.end_trip] = choice.end
                if choice.absorbing:
                    continue
            turns = [turn for turn, (left, _) in enumerate(network.turns) if left == link]
            turns.sort(key=lambda turn: (network.angles[turn], network.turns[turn, 1]))
            for action, turn in enumerate(turns):
                steps[state, action] = number * network.n_links + int(network.turns[turn, 1])
    return steps


def test_actions_lead_where_the_roads_do(choice):
    states, actions = every_step(choice)
    steps = possible_steps(choice)
    expected = [steps.get(step, -1) for step in zip(states.flat, actions.flat, strict=True)]
    np.testing.assert_array_equal(choice.next_states(states, actions).ravel(), expected)


def test_a_move_is_over_the_turn_between_its_links(choice):
    states, actions = every_step(choice)
    turns, following = choice.turns_of(states, actions), choice.next_states(states, actions)
    moved = turns >= 0
    n_links = choice.network.n_links
    between = choice.network.turn_number(states[moved] % n_links, following[moved] % n_links)
    np.testing.assert_array_equal(turns[moved], between)
    np.testing.assert_array_equal(states[moved] // n_links, following[moved] // n_links)
    assert set(following[~moved].tolist()) == {-1, choice.end}


def test_probabilities_sum_to_one_and_are_zero_for_impossible_actions(choice, policy):
    states, actions = every_step(choice)
    probabilities = np.exp(policy.log_probabilities(np.arange(choice.n_states)))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(probabilities > 0, choice.next_states(states, actions) >= 0)
    some = np.random.default_rng(0).permutation(choice.n_states)[:50]
    np.testing.assert_array_equal(
        policy.log_prob(some, actions[some, 0]), policy.log_probabilities(some)[:, 0]
    )


def test_z_solves_the_fixed_point_for_every_destination(choice, policy):
    towards = dense_towards(choice, policy.utilities)
    for values, weights, name in zip(policy.values, towards, NAMES.tolist(), strict=True):
        ends = np.zeros(choice.network.n_links)
        ends[choice.network.destinations[name]] = 1.0
        z = np.exp(values)
        np.testing.assert_allclose(z, weights @ z + ends, rtol=1e-12)


def test_probabilities_are_those_of_the_formula(choice, policy):
    weights, n_links = dense(choice.network, policy.utilities), choice.network.n_links
    found = np.exp(policy.log_probabilities(np.arange(choice.n_states)))
    for (state, action), following in possible_steps(choice).items():
        if state == choice.end:
            continue
        number, link = divmod(state, n_links)
        z = np.exp(policy.values[number])
        ends = following == choice.end
        expected = 1.0 if ends else weights[link, following % n_links] * z[following % n_links]
        assert found[state, action] == pytest.approx(expected / z[link], rel=1e-10)


def test_a_path_is_as_likely_as_its_utility_less_the_value_of_the_origin(choice, policy):
    n_links = choice.network.n_links
    starts = np.random.default_rng(0).integers(choice.end, size=40)
    for states, actions, _ in policy.sample(starts, 300, np.random.default_rng(1)):
        number, origin = divmod(int(states[0]), n_links)
        turns = choice.turns_of(states, actions)
        utility = policy.utilities[turns[turns >= 0]].sum()
        assert policy.log_prob(states, actions).sum() == pytest.approx(
            utility - policy.values[number, origin], abs=1e-9
        )


def test_trips_become_states_and_actions(choice):
    network = choice.network
    link = int(network.destinations[9][1])
    before = int(network.turns[network.turns[:, 1] == link][0, 0])
    states, actions = choice.demonstrate(9, np.array([before, link]))
    assert states.tolist() == [2 * network.n_links + before, 2 * network.n_links + link, choice.end]
    np.testing.assert_array_equal(choice.next_states(states[:-1], actions), states[1:])
    with pytest.raises(InvalidInputError, match=f"no turn leads from link {link} to {link}"):
        choice.demonstrate(9, np.array([link, link]))
    with pytest.raises(InvalidInputError, match="no trips go to destination 8"):
        choice.states_of(8, np.array([0]))


def test_sampled_trips_take_possible_steps_to_the_end_and_stay_there(choice, policy):
    starts = np.arange(choice.n_states)
    sampled = policy.sample(starts, 300, np.random.default_rng(0))
    np.testing.assert_array_equal(sampled.starts, starts)
    steps = possible_steps(choice)
    for states, actions, following in sampled:
        assert states[1:].tolist() == following[:-1].tolist()
        for state, action, after in zip(states, actions, following, strict=True):
            assert steps[state, action] == after
        assert following[-1] == choice.end


def test_sampled_steps_are_as_frequent_as_they_are_likely(choice, policy):
    n = 20_000
    start = int(choice.states_of(0, np.array([3]))[0])
    first = policy.sample(np.full(n, start), 1, np.random.default_rng(0)).actions
    found = np.bincount(first, minlength=choice.n_actions) / n
    expected = np.exp(policy.log_probabilities(np.array([start]))[0])
    assert (np.abs(found - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / n)).all()


@pytest.mark.parametrize("drawn", [0.0, np.nextafter(1.0, 0.0)])
def test_the_most_extreme_draws_are_possible_steps_too(choice, policy, drawn):
    always = SimpleNamespace(random=lambda size: np.full(size, drawn))
    sampled = policy.sample(np.arange(choice.n_states), 5, always)
    assert sampled.next_states.min() >= 0


def test_the_same_seed_gives_the_same_trips(choice, policy):
    starts = np.arange(20)
    first, again, other = (
        policy.sample(starts, 30, np.random.default_rng(seed)).to_dict() for seed in (5, 5, 6)
    )
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])
    assert (first["states"] != other["states"]).any()


def test_the_uniform_policy_is_uniform_over_possible_actions(choice):
    probabilities = np.exp(
        RoutePolicy.uniform(choice).log_probabilities(np.arange(choice.n_states))
    )
    possible = choice.next_states(*every_step(choice)) >= 0
    np.testing.assert_allclose(probabilities, possible / possible.sum(axis=1, keepdims=True))


def test_circles_that_cost_nothing_are_refused(choice):
    free = np.zeros(len(choice.network.turns))
    with pytest.raises(SolverError, match="diverges"):
        RoutePolicy.solve(choice, free)


@given(
    seed=st.integers(0, 10_000),
    margin=st.floats(1e-6, 2.0),
    sign=st.sampled_from([-1.0, 1.0]),
)
def test_the_sum_over_routes_exists_below_a_spectral_radius_of_one(seed, margin, sign):
    choice = town(seed % 3, "absorb" if seed % 2 else "pass")
    weights = np.random.default_rng(seed).uniform(-3.0, 0.5, 4)
    utilities = choice.network.features @ weights
    radius = radius_of(choice, utilities)
    # Another constant for each turn scales M.
    shifted = utilities - np.log(radius) + sign * margin
    if sign < 0:
        policy = RoutePolicy.solve(choice, shifted)
        assert np.isfinite(policy.values).all()
    else:
        with pytest.raises(SolverError, match="diverges"):
            RoutePolicy.solve(choice, shifted)


def test_scaled_utilities_diverge_where_the_spectral_radius_says_so(choice):
    utilities = choice.network.features @ np.array([-2.0, -1.0, -1.5, -4.0])
    found, expected = [], []
    for scale in np.linspace(0.05, 1.5, 60):
        expected.append(radius_of(choice, scale * utilities) >= 1.0)
        try:
            choice.solve(scale * utilities)
            found.append(False)
        except SolverError:
            found.append(True)
    assert found == expected
    assert 5 < sum(found) < 55


def test_a_circle_of_weight_one_is_refused_unless_the_destination_breaks_it():
    circle = RoadNetwork(np.ones(2), np.array([[1, 0], [0, 1]]), np.zeros(2), {4: np.array([0])})
    with pytest.raises(SolverError, match="diverges"):
        RoutePolicy.solve(RouteChoice(circle, np.array([4]), "pass"), np.zeros(2))
    policy = RoutePolicy.solve(RouteChoice(circle, np.array([4])), np.zeros(2))
    np.testing.assert_array_equal(policy.values, [[0.0, 0.0]])
    np.testing.assert_array_equal(policy.turn_flows(np.array([0, 1, 1])), [2.0, 0.0])


def test_an_unknown_convention_is_refused():
    network = generate_town(60, 0)
    for wrong in ("stop", True, None):
        with pytest.raises(InvalidInputError, match="expected 'absorb' or 'pass'"):
            RouteChoice(network, np.array([0]), wrong)


def test_a_turn_has_a_step_that_takes_it(choice):
    states, actions, following = choice.turn_steps
    possible = states >= 0
    assert possible.any()
    np.testing.assert_array_equal(
        choice.turns_of(states[possible], actions[possible]), np.flatnonzero(possible)
    )
    np.testing.assert_array_equal(
        choice.next_states(states[possible], actions[possible]), following[possible]
    )
    everywhere = np.isin(choice.network.turns[:, 0], choice.network.n_links - 1)
    fed_by_all = everywhere & np.isin(choice.network.n_links - 1, choice.network.feeders(0))
    np.testing.assert_array_equal(~possible, fed_by_all & choice.absorbing)


def test_where_there_is_no_route_no_action_is_possible():
    row = np.array([[0, 1], [1, 2], [2, 3]])
    network = RoadNetwork(np.ones(4), row, np.zeros(3), {4: np.array([1])})
    choice = RouteChoice(network, np.array([4]))
    policy = RoutePolicy.solve(choice, np.full(3, -1.0))
    assert np.isneginf(policy.values[0, 2:]).all()
    probabilities = np.exp(policy.log_probabilities(np.arange(choice.n_states)))
    np.testing.assert_allclose(probabilities.sum(axis=1), [1.0, 1.0, 0.0, 0.0, 1.0])


def test_states_of_a_link_are_named_after_it(choice):
    states = choice.states_at(3)
    assert len(states) == len(choice.destinations)
    assert {choice.state_name(state).split(" on ")[0] for state in states} == {"link 3"}
    assert choice.state_name(choice.end) == "the end"
    assert not len(choice.states_at(choice.network.n_links))
