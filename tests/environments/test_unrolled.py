"""A finite horizon as states: where one is, and how many steps have been taken."""

import numpy as np
import pytest

from boirl.environments import TabularMDP
from boirl.environments.unrolled import unroll
from boirl.errors import InvalidInputError


@pytest.mark.parametrize("deterministic", [False, True])
def test_each_step_leads_to_the_next_copy(random_mdp, deterministic):
    mdp = random_mdp(0, deterministic=deterministic)
    three = unroll(mdp, 3)
    one = mdp.transition.toarray().reshape(4, 3, 4)
    all_of_them = three.transition.toarray().reshape(4, 4, 3, 4, 4)
    for step in range(3):
        np.testing.assert_array_equal(all_of_them[step, :, :, step + 1], one)
    assert all_of_them.sum() == pytest.approx(3 * 4 * 3)
    assert three.terminal.tolist() == [12, 13, 14, 15]
    np.testing.assert_array_equal(three.start[:4], mdp.start)
    assert three.state_of(np.array([1, 5, 14])).tolist() == [1, 1, 2]


def test_what_ends_ends_in_every_copy():
    corridor = TabularMDP.from_next_states([[1], [2], [2]], gamma=1.0, terminal=[2])
    assert unroll(corridor, 2).terminal.tolist() == [2, 5, 6, 7, 8]


def test_it_is_built_once(random_mdp):
    mdp = random_mdp(1)
    assert unroll(mdp, 2) is unroll(mdp, 2)
    assert unroll(mdp, 3) is not unroll(mdp, 2)
    with pytest.raises(InvalidInputError, match="the horizon is 0"):
        unroll(mdp, 0)
