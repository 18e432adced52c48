import numpy as np
import pytest

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.policies import TabularPolicy
from boirl.projections import choose_demonstrations, sample_rollouts


@pytest.fixture
def ragged():
    """Starts 2, 0 and 3; lengths 4, 1 and 2."""
    return Demonstrations.from_trajectories(
        [([2, 1, 0, 0], [0, 1, 2, 0]), ([0], [1]), ([3, 2], [1, 1])]
    )


def always(action):
    """The policy that takes one action everywhere."""
    probabilities = np.full((4, 3), 1e-300)
    probabilities[:, action] = 1.0
    return TabularPolicy(np.log(probabilities))


def test_same_start_and_length_as_the_demonstration(random_problem, ragged):
    sets = sample_rollouts(random_problem(0), ragged, 6, np.random.default_rng(0))
    assert [len(one) for one in sets] == [6, 6, 6]
    assert [set(one.starts.tolist()) for one in sets] == [{2}, {0}, {3}]
    assert [set(one.lengths.tolist()) for one in sets] == [{4}, {1}, {2}]


def test_every_policy_rolls_out_as_often(random_problem, ragged):
    policies = [always(2), always(1)]
    sets = sample_rollouts(random_problem(0), ragged, 3, np.random.default_rng(0), policies)
    for one in sets:
        assert [set(run.actions.tolist()) for run in one] == [{2}] * 3 + [{1}] * 3


def test_without_policies_actions_are_uniform(random_problem):
    demonstrations = Demonstrations.from_arrays([[0] * 20], [[0] * 20])
    (runs,) = sample_rollouts(random_problem(0), demonstrations, 500, np.random.default_rng(0))
    frequencies = np.bincount(runs.actions, minlength=3) / len(runs.actions)
    np.testing.assert_allclose(frequencies, 1 / 3, atol=4.5 * np.sqrt(2 / 9 / len(runs.actions)))


def test_the_same_seed_gives_the_same_rollouts(random_problem, ragged):
    first, again, other = (
        sample_rollouts(random_problem(0), ragged, 5, np.random.default_rng(seed))[0].states
        for seed in (1, 1, 2)
    )
    assert first.tolist() == again.tolist() != other.tolist()


def test_choosing_draws_without_replacement(gridworld):
    numbered = Demonstrations.from_arrays(np.arange(30).reshape(10, 3), np.zeros((10, 3), int))
    chosen = choose_demonstrations(numbered, 6, np.random.default_rng(0))
    assert len(set(chosen.starts.tolist())) == 6


def test_choosing_more_than_there_are_takes_all(ragged):
    chosen = choose_demonstrations(ragged, 10, np.random.default_rng(0))
    assert sorted(chosen.starts.tolist()) == [0, 2, 3]


@pytest.mark.parametrize("count", [0, -1])
def test_one_at_least(random_problem, ragged, count):
    with pytest.raises(InvalidInputError, match=f"n is {count}"):
        sample_rollouts(random_problem(0), ragged, count, np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match=f"n is {count}"):
        choose_demonstrations(ragged, count, np.random.default_rng(0))
