import numpy as np
import pytest
import torch

from boirl.errors import SaturationWarning
from boirl.projections import LogRho, sample_rollouts
from boirl.projections.base import Projection
from boirl.rewards import LinearReward
from boirl.types import Box

BOX = Box(("a", "b"), np.array([-1.0, 2.0]), np.array([3.0, 5.0]))


class Weighted(Projection):
    """Sums of theta, each with its own weight."""

    def __init__(self, weights):
        super().__init__()
        self.weights = torch.tensor(weights, dtype=torch.float64)
        self.dimension = len(weights)

    def project(self, theta):
        return theta.sum(-1, keepdim=True) * self.weights


def test_the_range_of_a_monotone_coordinate_is_reached_in_the_corners():
    low, high = Weighted([1.0, -2.0]).range_over(BOX)
    assert low.tolist() == [1.0, -16.0]
    assert high.tolist() == [8.0, -2.0]


def test_a_projection_that_sees_nothing_warns_and_says_what_to_do(random_problem):
    # A reward that is the same everywhere gives all trajectories of one length one return.
    reward = LinearReward(np.ones((4, 1)), {"constant": (-2.0, 2.0)})
    problem = random_problem(0, reward=reward)
    rollouts = sample_rollouts(problem, problem.demonstrations, 3, np.random.default_rng(0))
    flat = LogRho(problem, problem.demonstrations, rollouts)
    with pytest.warns(SaturationWarning, match=r"5 of its 5 .*Use rollouts='solved'"):
        assert flat.warn_if_saturated(problem.box)


def test_gridworld_is_not_saturated(gridworld, gridworld_log_rho):
    assert not gridworld_log_rho.warn_if_saturated(gridworld.box)


@pytest.mark.parametrize(("weights", "saturated"), [([1.0, 0.0], False), ([1.0, 0.0, 0.0], True)])
def test_most_coordinates_must_be_flat(weights, saturated):
    if saturated:
        with pytest.warns(SaturationWarning, match="2 of its 3"):
            assert Weighted(weights).warn_if_saturated(BOX)
    else:
        assert not Weighted(weights).warn_if_saturated(BOX)
