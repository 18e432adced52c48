"""Guided cost learning: the loss and its weights."""

from itertools import product

import numpy as np
import pytest
import torch

from boirl import baselines
from boirl.baselines.adversarial import Sample
from boirl.baselines.gcl import GCL, Background, Groups, _largest
from boirl.baselines.learned_reward import LearnedReward
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.policies import TabularPolicy

START, STEPS = 1, 3


def reward_at(problem, unit):
    learned = LearnedReward(problem, "theta", 0, (4,))
    with torch.no_grad():
        learned.unit.copy_(torch.as_tensor(unit))
    return learned


def every_trajectory(problem):
    """All trajectories of `STEPS` steps from `START`, where dynamics are deterministic."""
    parts = []
    for actions in product(range(problem.mdp.n_actions), repeat=STEPS):
        states = [START]
        for action in actions:
            states.append(int(problem.mdp.next_states[states[-1], action]))
        parts.append((states, actions))
    return Demonstrations.from_trajectories(parts)


def returns(problem, learned, trajectories):
    _, theta = learned.current()
    paid = problem.mdp.expected_rewards(problem.reward, np.array([theta]))[0, :, 0]
    discounted = problem.gamma**trajectories.step_numbers * paid[trajectories.states]
    return np.bincount(trajectories.trajectory_numbers, discounted)


def density(policy, trajectories):
    steps = policy.log_prob(trajectories.states, trajectories.actions)
    return np.exp(np.bincount(trajectories.trajectory_numbers, steps))


