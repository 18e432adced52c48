"""Landscapes in slices: exact where they should be, and honest about where they are not."""

import numpy as np
import pytest

from boirl.report.landscape import slice_landscape
from boirl.types import Box


def box_of(d):
    return Box(tuple(f"p{i}" for i in range(d)), np.full(d, -1.0), np.full(d, 2.0))


def anything(thetas):
    return np.exp(0.4 * thetas.sum(axis=1)) + np.prod(thetas, axis=1)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_with_few_parameters_every_point_is_predicted(d):
    best = np.linspace(-0.3, 0.4, d)
    sliced = slice_landscape(anything, box_of(d), best, tuple(range(d)))
    positions = np.random.default_rng(0).integers(len(sliced.axes[0]), size=(50, d))
    thetas = np.stack([axis[positions[:, i]] for i, axis in enumerate(sliced.axes)], axis=1)
    assert sliced.at(positions) == pytest.approx(anything(thetas))
    assert sliced.is_exact
    assert sliced.error(anything, best, thetas) == 0.0


def test_the_best_is_on_the_grid():
    best = np.array([0.123, -0.7, 1.9, 0.0])
    sliced = slice_landscape(anything, box_of(4), best, (0, 1, 2, 3))
    held = [axis[place] for axis, place in zip(sliced.axes, sliced.anchor, strict=True)]
    assert held == pytest.approx(best)
    assert sliced.at(np.array([sliced.anchor])) == pytest.approx(anything(best[None]))


def test_with_many_parameters_slices_in_two_are_exact():
    best = np.array([0.2, 0.1, -0.4, 0.9, 0.3])
    sliced = slice_landscape(anything, box_of(5), best, (0, 1, 2, 3, 4))
    positions = np.tile(sliced.anchor, (30, 1))
    positions[:, [1, 3]] = np.random.default_rng(0).integers(len(sliced.axes[0]), size=(30, 2))
    thetas = np.stack([axis[positions[:, i]] for i, axis in enumerate(sliced.axes)], axis=1)
    assert sliced.at(positions) == pytest.approx(anything(thetas))
    assert not sliced.is_exact


def test_a_quadratic_landscape_is_exact_everywhere_and_others_tell_their_error():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((5, 5))

    def quadratic(thetas):
        return ((thetas @ root) ** 2).sum(axis=1)

    best, anywhere = np.zeros(5), rng.uniform(-1.0, 2.0, (40, 5))
    sliced = slice_landscape(quadratic, box_of(5), best, (0, 1, 2, 3, 4))
    assert sliced.error(quadratic, best, anywhere) == pytest.approx(0.0, abs=1e-9)
    other = slice_landscape(anything, box_of(5), best, (0, 1, 2, 3, 4))
    assert other.error(anything, best, anywhere) > 0.01


def test_parameters_that_are_left_out_are_held_at_the_best():
    best = np.array([0.5, 0.1, -0.2])
    sliced = slice_landscape(anything, box_of(3), best, (2,))
    positions = sliced.nearest(np.array([[9.0, 9.0, best[2]]]))
    assert sliced.at(positions) == pytest.approx(anything(best[None]))
