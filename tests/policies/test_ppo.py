from dataclasses import replace

import numpy as np
import pytest
import torch

from boirl.domains.maze import simulator as maze
from boirl.errors import InvalidInputError, SolverError
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.actor_critic import ACTOR, CRITIC, Parts
from boirl.policies.network import NetworkPolicy
from boirl.policies.ppo import Batch, Experience, PPOLearner, VectorPPO
from boirl.policies.solver import Run, Task
from boirl.rewards import CallableReward

SIMULATOR = maze.PointMassMaze()
HORIZON = 40


def task(theta=(0.3, 0.0), reward=None):
    return Task(SIMULATOR, reward or maze.TargetReward(), np.array(theta), 0.9, HORIZON)


TARGET = task()
SMALL = VectorPPO(steps=600, copies=8, rollout=15, hidden=8, epochs=2, minibatches=2)


def mean_reward(policy, chosen=TARGET):
    drawn = SIMULATOR.roll_out(policy, 200, HORIZON, np.random.default_rng(0))
    return chosen.rewards(drawn.states, drawn.actions, drawn.next_states).mean()


def assert_close(first, second, tolerance):
    for name in ("weights", "biases"):
        for a, b in zip(getattr(first, name), getattr(second, name), strict=True):
            np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance)
    np.testing.assert_allclose(first.log_sd, second.log_sd, rtol=0.0, atol=tolerance)


def farthest(first, second):
    return max(np.abs(a - b).max() for a, b in zip(first.weights, second.weights, strict=True))


def test_a_small_budget_is_much_better_than_chance():
    solver = VectorPPO(steps=6_000, copies=16, rollout=25, hidden=32)
    chosen = task((-0.05, 0.0))
    chance = mean_reward(None, chosen)
    assert mean_reward(solver.solve(chosen, Run(0)), chosen) > 0.7 * chance


def test_runs_one_after_another_are_what_they_are_alone():
    runs = [Run(seed) for seed in (5, 6, 7)]
    together = SMALL.solve_all(TARGET, runs)
    for run, policy in zip(runs, together, strict=True):
        assert_close(policy, SMALL.solve(TARGET, run), 0.0)
    assert farthest(together[0], together[1]) > 0.1


def test_the_same_seed_gives_the_same_policy_whatever_was_drawn_before():
    first = SMALL.solve(TARGET, Run(3))
    torch.rand(10)
    np.random.default_rng(0).random(3)
    assert_close(first, SMALL.solve(TARGET, Run(3)), 0.0)


def test_global_random_numbers_and_threads_are_left_alone():
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    theirs = np.random.get_state()[1].copy()  # noqa: NPY002
    SMALL.solve(TARGET, Run(0))
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(np.random.get_state()[1], theirs)  # noqa: NPY002
    assert torch.get_num_threads() == threads


def test_training_depends_on_the_reward():
    first, second = (SMALL.solve(task(theta), Run(0)) for theta in ((0.3, 0.0), (-0.9, 0.4)))
    assert farthest(first, second) > 1e-3


def test_a_warm_start_is_where_training_starts():
    first = SMALL.solve(TARGET, Run(0))
    slow = replace(SMALL, learning_rate=1e-9)
    warm, cold = slow.solve_all(TARGET, [Run(1, warm_start=first), Run(1)])
    assert farthest(warm, first) < 1e-6
    assert farthest(cold, first) > 0.1
    assert farthest(SMALL.solve(TARGET, Run(1, warm_start=first)), first) > 1e-3


@pytest.mark.parametrize("change", [{"hidden": 9}, {"activation": "relu"}])
def test_a_warm_start_of_another_shape_is_refused(change):
    if "hidden" in change:
        other = replace(SMALL, **change).solve(TARGET, Run(0))
    else:
        other = replace(SMALL.solve(TARGET, Run(0)), **change)
    with pytest.raises(InvalidInputError, match="expected tanh layers of shapes"):
        SMALL.solve(TARGET, Run(0, warm_start=other))


def loss(learner, batch):
    """What `differentiate` is the derivative of, for automatic differentiation, by all parts."""
    networks, settings = learner.networks, learner.settings
    vector = networks.vector.double().requires_grad_()
    parts = Parts.of(vector, networks.sizes)
    values = batch.observations.double().expand(2, -1, -1)
    for weight, bias in zip(parts.weights[:-1], parts.biases[:-1], strict=True):
        values = torch.tanh(values @ weight + bias)
    mean, critic = values @ parts.weights[-1] + parts.biases[-1]
    normal = torch.distributions.Normal(mean, parts.log_sd.exp())
    log_prob = normal.log_prob(batch.actions.double()).sum(dim=1)
    constant = 0.5 * np.log(2.0 * np.pi) * mean.shape[1]
    ratio = torch.exp(log_prob + constant - batch.log_prob.double())
    advantages = batch.advantages.double()
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    clipped = ratio.clamp(1.0 - settings.clip, 1.0 + settings.clip)
    gain = torch.minimum(ratio * advantages, clipped * advantages)
    error = (critic[:, 0] - batch.returns.double()).square()
    whole = (settings.value_weight * error - gain).mean()
    (gradient,) = torch.autograd.grad(whole, vector)
    return gradient, (ratio - 1.0).abs()