def two_samples(problem, count, rng):
    """Roll-outs of two policies, the newest of the reward in the middle of the box."""
    policies = [problem.policy(theta) for theta in ((1.5, -1.0), (0.0, 0.0))]
    starts = np.full(count, START)
    return [Sample(policy, problem.roll_out(policy, starts, STEPS, rng)) for policy in policies]


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("unit", [(0.6, 0.45), (0.9, 0.1)])
def test_the_partition_function_is_that_of_all_trajectories(random_problem, relative, unit):
    problem = random_problem(2, deterministic=True)
    rng = np.random.default_rng(0)
    every = every_trajectory(problem)
    before, after = reward_at(problem, (0.5, 0.3)), reward_at(problem, unit)
    samples = two_samples(problem, 4_000, rng)
    change = returns(problem, after, every) - returns(problem, before, every)
    model = (
        density(samples[-1].policy, every) if relative else np.exp(returns(problem, before, every))
    )
    model /= model.sum()
    expected = np.log((model * np.exp(change)).sum())
    demonstrations = every.subset(rng.choice(len(every), 4_000, p=model))
    background = Background(demonstrations, samples, problem.gamma)
    # The weights are exact here: no scaling down.
    method = GCL(relative=relative, effective_share=0.01)
    loss, facts = method.loss(background, before)
    demonstrated = returns(problem, after, demonstrations) - returns(
        problem, before, demonstrations
    )
    found = float(loss(after).detach()) + demonstrated.mean()
    assert found == pytest.approx(expected, abs=0.02)
    assert abs(expected) > 0.05
    assert facts["scale"] == 1.0


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("bellman", ["max", "logsumexp"])
def test_the_gradient_is_that_of_the_loss(random_problem, relative, bellman):
    problem = random_problem(5, bellman)
    rng = np.random.default_rng(1)
    starts = problem.demonstrations.starts
    samples = [
        Sample(policy, problem.roll_out(policy, starts, 6, rng))
        for policy in (problem.policy((1.0, 0.5)), problem.policy((-0.4, 0.8)))
    ]
    background = Background(problem.demonstrations, samples, problem.gamma)
    loss, _ = GCL(relative=relative).loss(background, reward_at(problem, (0.4, 0.7)))
    unit = np.array([0.43, 0.62])
    learned = reward_at(problem, unit)
    loss(learned).backward()
    for index, step in enumerate(1e-6 * np.eye(2)):
        ends = [float(loss(reward_at(problem, unit + sign * step)).detach()) for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / 2e-6
        assert float(learned.unit.grad[index]) == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_demonstrations_that_the_policy_explains_leave_the_reward_alone(random_problem):
    problem = random_problem(2, deterministic=True)
    every = every_trajectory(problem)
    policy = problem.policy((0.0, 0.0))
    shares = density(policy, every)
    counts = np.round(20_000 * shares).astype(int)
    drawn = every.subset(np.repeat(np.arange(len(every)), counts))
    background = Background(drawn, [Sample(policy, drawn)], problem.gamma)
    learned = reward_at(problem, (0.5, 0.5))
    loss, facts = GCL().loss(background, learned)
    loss(learned).backward()
    np.testing.assert_allclose(learned.unit.grad, 0.0, atol=1e-12)
    assert facts["effective_share"] == pytest.approx(1.0)


def test_weights_are_over_the_mixture_of_all_policies(random_problem):
    problem = random_problem(2, deterministic=True)
    samples = two_samples(problem, 50, np.random.default_rng(0))
    demonstrations = samples[0].trajectories
    background = Background(demonstrations, samples, problem.gamma)
    trajectories = background.trajectories
    older, newest = (density(sample.policy, trajectories) for sample in samples)
    expected = newest / ((newest + 2.0 * 0.5 * (older + newest)) / 3.0)
    weights = torch.exp(background.log_weights(background.log_policy))
    np.testing.assert_allclose(weights, expected)
    np.testing.assert_allclose(torch.exp(background.log_sampled), 0.5 * (older + newest))


def test_groups_start_alike_and_are_as_long():
    first = ([0, 1], [0, 0])
    demonstrations = Demonstrations.from_trajectories(
        [first, ([1, 0], [0, 1]), first, ([0], [1]), ([0, 0], [0, 1])]
    )
    policy = TabularPolicy(np.log(np.full((2, 2), 0.5)))
    sample = Sample(policy, demonstrations)
    background = Background(demonstrations, [sample, sample], 0.9)
    numbers = background.groups.numbers.numpy()
    np.testing.assert_array_equal(numbers, np.tile(numbers[:5], 3))
    assert numbers[0] == numbers[2] == numbers[4]
    assert len({numbers[0], numbers[1], numbers[3]}) == 3
    np.testing.assert_allclose(background.shares[numbers[:5]], [0.6, 0.2, 0.6, 0.2, 0.6])


def test_means_and_effective_shares_of_groups():
    groups = Groups(np.array([0, 1, 0, 1, 1]))
    values = torch.tensor([1.0, -2.0, 3.0, 0.5, 700.0], dtype=torch.float64)
    expected = [np.log(np.mean(np.exp([1.0, 3.0]))), 700.0 - np.log(3.0)]
    np.testing.assert_allclose(groups.log_mean_exp(values), expected)
    np.testing.assert_allclose(groups.effective_share(torch.zeros(5)), [1.0, 1.0])
    collapsed = torch.tensor([0.0, 0.0, -500.0, -500.0, -500.0], dtype=torch.float64)
    np.testing.assert_allclose(groups.effective_share(collapsed), [1 / 2, 1 / 3])
    np.testing.assert_allclose(groups.effective_share(collapsed - 3e4), [1 / 2, 1 / 3])


def test_weights_that_collapse_are_scaled_down(gridworld):
    def share(scale):
        return 1.0 / (1.0 + 8.0 * scale)

    assert _largest(share, 0.5) == pytest.approx(1 / 8, rel=1e-4)
    assert _largest(share, 0.1) == 1.0
    run = baselines.get("gcl", relative=False).run(gridworld, 3, 1002)
    assert all(one.facts["scale"] < 1.0 for one in run.evaluations)


def test_no_share_is_no_share():
    with pytest.raises(InvalidInputError, match=r"effective_share is 1.5; expected a number"):
        baselines.get("gcl", effective_share=1.5)
