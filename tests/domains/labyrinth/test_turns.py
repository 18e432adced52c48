"""Bits per decision, the Markov chain, and what is held out."""

import numpy as np
import pytest

from boirl.demonstrations import Demonstrations
from boirl.domains.labyrinth.maze import Maze
from boirl.domains.labyrinth.turns import (
    bits_per_decision,
    hold_out,
    observed_turns,
    uniform_turns,
)
from boirl.errors import InvalidInputError


@pytest.fixture(scope="module")
def maze():
    return Maze(np.array([[1, 2], [4, 3], [5, 6]]), 6)


def test_uniform_choice_takes_the_logarithm_of_three(problem):
    bits = bits_per_decision(problem.maze, uniform_turns(problem.maze), problem.demonstrations)
    assert bits == pytest.approx(np.log2(3.0))


def test_only_decisions_count(maze):
    shown = Demonstrations.from_trajectories([maze.follow(np.array([0, 1, 4, 1, 3, 1]))])
    probabilities = uniform_turns(maze)
    start = int(shown.states[0])
    probabilities[start] = [0.5, 0.25, 0.25]
    after = int(shown.states[2])
    probabilities[after] = [0.25, 0.125, 0.625]
    # In node 1 action 0 leads to 4; back there, action 1 leads to 3. In 4 and 3 nothing is decided.
    assert bits_per_decision(maze, probabilities, shown) == pytest.approx((1.0 + 3.0) / 2)
    ends = Demonstrations.from_trajectories([maze.follow(np.array([1, 4, 1]))])
    with pytest.raises(InvalidInputError, match="no step is a decision"):
        bits_per_decision(maze, probabilities, ends)


def test_the_chain_counts_turns_by_where_one_comes_from(maze):
    shown = Demonstrations.from_trajectories([maze.follow(np.array([0, 1, 4, 1, 4, 1, 3, 1]))])
    chain = observed_turns(maze, shown)
    np.testing.assert_allclose(chain.sum(axis=1), 1.0)
    node, before, _ = maze.places.T
    from_4 = (node == 1) & (before == 4)
    assert from_4.sum() == 1
    np.testing.assert_allclose(chain[from_4], [[2 / 5, 2 / 5, 1 / 5]])
    from_0 = (node == 1) & (before == 0)
    # Whether the last step turned back makes no difference.
    assert from_0.sum() == 2
    np.testing.assert_allclose(chain[from_0], [[2 / 4, 1 / 4, 1 / 4]] * 2)
    np.testing.assert_allclose(chain[node == 2], 1 / 3)


def test_the_chain_foretells_what_it_has_seen_better_than_chance(problem):
    chain = observed_turns(problem.maze, problem.demonstrations)
    assert bits_per_decision(problem.maze, chain, problem.demonstrations) < np.log2(3.0)


def test_whole_runs_are_held_out():
    runs = np.array([0, 0, 1, 2, 2, 2, 3, 4, 4, 5])
    for seed in range(20):
        kept, held = hold_out(runs, 0.2, seed)
        assert sorted([*kept, *held]) == list(range(10))
        assert not set(runs[kept]) & set(runs[held])
        assert len(held) >= 2
        assert len(kept) >= 1
    np.testing.assert_array_equal(hold_out(runs, 0.2, 3)[1], hold_out(runs, 0.2, 3)[1])
    assert len({tuple(hold_out(runs, 0.2, seed)[1]) for seed in range(20)}) > 1


def test_one_run_is_always_left():
    assert len(hold_out(np.array([0, 1, 1, 1]), 1.0, 0)[0]) >= 1
    with pytest.raises(InvalidInputError, match="of 1 run; expected at least two"):
        hold_out(np.zeros(4, dtype=int), 0.2, 0)
