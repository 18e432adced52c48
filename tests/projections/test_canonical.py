"""Canonical: shaping changes nothing, whatever the reward, the dynamics and the lengths."""

import numpy as np
import pytest
import torch
from scipy.special import logsumexp

import boirl
from boirl.demonstrations import Demonstrations
from boirl.domains.roads.files import Trips
from boirl.domains.roads.recursive_logit import recursive_logit_problem
from boirl.domains.roads.town import generate_town
from boirl.environments import TabularMDP
from boirl.errors import DemonstrationError, InvalidInputError
from boirl.problem import TabularProblem
from boirl.projections import Canonical, LogRho, sample_rollouts
from boirl.rewards import CallableReward, LinearReward, Transitions
from boirl.search.growth import GrowingRollouts
from boirl.search.settings import SearchSettings

S, A = 4, 3
GAMMA, LENGTH = 0.9, 15
KINDS = ["state", "state_action", "transition"]
DYNAMICS = pytest.mark.parametrize("deterministic", [False, True], ids=["stochastic", "certain"])
PAID_FOR = pytest.mark.parametrize("kind", KINDS)


def lookup(table, steps, kind):
    """Rows `T` or `T x p` of a table on states, state-actions or transitions."""
    relevant = (steps.states, steps.actions, steps.next_states)[: 1 + KINDS.index(kind)]
    return table[relevant]


def table_of(kind, seed, *more):
    shape = (S, A, S)[: 1 + KINDS.index(kind)]
    return np.random.default_rng(seed).normal(size=(*shape, *more))


def curved_reward(kind, seed=0):
    """Not linear in theta, with two parameters."""
    table = torch.tensor(table_of(kind, seed))

    def reward(theta, steps):
        return torch.tanh(theta[:, :1] * lookup(table, steps, kind) + theta[:, 1:])

    return CallableReward(reward, {"a": (-2.0, 2.0), "b": (-2.0, 2.0)}, kind)


def shaped_reward(kind, seed=0, size=5.0):
    """The curved reward and two potentials, whose weights are parameters."""
    base = curved_reward(kind, seed)
    potentials = torch.tensor(np.random.default_rng(seed + 1).uniform(-size, size, (S, 2)))

    def reward(theta, steps):
        shaping = GAMMA * potentials[steps.next_states] - potentials[steps.states]
        return base(theta[:, :2], steps) + theta[:, 2:] @ shaping.T

    bounds = dict.fromkeys("abcd", (-2.0, 2.0))
    return CallableReward(reward, bounds, "transition")


def linear_reward(kind, seed=0):
    features = table_of(kind, seed, 2)
    bounds = {"a": (-2.0, 2.0), "b": (-2.0, 2.0)}
    return LinearReward(lambda steps: lookup(features, steps, kind), bounds, kind)


def as_a_function(linear):
    """The same family without the shortcut for linear ones."""
    return CallableReward(linear.evaluate, linear.parameters, linear.depends_on)


def project(kind_of, problem, seed=0, count=4):
    rollouts = sample_rollouts(problem, problem.demonstrations, count, np.random.default_rng(seed))
    return kind_of(problem, problem.demonstrations, rollouts)


def thetas_of(problem, count=3, seed=0):
    return problem.box.from_unit(np.random.default_rng(seed).random((count, problem.box.dimension)))


def brute_force(canonical, problem, theta):
    """Log rho of the canonical reward itself, summed up step by step, values solved densely."""
    dynamics = problem.mdp.transition.toarray().reshape(S, A, S)
    every = Transitions(*(axis.reshape(-1) for axis in np.indices((S, A, S))))
    reward = problem.reward(torch.tensor(theta), every).numpy().reshape(S, A, S)
    paid = (dynamics * reward).sum(axis=2).mean(axis=1)
    values = np.linalg.solve(np.eye(S) - problem.gamma * dynamics.mean(axis=1), paid)
    reward = reward + problem.gamma * values - values[:, None, None]

    def discounted(trajectory):
        steps = zip(*trajectory, strict=True)
        return sum(problem.gamma**t * reward[step] for t, step in enumerate(steps))

    expected = []
    for own, others in zip(canonical.demonstrations, canonical.rollouts, strict=True):
        returns = [discounted(own), *map(discounted, others)]
        expected.append(returns[0] - logsumexp(returns))
    return expected


