import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError
from boirl.rewards import LogisticReward, Transitions

BOUNDS = {"steepness": (-2.0, 2.0), "midpoint": (-10.0, 10.0), "translation": (-4.0, 4.0)}


def test_it_pays_the_logistic_of_the_feature():
    steepness, midpoint, translation, feature = 1.25, 5.0, -0.5, np.array([0.0, 10.0, 2.0])
    family = LogisticReward(feature, BOUNDS, height=10.0)
    theta = torch.tensor([[steepness, midpoint, translation]], dtype=torch.float64)
    expected = 10.0 / (1.0 + np.exp(-steepness * (feature - midpoint))) + translation
    np.testing.assert_allclose(family(theta, Transitions(np.arange(3)))[0], expected, rtol=1e-14)


def test_zero_states_pay_the_translation_alone():
    family = LogisticReward([0.0, 10.0], BOUNDS, zero_states=[1])
    thetas = torch.tensor([[2.0, -10.0, 3.0], [-2.0, 4.0, -1.0]], dtype=torch.float64)
    assert family(thetas, Transitions(np.array([1])))[:, 0].tolist() == [3.0, -1.0]


def test_it_takes_three_parameters():
    with pytest.raises(InvalidInputError, match="there are 2 parameters; expected three"):
        LogisticReward([0.0], {"steepness": (0.0, 1.0), "midpoint": (0.0, 1.0)})
