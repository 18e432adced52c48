"""Draws and steps that chains propose."""

import numpy as np
import pytest
from scipy.special import expit

from boirl.results.proposals import MixtureProposal, log_jacobian


@pytest.fixture(scope="module")
def proposal():
    rng = np.random.default_rng(0)
    archive = rng.standard_normal((400, 2)) @ np.array([[1.0, 0.8], [0.0, 0.5]]) + [0.5, -1.0]
    return MixtureProposal(archive, rng)


def test_the_jacobian_is_the_derivative_of_the_cube():
    logits = np.array([[0.3, -2.0], [40.0, 0.0]])
    step = 1e-6
    slopes = (expit(logits + step) - expit(logits - step)) / (2 * step)
    assert log_jacobian(logits)[0] == pytest.approx(np.log(slopes[0]).sum(), abs=1e-8)
    assert np.isfinite(log_jacobian(logits)).all()


def test_the_density_of_draws_sums_to_the_share_in_the_cube(proposal):
    """Over a wide grid of logits; draws outside the cube have no place there."""
    axis = np.linspace(-25.0, 25.0, 401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    total = np.exp(proposal.log_density(grid)).sum() * (axis[1] - axis[0]) ** 2
    _, inside = proposal.draw(200_000, np.random.default_rng(1))
    assert total == pytest.approx(inside.mean(), abs=5e-3)
    assert 0.9 < inside.mean() < 1.0


def test_draws_follow_the_density(proposal):
    places, inside = proposal.draw(200_000, np.random.default_rng(2))
    # Halfway between two columns of the grid below.
    edge = 0.5625
    half = (places[:, 0] > edge) & inside
    axis = np.linspace(-25.0, 25.0, 401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    densities = np.exp(proposal.log_density(grid[grid[:, 0] > edge]))
    above = densities.sum() * (axis[1] - axis[0]) ** 2
    assert half.mean() == pytest.approx(above, abs=0.01)


def test_steps_have_no_preferred_direction(proposal):
    here = np.zeros((100_000, 2))
    for step in (proposal.step, proposal.step_on_cube):
        moved = expit(step(here, np.random.default_rng(3))) - 0.5
        np.testing.assert_allclose(moved.mean(axis=0), 0.0, atol=3e-3)


def test_steps_on_the_cube_are_reflected_at_its_border(proposal):
    corner = np.full((1000, 2), -12.0)
    points = expit(proposal.step_on_cube(corner, np.random.default_rng(4)))
    assert ((points > 0.0) & (points < 1.0)).all()
    assert points.max() > 0.1