@DYNAMICS
@PAID_FOR
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shaping_changes_nothing_where_it_changes_log_rho(
    random_problem, kind, deterministic, seed
):
    problem = random_problem(
        seed, deterministic=deterministic, reward=shaped_reward(kind, seed), horizon=LENGTH
    )
    plain = thetas_of(problem, 4, seed) * [1.0, 1.0, 0.0, 0.0]
    shaped = plain + np.array([0.0, 0.0, 1.5, -2.0])
    canonical, log_rho = (project(one, problem, seed) for one in (Canonical, LogRho))
    apart = canonical.transform(shaped) - canonical.transform(plain)
    assert float(apart.abs().max()) < 1e-9
    assert float((log_rho.transform(shaped) - log_rho.transform(plain)).abs().max()) > 1e-3
    assert float(canonical.transform(plain).std(dim=0).max()) > 1e-2  # other rewards stay apart


@DYNAMICS
@PAID_FOR
def test_it_is_log_rho_of_the_canonical_reward(random_problem, kind, deterministic):
    for reward in (curved_reward(kind), linear_reward(kind)):
        problem = random_problem(0, deterministic=deterministic, reward=reward, horizon=LENGTH)
        canonical = project(Canonical, problem)
        for theta in thetas_of(problem):
            found = canonical.transform(theta)
            np.testing.assert_allclose(
                found, brute_force(canonical, problem, theta), rtol=0.0, atol=1e-11
            )


def test_it_is_what_one_works_out_by_hand():
    # State 1 pays w for ever, state 0 nothing; from 0 the uniform policy leaves half of the time.
    # V(1) = 2 w, V(0) = V(0) / 4 + V(1) / 4 = 2 w / 3; one step of gamma = 1/2 from state 0.
    mdp = TabularMDP.from_next_states([[0, 1], [1, 1]], gamma=0.5)
    own = Demonstrations.from_arrays([[0, 1]], [[1]])
    others = Demonstrations.from_arrays([[0, 0]], [[0]])
    problem = TabularProblem(mdp, LinearReward(np.array([[0.0], [1.0]]), {"w": (-3, 3)}), own)
    found = Canonical(problem, own, [others]).transform([[3.0]])
    np.testing.assert_allclose(found, [[3.0 - np.logaddexp(3.0, 1.0)]], rtol=1e-13)


@pytest.mark.parametrize("entries", [200_000, 0], ids=["dense", "sparse"])
@PAID_FOR
def test_gradients_match_finite_differences(random_problem, monkeypatch, kind, entries):
    monkeypatch.setattr("boirl.projections.rho.DENSE_ENTRIES", entries)
    problem = random_problem(0, reward=curved_reward(kind), horizon=LENGTH)
    theta = torch.tensor(thetas_of(problem), requires_grad=True)
    assert torch.autograd.gradcheck(project(Canonical, problem).transform, theta)


@DYNAMICS
@PAID_FOR
def test_the_shortcut_for_linear_rewards_gives_the_same(random_problem, kind, deterministic):
    linear = linear_reward(kind)
    quick, general = (
        project(Canonical, random_problem(0, deterministic=deterministic, reward=family))
        for family in (linear, as_a_function(linear))
    )
    thetas = thetas_of(random_problem(0), 5)
    torch.testing.assert_close(quick.transform(thetas), general.transform(thetas))