def test_the_gradient_is_that_of_the_loss():
    learner = PPOLearner(SMALL, SIMULATOR, Run(4))
    rng = np.random.default_rng(0)
    with torch.no_grad():
        learner.networks.parts.log_sd.copy_(torch.tensor([-0.3, 0.2]))
        learner.networks.parts.weights[-1][ACTOR] *= 50.0
        drawn = (rng.standard_normal((60, 2)).astype(np.float32) for _ in range(2))
        observations, actions = map(torch.from_numpy, drawn)
        mean = learner.networks.forward(observations)[-1][ACTOR]
        then = learner.log_prob(mean, actions) + 0.3 * torch.from_numpy(
            rng.standard_normal(60).astype(np.float32)
        )
        others = (torch.from_numpy(rng.standard_normal(60).astype(np.float32)) for _ in range(2))
        batch = Batch(observations, actions, *others, then)  # type: ignore[call-arg]
        learner.differentiate(batch)
    expected, moved = loss(learner, batch)
    assert (moved > SMALL.clip).sum() > 10
    assert (moved < SMALL.clip).sum() > 10
    np.testing.assert_allclose(learner.networks.vector.grad, expected, atol=1e-6, rtol=1e-4)


def test_the_unused_outputs_of_the_critic_stay_out_of_it():
    learner = PPOLearner(SMALL, SIMULATOR, Run(4))
    with torch.no_grad():
        batch, _ = Experience(SMALL, TARGET, 4).gather(learner)
        learner.update(batch, np.random.default_rng(0))
    parts = learner.networks.parts
    assert not parts.weights[-1][CRITIC, :, 1:].any()
    assert not parts.biases[-1][CRITIC, :, 1:].any()
    assert parts.weights[-1][CRITIC, :, 0].all()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_rewards_that_are_not_finite_are_a_solver_error(value):
    reward = CallableReward(
        lambda theta, steps: theta[:, :1] + torch.full((1, len(steps)), value), {"w": (0.0, 1.0)}
    )
    with pytest.raises(SolverError, match=f"the mean reward is {value} after 120 steps"):
        SMALL.solve(task((0.5,), reward), Run(0))


def test_divergence_is_a_solver_error():
    with pytest.raises(SolverError, match="training diverged"):
        replace(SMALL, learning_rate=1e30).solve(TARGET, Run(0))


def test_progress_is_reported_up_to_the_end():
    reports = []
    SMALL.solve(TARGET, Run(0), lambda share, message: reports.append((share, message)))
    assert [share for share, _ in reports] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert reports[-1][1].startswith("mean reward -0.")


def test_budgets_below_a_batch_still_learn_from_one():
    reports = []
    replace(SMALL, steps=1).solve(TARGET, Run(0), lambda share, _: reports.append(share))
    assert reports == [1.0]


def test_the_reward_is_of_the_action_that_the_environment_executes():
    largest = []

    def spy(theta, steps):
        largest.append(np.abs(steps.actions).max())
        return theta[:, :1] * torch.as_tensor(steps.actions).double().sum(dim=1)

    reward = CallableReward(spy, {"weight": (0.0, 1.0)}, "state_action")
    replace(SMALL, initial_log_sd=1.0).solve(task((1.0,), reward), Run(0))
    assert max(largest) == 1.0


def test_the_policy_is_censored_guarded_and_knows_the_scale():
    policy = SMALL.solve(TARGET, Run(0))
    expected = UniformMixture(CensoredGaussian((-1.0, -1.0), (1.0, 1.0)), SMALL.uniform_share)
    assert policy.actions == expected
    np.testing.assert_array_equal(policy.centre, SIMULATOR.observation_centre)
    np.testing.assert_array_equal(policy.scale, SIMULATOR.observation_scale)
    states = SIMULATOR.reset(5, np.random.default_rng(0))[:, :2]
    again = NetworkPolicy.from_dict(policy.to_dict())
    np.testing.assert_array_equal(again.outputs(states), policy.outputs(states))


def test_gymnasium_environments_are_refused():
    gym_simulator = pytest.importorskip("boirl.environments.gym_simulator")
    simulator = gym_simulator.GymSimulator("Pendulum-v1")
    wrong = Task(simulator, maze.TargetReward(), np.zeros(2), 0.9, HORIZON)
    with pytest.raises(InvalidInputError, match=r"found GymSimulator.*use boirl\.PPO"):
        SMALL.solve(wrong, Run(0))


@pytest.mark.parametrize("name", ["steps", "copies", "rollout", "hidden", "epochs", "minibatches"])
def test_settings_below_one_are_refused(name):
    with pytest.raises(InvalidInputError, match=f"{name} is 0; expected at least 1"):
        VectorPPO(**{name: 0})
