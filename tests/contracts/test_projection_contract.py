"""What every projection must do. A new projection joins by a line in PROJECTIONS."""

import numpy as np
import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import InputTransform

import boirl.projections
from boirl.kernels import KernelSpec
from boirl.projections import Canonical, Identity, LogRho, Projection, Rho

PROJECTIONS = {
    "identity": lambda problem, log_rho: Identity(problem.box),
    "log-rho": lambda problem, log_rho: log_rho,
    "rho": lambda problem, log_rho: Rho(problem, log_rho.demonstrations, log_rho.rollouts),
    "canonical": lambda problem, log_rho: Canonical(
        problem, log_rho.demonstrations, log_rho.rollouts
    ),
}
KERNELS = [
    KernelSpec(f"{smoothness}-{linear}", projected=True, smoothness=smoothness, linear=linear)
    for smoothness in (None, 1.5, 2.5)
    for linear in (False, True)
]


@pytest.fixture(params=PROJECTIONS)
def projection(request, gridworld, gridworld_log_rho):
    return PROJECTIONS[request.param](gridworld, gridworld_log_rho)


@pytest.fixture
def thetas(gridworld):
    return torch.tensor(gridworld.box.from_unit(np.random.default_rng(0).random((6, 3))))


def test_every_public_projection_is_held_to_the_contract(gridworld, gridworld_log_rho):
    public = [getattr(boirl.projections, name) for name in boirl.projections.__all__]
    classes = {one for one in public if isinstance(one, type) and issubclass(one, Projection)}
    held = {type(build(gridworld, gridworld_log_rho)) for build in PROJECTIONS.values()}
    assert held == classes - {Projection}
    assert LogRho in held


@pytest.mark.parametrize("batch", [(), (1,), (6,), (2, 3), (2, 1, 3)])
def test_a_latent_point_for_every_theta(projection, thetas, batch):
    given = thetas[: int(np.prod(batch))].reshape(*batch, 3)
    latent = projection.transform(given)
    assert latent.shape == (*batch, projection.dimension)
    assert latent.dtype == torch.float64


def test_thetas_do_not_influence_each_other(projection, thetas):
    singly = torch.stack([projection.transform(theta) for theta in thetas])
    torch.testing.assert_close(projection.transform(thetas), singly, rtol=1e-12, atol=1e-12)


def test_arrays_lists_and_tensors_give_the_same(projection, thetas):
    expected = projection.transform(thetas)
    assert torch.equal(projection.transform(thetas.numpy()), expected)
    assert torch.equal(projection.transform(thetas.tolist()), expected)


def test_many_thetas_in_parts_are_the_same(projection, thetas, monkeypatch):
    monkeypatch.setattr("boirl.projections.base.PROJECTED_AT_ONCE", 4)
    expected = projection.project(thetas)
    torch.testing.assert_close(projection.project_many(thetas), expected, rtol=1e-12, atol=1e-12)
    assert projection.project_many(thetas.clone()) is projection.project_many(thetas)
    before = expected.clone()
    thetas[0] += 0.1
    assert not torch.equal(projection.project_many(thetas)[0], before[0])


def test_gradients_match_finite_differences(projection, thetas):
    assert torch.autograd.gradcheck(projection.transform, thetas.clone().requires_grad_())


def test_it_is_finite_in_every_corner_of_the_box(projection, gridworld):
    corners = np.array(list(np.ndindex(2, 2, 2)), dtype=np.float64)
    assert torch.isfinite(projection.transform(gridworld.box.from_unit(corners))).all()


def test_the_range_holds_almost_everything(projection, gridworld):
    low, high = projection.range_over(gridworld.box)
    drawn = gridworld.box.from_unit(np.random.default_rng(1).random((500, 3)))
    latent = projection.transform(drawn)
    margin = 0.05 * (high - low)
    assert (high > low).all()
    assert ((latent >= low - margin) & (latent <= high + margin)).all()


def test_the_range_is_the_same_every_time(projection, gridworld):
    first, again = (projection.range_over(gridworld.box) for _ in range(2))
    assert torch.equal(first, again)


def test_two_rewards_that_behave_differently_are_told_apart(projection):
    latent = projection.transform([[1.25, 5.0, 0.0], [-2.0, -5.0, 0.0]])
    assert float((latent[0] - latent[1]).abs().max()) > 1e-3


@pytest.mark.filterwarnings("ignore::botorch.exceptions.InputDataWarning")  # not scaled here
def test_botorch_takes_it_as_an_input_transform(projection, thetas):
    assert isinstance(projection, InputTransform)
    outputs = torch.linspace(-1.0, 1.0, 6, dtype=torch.float64)[:, None]
    model = SingleTaskGP(thetas, outputs, input_transform=projection, outcome_transform=None)
    torch.testing.assert_close(model.eval().train_inputs[0], projection.transform(thetas))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_kernels_on_it_are_positive_semi_definite(projection, gridworld, kernel):
    unit = np.random.default_rng(2).random((30, 3))
    unit[20:] = unit[:10]  # the same theta twice
    unit[10:20, :2] = unit[:10, :2]  # the same behaviour twice: only the translation differs
    low, high = projection.range_over(gridworld.box)
    latent = (projection.transform(gridworld.box.from_unit(unit)) - low) / (high - low)
    with torch.no_grad():
        amplitudes = kernel.amplitudes(kernel.build(projection.dimension))
    covariance = kernel.covariance(latent, latent, amplitudes)
    eigenvalues = torch.linalg.eigvalsh(covariance)
    assert float(eigenvalues.min()) >= -1e-10 * float(eigenvalues.max())
    torch.testing.assert_close(covariance, covariance.mT)