@PAID_FOR
def test_a_fixed_parameter_projects_as_its_value_does(random_problem, kind):
    for family in (linear_reward(kind), curved_reward(kind)):
        free = project(Canonical, random_problem(0, reward=family))
        fixed = project(Canonical, random_problem(0, reward=family.fix(b=1.5)))
        torch.testing.assert_close(fixed.transform([[0.5]]), free.transform([[0.5, 1.5]]))


def test_one_reward_described_in_three_ways_has_one_projection(random_problem):
    paid, bounds = np.arange(4.0)[:, None], {"w": (-1.0, 1.0)}
    families = (
        LinearReward(paid, bounds),
        LinearReward(np.repeat(paid[:, None], A, axis=1), bounds),
        LinearReward(lambda steps: paid[steps.states], bounds),
    )
    first, *others = (
        project(Canonical, random_problem(0, reward=one)).transform([[0.7]])
        for family in families
        for one in (family, as_a_function(family))
    )
    for other in others:
        torch.testing.assert_close(other, first)


def ragged(problem, lengths=(3, 15, 7), seed=0):
    """A demonstration and roll-outs of all these lengths, whatever that of the demonstration."""
    rng = np.random.default_rng(seed)
    own = [problem.roll_out(None, np.array([1]), length, rng) for length in lengths]
    others = [problem.roll_out(None, np.ones(3, dtype=int), length, rng) for length in lengths]
    return Demonstrations.concatenate(own), [Demonstrations.concatenate(others)] * len(lengths)


