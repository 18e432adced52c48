"""What every reward family must do. A new family joins by a line in FAMILIES."""

import numpy as np
import pytest
import torch

import boirl.rewards
from boirl.errors import InvalidInputError
from boirl.rewards import (
    CallableReward,
    LinearReward,
    LogisticReward,
    RewardFamily,
    ShapedReward,
    Transitions,
)

N_STATES, N_ACTIONS = 5, 3
RNG = np.random.default_rng(0)
WEIGHTS = {"a": (-2.0, 2.0), "b": (0.5, 3.0)}
SHAPE = {"steepness": (-2.0, 2.0), "midpoint": (-1.0, 1.0), "translation": (-4.0, 4.0)}
HEIGHT = torch.tensor(RNG.random(N_STATES))


def power(theta, steps):
    return -theta[:, :1] * HEIGHT[steps.next_states] ** theta[:, 1:]


FAMILIES = {
    "linear-state": LinearReward(RNG.normal(size=(N_STATES, 2)), WEIGHTS),
    "linear-state-action": LinearReward(RNG.normal(size=(N_STATES, N_ACTIONS, 2)), WEIGHTS),
    "linear-transition": LinearReward(
        lambda steps: np.stack([steps.next_states - steps.states, steps.actions], axis=1), WEIGHTS
    ),
    "logistic": LogisticReward(RNG.normal(size=N_STATES), SHAPE, zero_states=[1]),
    "callable": CallableReward(power, WEIGHTS, depends_on="transition"),
    "shaped": ShapedReward(
        LinearReward(RNG.normal(size=(N_STATES, 2)), WEIGHTS),
        RNG.normal(size=(N_STATES, 3)),
        gamma=0.9,
    ),
}


@pytest.fixture(params=FAMILIES)
def family(request):
    return FAMILIES[request.param]


@pytest.fixture
def steps():
    rng = np.random.default_rng(1)
    return Transitions(
        rng.integers(N_STATES, size=7),
        rng.integers(N_ACTIONS, size=7),
        rng.integers(N_STATES, size=7),
    )


def draw(family, *shape):
    unit = np.random.default_rng(2).random((*shape, family.box.dimension))
    return torch.tensor(family.box.from_unit(unit))


def test_every_public_family_is_held_to_the_contract():
    public = {getattr(boirl.rewards, name) for name in boirl.rewards.__all__}
    families = {one for one in public if issubclass(one, RewardFamily)} - {RewardFamily}
    assert families == {type(family) for family in FAMILIES.values()}


@pytest.mark.parametrize("batch", [(), (1,), (4,), (2, 3)])
def test_a_reward_for_every_theta_and_step(family, steps, batch):
    rewards = family(draw(family, *batch), steps)
    assert rewards.shape == (*batch, 7)
    assert rewards.dtype == torch.float64
    assert torch.isfinite(rewards).all()


def test_thetas_do_not_influence_each_other(family, steps):
    thetas = draw(family, 4)
    singly = torch.stack([family(theta, steps) for theta in thetas])
    torch.testing.assert_close(family(thetas, steps), singly, rtol=1e-13, atol=1e-13)


def test_steps_do_not_influence_each_other(family, steps):
    theta, order = draw(family, 3), np.array([6, 2, 2, 0])
    some = Transitions(steps.states[order], steps.actions[order], steps.next_states[order])
    torch.testing.assert_close(
        family(theta, some), family(theta, steps)[:, order], rtol=1e-13, atol=1e-13
    )


def test_gradients_match_finite_differences(family, steps):
    theta = draw(family, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda t: family(t, steps), theta)


def test_what_a_family_does_not_depend_on_changes_nothing(family, steps):
    theta, shuffled = draw(family, 3), np.roll(np.arange(7), 3)
    actions = steps.actions if family.depends_on != "state" else steps.actions[shuffled]
    ends = steps.next_states if family.depends_on == "transition" else None
    other = Transitions(steps.states, actions, ends)
    assert torch.equal(family(theta, other), family(theta, steps))


def test_a_fixed_parameter_takes_its_value(family, steps):
    theta = draw(family, 4)
    name = family.box.names[0]
    theta[:, 0] = 1.5
    fixed = family.fix(**{name: 1.5})
    assert fixed.box.names == family.box.names[1:]
    torch.testing.assert_close(fixed(theta[:, 1:], steps), family(theta, steps))


def test_fixing_one_more_parameter_keeps_the_first_fixed(family):
    first, second, *rest = family.box.names
    theta = draw(family, 4)
    theta[:, 0], theta[:, 1] = 1.5, 0.7
    fixed = family.fix(**{first: 1.5}).fix(**{second: 0.7})
    full = fixed.with_fixed(theta[:, 2:])
    assert [p.name for p in fixed.parameters if p.fixed is None] == rest
    torch.testing.assert_close(full, theta)


def test_fixing_leaves_the_original_free(family):
    names = family.box.names
    family.fix(**{names[0]: 1.5})
    assert family.box.names == names


def test_fixing_what_is_not_there_is_refused(family):
    with pytest.raises(InvalidInputError, match="no parameter"):
        family.fix(altitude=1.0)
