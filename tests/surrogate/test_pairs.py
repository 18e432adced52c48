"""Two sets of points and the geometry between them."""

import numpy as np
import pytest
import torch

from boirl.surrogate.kernels import rbf
from boirl.surrogate.pairs import Diagonal, Pair, Points


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.random((5, 4)))
    return Points(x, torch.tensor([1, 3]), torch.tensor(rng.normal(size=(2, 4, 3))))


def test_distances_and_products_are_those_of_the_points(points):
    other = Points.plain(torch.tensor(np.random.default_rng(1).random((6, 4))))
    pair = Pair(points, other)
    torch.testing.assert_close(pair.product, points.x @ other.x.mT)
    torch.testing.assert_close(pair.squared, torch.cdist(points.x, other.x).square())


def test_rows_are_values_first_and_slopes_after(points):
    assert Pair(points, points).dot().shape == (5 + 6, 5 + 6)
    assert Pair(points, Points.plain(points.x)).dot().shape == (5 + 6, 5)
    assert Pair(Points.plain(points.x), points).dot().shape == (5, 5 + 6)


def test_lengthscales_divide_coordinates_and_jacobians(points):
    scaled = points.divided_by(torch.tensor([1.0, 2.0, 4.0, 8.0], dtype=torch.float64))
    torch.testing.assert_close(scaled.x[:, 3], points.x[:, 3] / 8.0)
    torch.testing.assert_close(scaled.jacobian[:, 1], points.jacobian[:, 1] / 2.0)


def test_the_diagonal_is_that_of_the_pair(points):
    plain = Points.plain(points.x)
    one = torch.ones((), dtype=torch.float64)
    torch.testing.assert_close(Diagonal(plain).dot(), Pair(plain, plain).dot().diagonal())
    torch.testing.assert_close(
        Diagonal(plain).stationary(rbf, one), Pair(plain, plain).stationary(rbf, one).diagonal()
    )
