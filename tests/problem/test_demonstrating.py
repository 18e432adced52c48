"""Demonstrations of a policy that is trained for a known reward."""

import numpy as np
import pytest

import boirl
from boirl.domains.maze import simulator as maze
from boirl.errors import SolverError
from boirl.problem.demonstrating import demonstrate
from tests.problem.learned import HORIZON, SIMULATOR, TRUTH, Magnet, build


def drawn(theta, seed=0, solver=None, **options):
    given = {"n": 20, "seed": seed, "gamma": 0.9, "horizon": HORIZON, "workers": 0, **options}
    solver = solver or Magnet(jitter=0.0)
    return demonstrate(SIMULATOR, maze.TargetReward(), theta, solver, **given)


def test_trajectories_are_as_many_and_as_long_as_asked_for():
    found = drawn(TRUTH)
    assert found.lengths.tolist() == [HORIZON] * 20
    assert not found.unknown_ends.any()
    assert drawn(TRUTH, n=3, horizon=5).lengths.tolist() == [5] * 3


def test_the_seed_decides_about_the_trajectories():
    first, again, other = drawn(TRUTH), drawn(TRUTH), drawn(TRUTH, seed=1)
    np.testing.assert_array_equal(first.actions, again.actions)
    assert not np.array_equal(first.actions, other.actions)


def test_the_demonstrator_is_after_theta():
    problem, elsewhere = build(Magnet(jitter=0.0)), (-0.9, 0.0)
    near, far = drawn(TRUTH), drawn(elsewhere)
    assert problem.returns(near, TRUTH).mean() > problem.returns(far, TRUTH).mean()
    assert problem.returns(near, elsewhere).mean() < problem.returns(far, elsewhere).mean()


def test_the_best_of_several_runs_demonstrates():
    """Runs that start from an anchor are strong here, others are weak."""
    anchor = build().policy(TRUTH)
    weak = Magnet(weak=0.3, jitter=0.0)
    alone, helped = drawn(TRUTH, solver=weak), drawn(TRUTH, solver=weak, anchors=(anchor,))
    problem = build()
    assert problem.returns(helped, TRUTH).mean() > problem.returns(alone, TRUTH).mean()


def test_a_demonstrator_that_cannot_learn_is_a_solver_error():
    with pytest.raises(SolverError, match="the critic diverged"):
        drawn(TRUTH, solver=Magnet(fate="fails"))


def test_it_is_public():
    assert boirl.demonstrate is demonstrate
