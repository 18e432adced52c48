"""Errors name the step; `test_trajectories` goes through what can be wrong."""

import numpy as np
import pytest

from boirl.demonstrations import Demonstrations
from boirl.demonstrations.checks import raise_at
from boirl.errors import DemonstrationError


def test_the_first_wrong_step_is_named():
    shown = Demonstrations.from_arrays([[0, 1], [2, 3]], [[0, 0], [0, 0]])
    raise_at(shown, np.zeros(4, dtype=bool), shown.states, "states", "anything")
    with pytest.raises(DemonstrationError, match="trajectory 1, step 0: states is 2; expected 1"):
        raise_at(shown, shown.states >= 2, shown.states, "states", "1")


def test_a_trajectory_that_is_torn_is_refused():
    with pytest.raises(DemonstrationError, match="trajectory 0, step 0: next_states is 3"):
        Demonstrations(
            states=np.array([0, 1]),
            actions=np.array([0, 0]),
            next_states=np.array([3, 2]),
            lengths=np.array([2]),
        )