@DYNAMICS
def test_lengths_may_be_mixed(random_problem, deterministic):
    problem = random_problem(0, deterministic=deterministic, reward=shaped_reward("state"))
    canonical = Canonical(problem, *ragged(problem))
    plain, shaped = canonical.transform([[1.0, 0.5, 0.0, 0.0], [1.0, 0.5, 2.0, -1.0]])
    torch.testing.assert_close(shaped, plain, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(
        plain, brute_force(canonical, problem, np.array([1.0, 0.5, 0.0, 0.0])), atol=1e-11
    )


def test_a_constant_reward_more_changes_nothing_at_any_lengths(random_problem):
    # A constant is shaping by a constant potential, so that lengths do not matter either.
    features = np.hstack([table_of("state", 0, 1), np.ones((S, 1))])
    linear = LinearReward(features, {"w": (-2.0, 2.0), "constant": (-10.0, 10.0)})
    for reward in (linear, as_a_function(linear)):
        problem = random_problem(0, reward=reward)
        for canonical in (project(Canonical, problem), Canonical(problem, *ragged(problem))):
            plain, up, down = canonical.transform([[1.5, 0.0], [1.5, 10.0], [1.5, -10.0]])
            torch.testing.assert_close(up, plain, rtol=0.0, atol=1e-9)
            torch.testing.assert_close(down, plain, rtol=0.0, atol=1e-9)


def test_many_thetas_go_in_batches(random_problem, monkeypatch):
    problem = random_problem(0, reward=curved_reward("transition"))
    canonical, thetas = project(Canonical, problem), torch.tensor(thetas_of(problem, 7))
    at_once = canonical.project(thetas)
    monkeypatch.setattr("boirl.projections.canonical.ENTRIES_AT_ONCE", 2 * S * A * S)
    torch.testing.assert_close(canonical.project(thetas), at_once)


def test_twenty_thousand_states_are_no_obstacle():
    n = 20_000
    ring = np.arange(n)[:, None] + [-1, 0, 1]
    potential = np.random.default_rng(0).uniform(-5.0, 5.0, n)
    paid = np.random.default_rng(1).normal(size=n)

    def features(steps):
        shaping = GAMMA * potential[steps.next_states] - potential[steps.states]
        return np.stack([paid[steps.states], shaping], axis=1)

    reward = LinearReward(features, {"w": (-1.0, 1.0), "shaping": (-1.0, 1.0)})
    mdp = TabularMDP.from_next_states(ring % n, GAMMA)
    rng = np.random.default_rng(2)
    walks = rng.integers(3, size=(300, LENGTH))
    states = (rng.integers(n, size=(300, 1)) + np.cumsum(walks - 1, axis=1)) % n
    demonstrations = Demonstrations.from_arrays(states, np.roll(walks, -1, axis=1))
    problem = TabularProblem(mdp, reward, demonstrations)
    plain, shaped = project(Canonical, problem).transform([[1.0, 0.0], [1.0, 1.0]])
    torch.testing.assert_close(shaped, plain, rtol=0.0, atol=1e-9)


def test_a_discount_of_one_is_refused(random_problem):
    with pytest.raises(InvalidInputError, match=r"gamma is 1; .*discount below 1.*log-rho"):
        project(Canonical, random_problem(0, gamma=1.0))


def test_a_problem_without_known_dynamics_is_refused():
    network = generate_town(60, 0)
    ((destination, feeders),) = network.destinations.items()
    trip = network.turns[network.turns[:, 1] == feeders[0]][0]
    problem = recursive_logit_problem(network, Trips(np.array([destination]), (trip,)))
    with pytest.raises(
        InvalidInputError, match=r"RecursiveLogitProblem; .*needs known dynamics.*log-rho"
    ):
        project(Canonical, problem)


def test_an_unknown_end_is_filled_in_or_refused(random_problem):
    unknown = Demonstrations.from_arrays([[0, 1]], [[0, 0]])
    mdp = TabularMDP.from_next_states([[1, 1, 1], [2, 2, 2], [3, 3, 3], [0, 0, 1]], gamma=GAMMA)
    problem = TabularProblem(mdp, linear_reward("state"), unknown)
    known = Demonstrations.from_arrays([[0, 1, 2]], [[0, 0]])
    rollouts = [Demonstrations.from_arrays([[0, 1, 2], [3, 1, 2]], [[0, 0], [2, 0]])]
    filled, given = (Canonical(problem, one, rollouts) for one in (unknown, known))
    torch.testing.assert_close(filled.transform([[1.0, 0.5]]), given.transform([[1.0, 0.5]]))
    with pytest.raises(DemonstrationError, match=r"1 of 3 .*first trajectory 0.*log-rho"):
        Canonical(random_problem(0), unknown, rollouts)


def test_dropped_parameters_and_growing_rollouts_keep_it_canonical(random_problem):
    reward = shaped_reward("state").fix(d=1.0)
    problem = random_problem(0, reward=reward, horizon=LENGTH)
    surrogate = SearchSettings(projection="canonical", drop=("d",)).build_surrogate(problem)
    thetas = np.array([[1.0, 0.5, 0.0], [1.0, 0.5, 2.0]])
    evaluations = [problem.evaluate(theta) for theta in thetas]
    grown = GrowingRollouts(problem, surrogate, seed=0)(evaluations).projection
    assert isinstance(surrogate.projection, Canonical)
    assert isinstance(grown, Canonical)
    assert len(grown.rollouts[0]) > len(surrogate.projection.rollouts[0])
    assert grown.reward.parameters[-1].fixed == 0.0
    plain, shaped = grown.transform(thetas)
    torch.testing.assert_close(shaped, plain, rtol=0.0, atol=1e-9)


def test_a_search_with_it_runs_saves_and_loads(gridworld, tmp_path):
    found = boirl.explore(gridworld, evaluations=6, projection="canonical")
    found.save(tmp_path / "rewards.npz")
    loaded = boirl.RewardSet.load(tmp_path / "rewards.npz")
    assert isinstance(loaded.surrogate.projection, Canonical)
    np.testing.assert_array_equal(loaded.thetas, found.thetas)
    assert torch.equal(
        loaded.surrogate.projection.transform(found.thetas),
        found.surrogate.projection.transform(found.thetas),
    )


def test_the_command_line_takes_it(command):
    code, output, _ = command("run", "gridworld", "--evaluations", 3, "--projection", "canonical")
    assert code == 0
    assert "3 evaluations" in output
