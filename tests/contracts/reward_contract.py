"""What every reward family must do.

    class TestMyFamily(RewardContract):
        @pytest.fixture
        def family(self):
            return MyFamily(...)

States and actions are numbers from 0 to 4 and from 0 to 2; a family on vectors gives other `steps`.
"""

import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError
from boirl.rewards import RewardFamily, Transitions

N_STATES, N_ACTIONS, N_STEPS = 5, 3, 7


def draw(family, *shape):
    unit = np.random.default_rng(2).random((*shape, family.box.dimension))
    return torch.tensor(family.box.from_unit(unit))


class RewardContract:
    """Tests of a reward family; a subclass has a fixture `family`."""

    @pytest.fixture
    def family(self):
        raise NotImplementedError("a subclass gives the family")

    @pytest.fixture
    def steps(self):
        rng = np.random.default_rng(1)
        return Transitions(
            rng.integers(N_STATES, size=N_STEPS),
            rng.integers(N_ACTIONS, size=N_STEPS),
            rng.integers(N_STATES, size=N_STEPS),
        )

    @pytest.mark.parametrize("batch", [(), (1,), (4,), (2, 3)])
    def test_a_reward_for_every_theta_and_step(self, family, steps, batch):
        assert isinstance(family, RewardFamily)
        rewards = family(draw(family, *batch), steps)
        assert rewards.shape == (*batch, N_STEPS)
        assert rewards.dtype == torch.float64
        assert torch.isfinite(rewards).all()

    def test_the_reward_depends_on_theta(self, family, steps):
        assert float(family(draw(family, 8), steps).detach().std(dim=0).max()) > 0.0

    def test_thetas_do_not_influence_each_other(self, family, steps):
        thetas = draw(family, 4)
        singly = torch.stack([family(theta, steps) for theta in thetas])
        torch.testing.assert_close(family(thetas, steps), singly, rtol=1e-13, atol=1e-13)

    def test_steps_do_not_influence_each_other(self, family, steps):
        theta, order = draw(family, 3), np.array([6, 2, 2, 0])
        some = Transitions(steps.states[order], steps.actions[order], steps.next_states[order])
        torch.testing.assert_close(
            family(theta, some), family(theta, steps)[:, order], rtol=1e-13, atol=1e-13
        )

    def test_gradients_match_finite_differences(self, family, steps):
        theta = draw(family, 3).requires_grad_()
        assert torch.autograd.gradcheck(lambda t: family(t, steps), theta)

    def test_what_a_family_does_not_depend_on_changes_nothing(self, family, steps):
        theta, shuffled = draw(family, 3), np.roll(np.arange(N_STEPS), 3)
        actions = steps.actions if family.depends_on != "state" else steps.actions[shuffled]
        ends = steps.next_states if family.depends_on == "transition" else None
        other = Transitions(steps.states, actions, ends)
        assert torch.equal(family(theta, other), family(theta, steps))

    def test_a_fixed_parameter_takes_its_value(self, family, steps):
        theta = draw(family, 4)
        name, value = family.box.names[0], float(theta[0, 0])
        theta[:, 0] = value
        fixed = family.fix(**{name: value})
        assert [p.fixed for p in fixed.parameters if p.name == name] == [value]
        full = fixed.with_fixed(theta[:, 1:]) if theta.shape[1] > 1 else None
        if full is None:
            with pytest.raises(InvalidInputError, match="every parameter is fixed"):
                _ = fixed.box
            return
        assert fixed.box.names == family.box.names[1:]
        torch.testing.assert_close(full, family.with_fixed(theta))
        torch.testing.assert_close(fixed(theta[:, 1:], steps), family(theta, steps))

    def test_fixing_one_more_parameter_keeps_the_first_fixed(self, family):
        names = family.box.names
        fixed = family
        for name in names:
            fixed = fixed.fix(**{name: 0.5})
        assert [p.fixed for p in fixed.parameters if p.name in names] == [0.5] * len(names)

    def test_fixing_leaves_the_original_free(self, family):
        names = family.box.names
        family.fix(**{names[0]: 0.5})
        assert family.box.names == names

    def test_fixing_what_is_not_there_is_refused(self, family):
        with pytest.raises(InvalidInputError, match="no parameter"):
            family.fix(altitude=1.0)

    def test_a_table_names_its_size(self, family):
        shape = family.table_shape
        assert shape is None or shape == (N_STATES, N_ACTIONS)[: len(shape)]

    def test_features_tell_states_apart(self, family):
        features = family.state_features(N_STATES)
        assert features.shape[0] == N_STATES
        assert np.isfinite(features).all()
