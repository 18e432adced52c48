"""Surrogates of Gridworld by kernel, and evaluations to fit them to."""

import numpy as np
import pytest

from boirl.projections import Identity
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS, KernelSpec, get_kernel

SPECS = {
    "rho-rbf": get_kernel("rho-rbf"),
    "rho-rbf without linear": get_kernel("rho-rbf", linear=False),
    "rho-matern 3/2": KernelSpec("rho-matern", projected=True, smoothness=1.5, linear=True),
    "rho-matern 5/2": KernelSpec("rho-matern", projected=True, smoothness=2.5),
    "rbf": get_kernel("rbf"),
    "rbf with linear": get_kernel("rbf", linear=True),
    "matern 3/2": get_kernel("matern"),
    "matern 5/2": get_kernel("matern", smoothness=2.5),
}


@pytest.fixture(params=SPECS)
def surrogate(request, gridworld, gridworld_log_rho):
    kernel = SPECS[request.param]
    projection = gridworld_log_rho if kernel.projected else Identity(gridworld.box)
    return Surrogate(kernel, projection, gridworld.box)


@pytest.fixture(params=KERNELS)
def named_surrogate(request, gridworld, gridworld_log_rho):
    kernel = KERNELS[request.param]
    projection = gridworld_log_rho if kernel.projected else Identity(gridworld.box)
    return Surrogate(kernel, projection, gridworld.box)


@pytest.fixture(scope="module")
def evaluations(gridworld):
    """Twelve thetas and their NLL."""
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((12, 3)))
    return thetas, gridworld.nll_batch(thetas)


@pytest.fixture(scope="module")
def elsewhere(gridworld):
    return gridworld.box.from_unit(np.random.default_rng(1).random((30, 3)))
