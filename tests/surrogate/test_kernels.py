"""Covariances by name."""

import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError
from boirl.surrogate.kernels import KERNELS, PROFILES, KernelSpec, get_kernel
from boirl.surrogate.latent import jacobians
from boirl.surrogate.pairs import Points
from boirl.surrogate.process import Inputs

D, K = 3, 5


def project(unit):
    """A curved projection from three dimensions to five."""
    return torch.tanh(unit @ torch.linspace(-1.0, 1.5, D * K, dtype=torch.float64).reshape(D, K))


def inputs(unit, sloped=()):
    at = torch.tensor(sloped, dtype=torch.long)
    eye = torch.eye(D, dtype=torch.float64).expand(len(at), D, D)
    if not len(at):
        return Inputs(Points.plain(unit), Points.plain(project(unit)))
    return Inputs(
        Points.sloped(unit, at, eye), Points.sloped(project(unit), at, jacobians(project, unit[at]))
    )


def some_values(kernel):
    rng = np.random.default_rng(3)
    return {one.name: torch.tensor(rng.uniform(0.5, 1.5, one.size)) for one in kernel.priors(D)}


@pytest.fixture
def points():
    return torch.tensor(np.random.default_rng(0).random((9, D)))


def test_covariances_of_slopes_are_derivatives_of_those_of_values(surrogate, points):
    kernel = surrogate.kernel
    values = some_values(kernel)
    one, other = points[:4], points[4:]
    mine, theirs = [0, 2], [1, 3, 4]
    found = kernel.covariance(inputs(one, mine).against(inputs(other, theirs)), values)

    def of_values(a, b):
        return kernel.covariance(inputs(a[None]).against(inputs(b[None])), values)[0, 0]

    for row, i in enumerate(mine):
        for column, j in enumerate(theirs):
            pair = (one[i], other[j])
            first, second = torch.autograd.functional.jacobian(of_values, pair)
            mixed = torch.autograd.functional.hessian(of_values, pair)[0][1]
            rows, columns = 4 + row + 2 * torch.arange(D), 5 + column + 3 * torch.arange(D)
            torch.testing.assert_close(found[rows, j], first)
            torch.testing.assert_close(found[i, columns], second)
            torch.testing.assert_close(found[rows][:, columns], mixed)


def test_kernels_are_positive_semi_definite(surrogate, points):
    points[5:7] = points[:2]
    at = inputs(points, [0, 1, 5, 8])
    covariance = surrogate.kernel.covariance(at.against(at), some_values(surrogate.kernel))
    torch.testing.assert_close(covariance, covariance.mT)
    eigenvalues = torch.linalg.eigvalsh(covariance)
    assert float(eigenvalues.min()) >= -1e-10 * float(eigenvalues.max())


def test_the_variance_is_the_diagonal(surrogate, points):
    at, values = inputs(points), some_values(surrogate.kernel)
    diagonal = surrogate.kernel.covariance(at.against(at), values).diagonal()
    torch.testing.assert_close(surrogate.kernel.covariance(at.diagonal, values), diagonal)


@pytest.mark.parametrize("smoothness", PROFILES)
def test_profiles_know_their_derivatives(smoothness):
    squared = torch.linspace(0.1, 4.0, 20, dtype=torch.float64, requires_grad=True)
    value, first, second = PROFILES[smoothness](squared)
    (slope,) = torch.autograd.grad(value.sum(), squared, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), squared)
    torch.testing.assert_close(first, slope)
    torch.testing.assert_close(second, bend)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "cubic",
            {},
            "there is no kernel 'cubic'; expected one of rho-matern, rho-rbf, rbf, matern",
        ),
        ("rbf", {"smoothness": 1.5}, "kernel 'rbf' has no smoothness"),
        ("matern", {"smoothness": 0.5}, r"smoothness of a Matern kernel is 0\.5"),
    ],
)
def test_unknown_kernels_are_refused(name, options, message):
    with pytest.raises(InvalidInputError, match=message):
        get_kernel(name, **options)


def test_names_stand_for_the_default_and_the_kernels_of_the_paper():
    assert list(KERNELS) == ["rho-matern", "rho-rbf", "rbf", "matern"]
    assert [KERNELS[name].projected for name in KERNELS] == [True, True, False, False]
    assert get_kernel("matern").smoothness == 1.5
    assert get_kernel("rho-rbf").linear
    assert get_kernel("matern", 2.5, True) == KernelSpec("matern", False, 2.5, True)
    assert get_kernel("rho-rbf", linear=False).linear is False
