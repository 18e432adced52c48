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
    with pytest.warns(SaturationWarning, match=r"over 100% of the box .*Use rollouts='solved'"):
        assert flat.warn_if_saturated(problem.box)


def test_gridworld_is_not_saturated(gridworld, gridworld_log_rho):
    assert not gridworld_log_rho.warn_if_saturated(gridworld.box)


class Slab(Projection):
    """Tells rewards apart in a corner of the box alone, however far apart they are there."""

    dimension = 1

    def __init__(self, share):
        super().__init__()
        self.edge = BOX.low[0] + share * (BOX.high[0] - BOX.low[0])

    def project(self, theta):
        return -1000.0 * (theta[..., :1] - self.edge).clamp_min(0.0)


@pytest.mark.parametrize("share", [0.95, 0.6, 0.4, 0.0])
def test_it_is_the_share_of_the_box_that_counts(share):
    slab = Slab(share)
    assert slab.blind_share(BOX) == pytest.approx(share if share > 0.5 else 0.0, abs=0.01)
    if share > 0.5:
        with pytest.warns(SaturationWarning, match=f"over {share:.0%} of the box"):
            assert slab.warn_if_saturated(BOX)
    else:
        assert not slab.warn_if_saturated(BOX)


def test_one_coordinate_that_sees_is_enough():
    assert not Weighted([1.0, 0.0, 0.0]).is_saturated(BOX)
