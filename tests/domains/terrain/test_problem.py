"""The map of many terrains."""

import numpy as np
import pytest

import boirl
from boirl.domains.terrain.problem import EXTREME, HORIZON


@pytest.fixture(scope="module")
def problem():
    return boirl.load_problem("terrain")


def test_every_terrain_has_a_price_of_its_own(problem):
    assert problem.box.dimension == 20
    assert problem.box.names[0] == "terrain1"
    features = problem.reward.table
    assert features.shape == (100, 20)
    # Every square is of one kind, and every kind covers as many squares.
    np.testing.assert_array_equal(features.sum(axis=1), 1.0)
    np.testing.assert_array_equal(features.sum(axis=0), 5.0)


def test_walks_are_those_of_a_maximum_entropy_walker(problem):
    assert problem.solver.bellman == "logsumexp"
    assert len(problem.truth) == 20
    assert np.abs(problem.truth).max() <= EXTREME
    assert problem.demonstrations.lengths.tolist() == [HORIZON] * 100
    assert problem.nll(problem.truth) < problem.nll(np.zeros(20))


def test_moves_stop_at_the_border_of_the_map(problem):
    table = problem.mdp.next_states
    assert table[0].tolist() == [1, 10, 0, 0, 0]
    assert table[99].tolist() == [99, 99, 98, 89, 99]
    assert table[55].tolist() == [56, 65, 54, 45, 55]


def test_size_and_seed_are_free(problem):
    small = boirl.load_problem("terrain", seed=1000, n_terrains=3, side=4, n_demonstrations=6)
    assert (small.mdp.n_states, small.box.dimension, len(small.demonstrations)) == (16, 3, 6)
    again = boirl.load_problem("terrain", seed=1000, n_terrains=3, side=4, n_demonstrations=6)
    other = boirl.load_problem("terrain", seed=1001, n_terrains=3, side=4, n_demonstrations=6)
    assert again.fingerprint() == small.fingerprint() != other.fingerprint()


def test_the_nll_has_a_gradient(problem):
    nll, gradient = problem.nll_and_gradient(problem.truth)
    assert gradient.shape == (20,)
    step = 1e-5 * gradient / np.linalg.norm(gradient)
    lower = problem.nll(np.array(problem.truth) - step)
    assert (nll - lower) / 1e-5 == pytest.approx(np.linalg.norm(gradient), rel=1e-3)
