import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments.shaping import POTENTIALS, movement, shaped_gridworld
from boirl.rewards import LinearReward, ShapedReward


@pytest.fixture(scope="module")
def shaped():
    return shaped_gridworld()


def test_shaping_changes_the_reward_and_not_the_policy(shaped):
    rng = np.random.default_rng(0)
    plain = np.array([1.0, 4.0, 0.5, *[0.0] * POTENTIALS])
    bent = plain + np.concatenate([np.zeros(3), rng.uniform(-2.0, 2.0, POTENTIALS)])
    tables = shaped.mdp.expected_rewards(shaped.reward, np.stack([plain, bent]))
    assert np.abs(tables[0] - tables[1]).max() > 0.5
    np.testing.assert_allclose(
        shaped.policy(bent).probabilities, shaped.policy(plain).probabilities, atol=1e-9
    )
    assert shaped.nll(bent) == pytest.approx(shaped.nll(plain), abs=1e-8)


def test_without_weights_it_is_the_family_that_was_shaped(shaped, gridworld):
    theta = [1.25, 5.0, 0.0]
    assert shaped.nll([*theta, *[0.0] * POTENTIALS]) == pytest.approx(gridworld.nll(theta))


def test_the_canonical_projection_does_not_see_shaping(shaped):
    assert movement(shaped, "canonical") < 1e-9
    assert movement(shaped, "log-rho") > 0.1


@pytest.mark.parametrize("potentials", [np.zeros(3), [[np.nan], [0.0]]])
def test_potentials_are_a_finite_row_a_state(potentials):
    base = LinearReward(np.eye(2), {"a": (0, 1), "b": (0, 1)})
    with pytest.raises(InvalidInputError, match="potentials have shape"):
        ShapedReward(base, potentials, gamma=0.9)
