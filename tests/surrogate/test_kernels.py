"""Covariances by name."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError
from boirl.surrogate.kernels import KERNELS, KernelParams, KernelSpec, get_kernel


@pytest.mark.parametrize("dims", [0, 2])
def test_the_kernel_written_out_is_that_of_gpytorch(surrogate, dims):
    kernel = replace(surrogate.kernel, theta_kernel_dims=dims)
    points = torch.tensor(np.random.default_rng(2).random((9, 4 + dims)))
    with torch.no_grad():
        module = kernel.build(4).double()
        params = kernel.params(module)
        expected = module(points[:5], points).to_dense()
    torch.testing.assert_close(kernel.covariance(points[:5], points, params), expected)
    diagonal = kernel.covariance(points, points, params).diagonal()
    torch.testing.assert_close(kernel.variance(points, params), diagonal)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cubic", {}, "there is no kernel 'cubic'; expected one of rho-rbf, rbf, matern"),
        ("rbf", {"smoothness": 1.5}, "kernel 'rbf' has no smoothness"),
        ("matern", {"smoothness": 0.5}, r"smoothness of a Matern kernel is 0\.5"),
    ],
)
def test_unknown_kernels_are_refused(name, options, message):
    with pytest.raises(InvalidInputError, match=message):
        get_kernel(name, **options)


@pytest.mark.parametrize("dims", [0, 3])
def test_kernels_are_positive_semi_definite(surrogate, dims):
    kernel = replace(surrogate.kernel, theta_kernel_dims=dims)
    points = torch.tensor(np.random.default_rng(1000).random((40, 2 + dims)))
    points[20:30] = points[:10]
    with torch.no_grad():
        params = kernel.params(kernel.build(2).double())
    covariance = kernel.covariance(points, points, params)
    eigenvalues = torch.linalg.eigvalsh(covariance)
    assert float(eigenvalues.min()) >= -1e-10 * float(eigenvalues.max())
    torch.testing.assert_close(covariance, covariance.mT)


def test_names_stand_for_the_kernels_of_the_paper():
    assert list(KERNELS) == ["rho-rbf", "rbf", "matern"]
    assert [KERNELS[name].projected for name in KERNELS] == [True, False, False]
    assert get_kernel("matern").smoothness == 1.5
    assert get_kernel("rho-rbf").linear
    assert get_kernel("matern", 2.5, True) == KernelSpec("matern", False, 2.5, True)
    assert get_kernel("rho-rbf", linear=False).linear is False


def test_hyperparameters_are_plain_numbers():
    kernel = replace(get_kernel("rho-rbf"), theta_kernel_dims=2)
    module = kernel.build(4)
    stationary, linear, on_theta = module.kernels
    stationary.outputscale, stationary.base_kernel.lengthscale = 2.0, 0.5
    linear.outputscale, linear.base_kernel.offset = 3.0, 0.25
    on_theta.outputscale, on_theta.base_kernel.lengthscale = 4.0, 0.125
    expected = KernelParams(0.5, 2.0, 3.0, 0.25, 4.0, 0.125)
    assert kernel.params(module) == pytest.approx(expected, rel=1e-5)


def test_far_apart_only_the_linear_part_is_left():
    params = KernelParams(lengthscale=0.1, stationary=2.0, linear=3.0, offset=0.5)
    near, far = torch.tensor([[1.0, 2.0]]), torch.tensor([[50.0, -20.0]])
    plain = KernelSpec("plain", projected=False)
    assert plain.covariance(near, near, params).item() == pytest.approx(2.0)
    assert plain.covariance(near, far, params).item() == pytest.approx(0.0)
    sloped = KernelSpec("sloped", projected=False, linear=True)
    expected = 3.0 * (1.0 * 50.0 - 2.0 * 20.0 + 0.5)
    assert sloped.covariance(near, far, params).item() == pytest.approx(expected)
