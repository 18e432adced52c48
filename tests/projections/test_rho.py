import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError
from boirl.problem import TabularProblem
from boirl.projections import LogRho, Rho, sample_rollouts
from boirl.rewards import CallableReward, LinearReward, LogisticReward

SEEDS = st.integers(0, 10_000)
HORIZON, GAMMA = 6, 0.9


def log_rho_of(problem, seed=0, count=4):
    rollouts = sample_rollouts(problem, problem.demonstrations, count, np.random.default_rng(seed))
    return LogRho(problem, problem.demonstrations, rollouts)


def brute_force(returns, rollout_returns):
    """rho as the paper writes it, for returns that do not overflow."""
    own = np.exp(returns)
    return own / (own + sum(np.exp(one) for one in rollout_returns))


def test_rho_is_the_softmax_of_returns_by_hand():
    # Two steps, gamma 1/2, the state is the reward: returns 1 + 2/2 and 1 + 0/2, 1 + 1/2.
    mdp = TabularMDP.from_probabilities(np.full((3, 1, 3), 1 / 3), gamma=0.5)
    own = Demonstrations.from_arrays([[1, 2, 0]], [[0, 0]])
    others = Demonstrations.from_arrays([[1, 0, 0], [1, 1, 0]], [[0, 0], [0, 0]])
    problem = TabularProblem(mdp, LinearReward(np.arange(3.0)[:, None], {"w": (-1, 1)}), own)
    found = Rho(problem, own, [others]).transform([[1.0], [0.0], [-1.0]])
    expected = [brute_force(2.0, [1.0, 1.5]), 1 / 3, brute_force(-2.0, [-1.0, -1.5])]
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-13)


def test_log_rho_is_the_log_of_rho(random_problem):
    problem = random_problem(0)
    log_rho = log_rho_of(problem)
    rho = Rho(problem, log_rho.demonstrations, log_rho.rollouts)
    thetas = problem.box.from_unit(np.random.default_rng(0).random((5, 2)))
    torch.testing.assert_close(rho.transform(thetas).log(), log_rho.transform(thetas))


@given(seed=SEEDS)
def test_a_constant_reward_more_changes_no_rho(random_problem, seed):
    features = np.random.default_rng(seed).uniform(-1.0, 1.0, (4, 1))
    reward = LinearReward(
        np.hstack([features, np.ones((4, 1))]), {"w": (-2.0, 2.0), "constant": (-10.0, 10.0)}
    )
    log_rho = log_rho_of(random_problem(seed, reward=reward), seed)
    plain, up, down = log_rho.transform([[1.5, 0.0], [1.5, 10.0], [1.5, -10.0]])
    torch.testing.assert_close(up, plain, rtol=0.0, atol=1e-11)
    torch.testing.assert_close(down, plain, rtol=0.0, atol=1e-11)


def shaped_log_rho(random_problem, demonstrations, rollouts, potential, seed):
    """Log rho of one demonstration under a random reward on steps, plain and shaped."""
    base = np.random.default_rng(seed).normal(size=(4, 3, 4))

    def features(steps):
        paid = base[steps.states, steps.actions, steps.next_states]
        shaping = GAMMA * potential[steps.next_states] - potential[steps.states]
        return np.stack([paid, shaping], axis=1)

    reward = LinearReward(features, {"w": (-2.0, 2.0), "shaping": (0.0, 1.0)})
    problem = random_problem(seed, reward=reward, gamma=GAMMA)
    return LogRho(problem, demonstrations, [rollouts]).transform([[1.0, 0.0], [1.0, 1.0]])


@given(seed=SEEDS, size=st.sampled_from([1.0, 30.0]))
def test_shaping_changes_log_rho_by_no_more_than_the_ends_differ(
    random_problem, any_demonstrations, seed, size
):
    # A return changes by gamma^L phi(end) - phi(start), and the start is common: log rho changes
    # by the demonstration's gamma^L phi(end) less a mean of those of the whole set.
    rng = np.random.default_rng(seed)
    potential = rng.uniform(-size, size, 4)
    own = any_demonstrations(rng, 1, HORIZON, start=2)
    others = any_demonstrations(rng, 5, HORIZON, start=2)
    plain, shaped = shaped_log_rho(random_problem, own, others, potential, seed)
    ends = potential[[one.next_states[-1] for one in (*own, *others)]]
    bound = GAMMA**HORIZON * np.abs(ends - ends[0]).max()
    assert float((shaped - plain).abs().max()) <= bound + 1e-12


