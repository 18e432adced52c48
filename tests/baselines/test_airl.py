"""Adversarial IRL: the discriminator."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from boirl import baselines
from boirl.baselines.adversarial import Sample
from boirl.baselines.airl import AIRL, Steps
from boirl.demonstrations import UNKNOWN
from boirl.errors import InvalidInputError

TRUTH = (0.7, -1.2)


@pytest.fixture
def problem(random_problem):
    """Demonstrations of a maximum-entropy policy where dynamics are deterministic."""
    random = random_problem(3, "logsumexp", deterministic=True)
    expert = random.policy(TRUTH)
    starts = np.arange(4).repeat(40)
    drawn = random.roll_out(expert, starts, 10, np.random.default_rng(0))
    return random.with_demonstrations(drawn)


def discriminator(problem, theta, values=None, **settings):
    learner = AIRL(**settings).learner(problem, 0)
    with torch.no_grad():
        learner.reward.unit.copy_(torch.as_tensor(problem.box.to_unit(np.array(theta))))
        if values is not None:
            learner.potential.values.copy_(torch.as_tensor(values))
    return learner


def sample(problem, theta, seed=1):
    policy = problem.policy(theta)
    starts = problem.demonstrations.starts
    return Sample(policy, problem.roll_out(policy, starts, 10, np.random.default_rng(seed)))


def test_the_true_reward_with_its_values_is_the_optimum(problem):
    own = sample(problem, TRUTH)
    learner = discriminator(problem, TRUTH, own.policy.values)
    steps = Steps(problem.demonstrations, [own], problem.gamma)
    advantages = learner.advantages(steps.transitions, problem.gamma)
    taken = own.policy.log_prob(steps.transitions.states, steps.transitions.actions)
    np.testing.assert_allclose(advantages.detach(), taken, atol=1e-9)
    # Nobody can tell demonstrations from themselves.
    same = Steps(problem.demonstrations, [Sample(own.policy, problem.demonstrations)], 0.9)
    logits = learner.advantages(same.transitions, problem.gamma) - torch.as_tensor(
        own.policy.log_prob(same.transitions.states, same.transitions.actions)
    )
    loss = same.loss(logits)
    assert float(loss.detach()) == pytest.approx(2.0 * np.log(2.0))
    loss.backward()
    np.testing.assert_allclose(learner.reward.unit.grad, 0.0, atol=1e-9)
    np.testing.assert_allclose(learner.potential.values.grad, 0.0, atol=1e-9)


def test_the_potential_settles_at_the_values(problem):
    own = sample(problem, TRUTH)
    method = AIRL(relative=False, learning_rate=1e-12, potential_rate=0.05, steps=1_000)
    learner = discriminator(problem, TRUTH, potential_rate=0.05, learning_rate=1e-12)
    facts = method.improve(problem, learner, [Sample(own.policy, problem.demonstrations)])
    assert facts["loss"] == pytest.approx(2.0 * np.log(2.0), abs=1e-3)
    found, expected = learner.potential.values.detach().numpy(), own.policy.values
    np.testing.assert_allclose(found, expected, atol=0.2)


@pytest.mark.parametrize("relative", [True, False])
def test_steps_lead_towards_the_demonstrators_reward(problem, relative):
    before = (-0.6, 0.4)
    own = sample(problem, before)
    learner = discriminator(problem, before, own.policy.values)
    facts = AIRL(relative=relative).improve(problem, learner, [own])
    _, after = learner.reward.current()
    away = np.subtract(TRUTH, before)
    assert np.subtract(after, before) @ away > 0.0
    assert problem.nll(after) < problem.nll(before)
    assert facts["loss"] < 2.0 * np.log(2.0)
    assert facts["accuracy"] >= 0.5


def test_a_reward_starts_as_one_that_nobody_can_tell(problem):
    own = sample(problem, (-0.6, 0.4))
    learner = discriminator(problem, (-0.6, 0.4))
    facts = AIRL(steps=1).improve(problem, learner, [own])
    assert facts["loss"] == pytest.approx(2.0 * np.log(2.0))


def test_shaping_alone_does_not_change_the_policy(problem):
    method = baselines.get("airl", learning_rate=1e-12, potential_rate=0.5, patience=99)
    run = method.run(problem, 5, 0)
    np.testing.assert_allclose(run.nll, run.nll[0], atol=1e-6)
    assert run.evaluations[-1].facts["loss"] < 2.0 * np.log(2.0)


def test_steps_count_by_their_discount(problem):
    gamma = problem.gamma
    steps = Steps(problem.demonstrations, [sample(problem, TRUTH)] * 2, gamma)
    count = len(problem.demonstrations.states)
    assert float(steps.demonstrated.sum()) == pytest.approx(1.0)
    assert float(steps.rolled_out.sum()) == pytest.approx(1.0)
    assert float(steps.demonstrated[count:].sum()) == float(steps.rolled_out[:count].sum()) == 0.0
    np.testing.assert_allclose(steps.demonstrated[1:10], gamma * steps.demonstrated[:9])
    np.testing.assert_allclose(steps.rolled_out[count], 0.5 * steps.demonstrated[0])


def test_steps_without_an_end_are_left_out(problem):
    shown = problem.demonstrations
    ends = shown.next_states.copy()
    last = np.cumsum(shown.lengths) - 1
    ends[last] = UNKNOWN
    steps = Steps(replace(shown, next_states=ends), [sample(problem, TRUTH)], 0.9)
    assert len(steps.transitions) == 2 * len(shown.states) - len(last)
    assert (steps.transitions.next_states != UNKNOWN).all()


def test_rates_below_zero_are_refused():
    with pytest.raises(InvalidInputError, match=r"potential_rate is -1.0; expected 0 or a pos"):
        baselines.get("airl", potential_rate=-1.0)
