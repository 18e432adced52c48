"""Environments with something changed."""

import numpy as np
import pytest

from boirl.environments.changes import close_states, start_from
from boirl.errors import InvalidInputError


def test_nothing_leads_into_closed_states(random_mdp):
    mdp = random_mdp(1000)
    closed = close_states(mdp, [2])
    open_rows = np.repeat(np.arange(4) != 2, mdp.n_actions)
    assert closed.transition.toarray()[open_rows, 2].max() == 0.0
    np.testing.assert_allclose(closed.transition.sum(axis=1), 1.0)
    assert closed.start[2] == 0.0
    assert closed.start.sum() == pytest.approx(1.0)


def test_who_would_go_there_stays(random_mdp):
    mdp = random_mdp(1000)
    before, after = mdp.dense_by_state, close_states(mdp, [2]).dense_by_state
    np.testing.assert_allclose(after[0, :, 0], before[0, :, 0] + before[0, :, 2])
    np.testing.assert_allclose(after[0, :, 1], before[0, :, 1])


def test_trajectories_start_elsewhere(random_mdp):
    moved = start_from(random_mdp(1000), [0.0, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(moved.start, [0.0, 0.0, 0.0, 1.0])


def test_somewhere_has_to_stay_open(random_mdp):
    with pytest.raises(InvalidInputError, match="expected one open one"):
        close_states(start_from(random_mdp(1000), np.eye(4)[1]), [1])