@given(seed=SEEDS)
def test_shaping_changes_no_rho_where_all_trajectories_end_alike(
    random_problem, any_demonstrations, seed
):
    rng = np.random.default_rng(seed)
    potential = rng.uniform(-30.0, 30.0, 4)
    own = any_demonstrations(rng, 1, HORIZON, start=2, end=1)
    others = any_demonstrations(rng, 5, HORIZON, start=2, end=1)
    plain, shaped = shaped_log_rho(random_problem, own, others, potential, seed)
    torch.testing.assert_close(shaped, plain, rtol=0.0, atol=1e-11)


@given(seed=SEEDS)
def test_reordering_demonstrations_reorders_coordinates(random_problem, seed):
    problem = random_problem(seed)
    log_rho = log_rho_of(problem, seed)
    order = np.random.default_rng(seed).permutation(log_rho.dimension)
    reordered = LogRho(
        problem, log_rho.demonstrations.subset(order), [log_rho.rollouts[k] for k in order]
    )
    thetas = problem.box.from_unit(np.random.default_rng(seed).random((3, 2)))
    torch.testing.assert_close(reordered.transform(thetas), log_rho.transform(thetas)[:, order])


def test_sets_of_different_sizes_and_lengths_are_independent(random_problem):
    problem = random_problem(0)
    longer, shorter = problem.demonstrations, random_problem(0, horizon=2).demonstrations
    demonstrations = Demonstrations.concatenate([longer.subset([0]), shorter.subset([1])])
    rng = np.random.default_rng(0)
    rollouts = [
        sample_rollouts(problem, demonstrations.subset([k]), count, rng)[0]
        for k, count in enumerate((2, 7))
    ]
    together = LogRho(problem, demonstrations, rollouts)
    thetas = problem.box.from_unit(rng.random((4, 2)))
    for k in range(2):
        alone = LogRho(problem, demonstrations.subset([k]), [rollouts[k]])
        torch.testing.assert_close(together.transform(thetas)[:, [k]], alone.transform(thetas))


@pytest.mark.parametrize("size", [1e3, 1e4])
@pytest.mark.parametrize("projection", [LogRho, Rho])
def test_huge_returns_do_not_overflow(random_problem, size, projection):
    features = size * np.random.default_rng(0).normal(size=(4, 2))
    reward = LinearReward(features, {"a": (-1.0, 1.0), "b": (-1.0, 1.0)})
    problem = random_problem(0, reward=reward)
    log_rho = log_rho_of(problem)
    projected = projection(problem, log_rho.demonstrations, log_rho.rollouts)
    theta = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [0.3, -1.0]], dtype=torch.float64)
    latent = projected.transform(theta.requires_grad_())
    latent.sum().backward()
    assert torch.isfinite(latent).all()
    assert torch.isfinite(theta.grad).all()


def linear_as_a_function(features, bounds):
    table = torch.tensor(features)
    return CallableReward(lambda theta, steps: theta @ table[steps.states].T, bounds)


def test_the_shortcut_for_linear_rewards_gives_the_same(random_problem):
    features = np.random.default_rng(0).normal(size=(4, 2))
    bounds = {"a": (-1.0, 1.0), "b": (-1.0, 1.0)}
    thetas = np.random.default_rng(1).uniform(-1.0, 1.0, (5, 2))
    quick, general = (
        log_rho_of(random_problem(0, reward=family)).transform(thetas)
        for family in (LinearReward(features, bounds), linear_as_a_function(features, bounds))
    )
    torch.testing.assert_close(quick, general)


def test_one_reward_described_in_three_ways_has_one_projection(random_problem):
    paid, bounds = np.arange(4.0)[:, None], {"w": (-1.0, 1.0)}
    families = (
        LinearReward(paid, bounds),
        LinearReward(np.repeat(paid[:, None], 3, axis=1), bounds),
        LinearReward(lambda steps: paid[steps.states], bounds),
    )
    first, *others = (
        log_rho_of(random_problem(0, reward=family)).transform([[0.7]]) for family in families
    )
    for other in others:
        torch.testing.assert_close(other, first)


