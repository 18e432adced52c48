"""Trajectories as somebody would show them."""

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.experiments.worst_case import problem_of
from boirl.problem.walks import horizon_of, walk_from, without_stay


def test_what_follows_the_end_is_left_out():
    padded = Demonstrations.from_arrays([[0, 1, 9, 9, 9], [2, 3, 4, 5, 9]], [[0] * 4, [0] * 4])
    cut = without_stay(padded, 9)
    np.testing.assert_array_equal(cut.lengths, [2, 4])
    np.testing.assert_array_equal(cut.states, [0, 1, 2, 3, 4, 5])
    np.testing.assert_array_equal(cut.next_states[:2], [1, 9])


def test_one_step_remains_of_who_starts_at_the_end():
    cut = without_stay(Demonstrations.from_arrays([[9, 9, 9]], [[0, 0]]), 9)
    np.testing.assert_array_equal(cut.lengths, [1])


def test_a_problem_says_how_long_trajectories_are():
    problem = problem_of("ambiguous", 1000)
    assert horizon_of(problem) == problem.steps
    policy = problem.policy(problem.truth)
    starts = np.zeros(3, dtype=np.int64)
    walks = walk_from(problem, policy, starts, 4, np.random.default_rng(0))
    assert len(walks) == 3
