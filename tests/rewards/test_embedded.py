"""A plane in a family of many parameters."""

import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError
from boirl.rewards import LinearReward, Transitions
from boirl.rewards.embedded import EmbeddedReward, coordinate_directions, random_directions
from tests.contracts.reward_contract import RewardContract

FEATURES = np.random.default_rng(0).standard_normal((5, 5))
BASE = LinearReward(FEATURES, {f"w{number}": (-1.0, 2.0) for number in range(5)})


def plane(count=2, seed=1):
    rng = np.random.default_rng(seed)
    return EmbeddedReward(BASE, np.zeros(5), 0.3 * rng.standard_normal((count, 5)))


class TestContract(RewardContract):
    @pytest.fixture
    def family(self):
        return plane()


def test_it_pays_what_the_base_pays_at_the_point():
    family, steps = plane(), Transitions(np.arange(4))
    z = np.array([[0.4, -0.7], [0.0, 0.0]])
    theta = family.full(z)
    np.testing.assert_allclose(theta[0], z[0] @ family.directions.numpy())
    np.testing.assert_array_equal(theta[1], 0.0)
    expected = BASE(torch.as_tensor(theta), steps)
    torch.testing.assert_close(family(torch.as_tensor(z), steps), expected)
    assert family.box.names == ("z1", "z2")


def test_thetas_stay_in_the_box():
    wide = EmbeddedReward(BASE, np.full(5, 1.9), 10.0 * np.eye(5)[:1])
    assert wide.full([[1.0]])[0].tolist() == [2.0, 1.9, 1.9, 1.9, 1.9]
    assert wide.full([[-1.0]])[0, 0] == -1.0


def test_directions_cover_the_box():
    low, high = np.zeros(6), np.arange(1.0, 7.0)
    rng = np.random.default_rng(0)
    some = coordinate_directions(low, high, 3, rng)
    assert ((some != 0.0).sum(axis=1) == 1).all()
    assert set(some.max(axis=1)) <= set(high)
    drawn = random_directions(low, high, 3, rng) / high
    np.testing.assert_allclose(drawn @ drawn.T, 0.25 * 6 * np.eye(3), atol=1e-12)
    assert len(coordinate_directions(low, high, 9, rng)) == 6


def test_wrong_directions_are_named():
    with pytest.raises(InvalidInputError, match=r"shape \(2, 4\); expected k x 5"):
        EmbeddedReward(BASE, np.zeros(5), np.ones((2, 4)))