def test_sparse_counts_give_the_same_as_dense_ones(gridworld_log_rho, gridworld, monkeypatch):
    monkeypatch.setattr("boirl.projections.rho.DENSE_ENTRIES", 0)
    sparse = LogRho(gridworld, gridworld_log_rho.demonstrations, gridworld_log_rho.rollouts)
    theta = torch.tensor([[1.0, 2.0, 0.5], [-1.0, 4.0, -2.0]], dtype=torch.float64)
    torch.testing.assert_close(sparse.transform(theta), gridworld_log_rho.transform(theta))
    assert torch.autograd.gradcheck(sparse.transform, theta.requires_grad_())


def test_an_unknown_end_is_filled_in_or_refused():
    # The dynamics tell the end; the problem fills it in, the projection is given it as it was.
    mdp = TabularMDP.from_next_states([[1, 1], [2, 2], [2, 2], [3, 3]], gamma=0.9)
    paid = np.array([0.0, 1.0, 2.0, 100.0])
    reward = LinearReward(lambda steps: paid[steps.next_states][:, None], {"w": (-1.0, 1.0)})
    unknown = Demonstrations.from_arrays([[0, 1]], [[0, 0]])
    problem = TabularProblem(mdp, reward, unknown)
    rollouts = sample_rollouts(problem, unknown, 3, np.random.default_rng(0))
    filled = LogRho(problem, problem.demonstrations, rollouts).transform([[1.0]])
    torch.testing.assert_close(LogRho(problem, unknown, rollouts).transform([[1.0]]), filled)


def test_a_set_of_rollouts_for_every_demonstration(gridworld):
    rollouts = [gridworld.demonstrations] * 2
    with pytest.raises(
        InvalidInputError, match="roll-outs for 2 demonstrations and 3 demonstrations"
    ):
        LogRho(gridworld, gridworld.demonstrations.subset([0, 1, 2]), rollouts)


def test_a_fixed_parameter_projects_as_its_value_does(gridworld, gridworld_log_rho):
    fixed = TabularProblem(
        gridworld.mdp, gridworld.reward.fix(translation=1.0), gridworld.demonstrations
    )
    assert isinstance(gridworld.reward, LogisticReward)
    found = LogRho(fixed, gridworld_log_rho.demonstrations, gridworld_log_rho.rollouts)
    torch.testing.assert_close(
        found.transform([[1.0, 2.0]]), gridworld_log_rho.transform([[1.0, 2.0, 1.0]])
    )


def compared_with_policies(problem, thetas):
    chosen = problem.demonstrations.subset(range(5))
    policies = [problem.policy(theta) for theta in thetas]
    rollouts = sample_rollouts(problem, chosen, 5, np.random.default_rng(0), policies)
    return LogRho(problem, chosen, rollouts, compares_policies=True)


def test_the_likeliest_reward_is_where_the_mean_is_highest(gridworld):
    log_rho = compared_with_policies(gridworld, [[-1.0, -5.0, 0.0], [0.2, 8.0, 1.0]])
    likeliest = log_rho.likeliest(gridworld.box)
    others = gridworld.box.from_unit(np.random.default_rng(1).random((500, 3)))
    best = log_rho.transform(gridworld.box.from_unit(likeliest)[None]).mean()
    assert best >= log_rho.transform(others).mean(dim=-1).max()
    again = compared_with_policies(gridworld, [[-1.0, -5.0, 0.0], [0.2, 8.0, 1.0]])
    np.testing.assert_array_equal(again.likeliest(gridworld.box), likeliest)


def test_the_demonstrator_is_likelier_than_those_it_is_compared_with(gridworld):
    others = [[-1.0, -5.0, 0.0], [-2.0, 2.0, 1.0], [0.2, 8.0, 1.0]]
    log_rho = compared_with_policies(gridworld, others)
    means = log_rho.transform([list(gridworld.truth), *others]).mean(dim=-1)
    assert means.argmax() == 0


def test_uniform_behaviour_makes_no_reward_the_likeliest(gridworld, gridworld_log_rho):
    assert gridworld_log_rho.likeliest(gridworld.box) is None


def test_projecting_again_gives_the_same_and_other_thetas_something_else(gridworld_log_rho):
    theta = torch.tensor([[1.0, 4.0, 0.0]], dtype=torch.float64)
    first = gridworld_log_rho.transform(theta)
    assert gridworld_log_rho.transform(theta) is first
    theta[0, 0] = -1.0
    other = gridworld_log_rho.transform(theta)
    torch.testing.assert_close(other, gridworld_log_rho.project(theta))
    assert not torch.allclose(other, first)
    asked = theta.clone().requires_grad_()
    assert gridworld_log_rho.transform(asked).requires_grad
