"""The reward of methods that have none pays nothing, and says why."""

import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError
from boirl.rewards import Transitions
from boirl.rewards.absent import NoReward


def test_it_refuses_to_pay():
    family = NoReward()
    assert family.box.dimension == 1
    steps = Transitions(np.arange(2))
    with pytest.raises(InvalidInputError, match=r"found a policy alone; judge that by its NLL"):
        family(torch.ones((1, 1), dtype=torch.float64), steps)
