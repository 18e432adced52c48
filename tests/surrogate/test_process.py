"""A Gaussian process on values and slopes."""

import numpy as np
import pytest
import torch

from boirl.surrogate.kernels import get_kernel
from boirl.surrogate.pairs import Points
from boirl.surrogate.process import Data, Inputs, Process, factorise, noisy_covariance


def inputs(unit, sloped=()):
    at = torch.tensor(sloped, dtype=torch.long)
    points = Points.sloped(unit, at, torch.eye(2, dtype=torch.float64).expand(len(at), 2, 2))
    return Inputs(points, points)


@pytest.fixture
def process():
    """Of `sin(3 a) + b^2`, with slopes at three of eight points."""
    unit, sloped = torch.tensor(np.random.default_rng(0).random((8, 2))), [0, 4, 5]
    values = torch.sin(3.0 * unit[:, 0]) + unit[:, 1].square()
    slopes = torch.stack([3.0 * torch.cos(3.0 * unit[:, 0]), 2.0 * unit[:, 1]], dim=1)[sloped]
    targets = torch.cat([values, slopes.mT.reshape(-1)])
    noise = torch.full((len(targets),), 1e-8, dtype=torch.float64)
    data = Data(inputs(unit, sloped), targets, noise, {"noise": torch.ones_like(noise)})
    given = {
        "theta_amplitude": torch.tensor([1.0], dtype=torch.float64),
        "theta_lengthscale": torch.tensor([0.6, 0.8], dtype=torch.float64),
        "noise": torch.tensor([1e-8], dtype=torch.float64),
    }
    return Process(get_kernel("rbf"), data, given)


def test_it_goes_through_what_was_observed(process):
    mean, sd = process.marginals(inputs(process.data.inputs.theta.x))
    torch.testing.assert_close(mean, process.data.targets[:8], atol=1e-3, rtol=0.0)
    assert float(sd.max()) < 1e-3


def test_marginals_are_those_of_the_joint(process):
    at = inputs(torch.tensor(np.random.default_rng(1).random((6, 2))))
    mean, sd = process.marginals(at)
    joint_mean, covariance = process.joint(at)
    torch.testing.assert_close(mean, joint_mean)
    torch.testing.assert_close(sd.square(), covariance.diagonal(), atol=1e-9, rtol=1e-6)


def test_the_record_predicts_each_value_from_those_before_it(process):
    record = process.record()
    covariance = noisy_covariance(process.kernel, process.data, process.values)
    # Of evaluation 1, given the value and the two slopes of evaluation 0.
    known, new = torch.tensor([0, 8, 11]), 1
    weights = torch.linalg.solve(covariance[known][:, known], covariance[known, new])
    mean = weights @ process.data.targets[known]
    variance = covariance[new, new] - weights @ covariance[known, new]
    expected = (process.data.targets[new] - mean) / variance.sqrt()
    assert len(record) == 8
    torch.testing.assert_close(record[1], expected, rtol=1e-4, atol=1e-6)


def test_landscapes_have_the_mean_and_the_spread_of_the_process(process):
    nodes = inputs(torch.tensor(np.random.default_rng(1).random((6, 2))))
    noise = torch.tensor(np.random.default_rng(2).standard_normal((4000, 6)))
    landscapes = process.landscapes(nodes, noise)
    drawn = torch.stack(
        [
            landscapes(inputs(nodes.theta.x[[i]].expand(4000, 2)), torch.arange(4000))
            for i in range(6)
        ]
    )
    mean, sd = process.marginals(nodes)
    assert float(((drawn.mean(dim=1) - mean).abs() / sd).max()) < 0.1
    torch.testing.assert_close(drawn.std(dim=1), sd, rtol=0.1, atol=1e-4)


def test_jitter_follows_the_size_of_each_row():
    # Slopes may vary by orders of magnitude more than values.
    sizes = torch.logspace(0, 6, 4, dtype=torch.float64)
    singular = torch.outer(sizes, sizes)
    factor = factorise(singular)
    torch.testing.assert_close(factor @ factor.mT, singular, rtol=1e-6, atol=0.0)


def test_a_singular_covariance_is_factorised_with_a_little_jitter():
    factor = factorise(torch.ones((4, 4), dtype=torch.float64))
    torch.testing.assert_close(factor @ factor.mT, torch.ones((4, 4), dtype=torch.float64))
    with pytest.raises(torch.linalg.LinAlgError):
        factorise(-torch.eye(3, dtype=torch.float64))


def test_what_rounding_leaves_of_a_covariance_may_be_negative():
    # Nodes next to the evaluations under a large amplitude: the difference is below zero.
    at = torch.tensor(np.random.default_rng(0).random((12, 2)))
    values = {
        "theta_amplitude": torch.tensor([1e8], dtype=torch.float64),
        "theta_lengthscale": torch.full((2,), 30.0, dtype=torch.float64),
        "noise": torch.tensor([1e-9], dtype=torch.float64),
    }
    data = Data(
        inputs(at),
        torch.zeros(12, dtype=torch.float64),
        torch.full((12,), 1e-9, dtype=torch.float64),
        {"noise": torch.ones(12, dtype=torch.float64)},
    )
    process = Process(get_kernel("matern"), data, values)
    _, covariance = process.joint(inputs(at))
    assert float(torch.linalg.eigvalsh(covariance).min()) < 0.0
    _, factor = process.joint_factor(inputs(at))
    torch.testing.assert_close(factor @ factor.mT, covariance, rtol=0.0, atol=1e-4 * 1e8)
