"""Two sets of points and the geometry between them."""

import numpy as np
import pytest
import torch

from boirl.surrogate.kernels import rbf
from boirl.surrogate.pairs import Diagonal, Pair, Points

TWO = torch.tensor([2.0], dtype=torch.float64)


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.random((5, 4)))
    return Points.sloped(x, torch.tensor([1, 3]), torch.tensor(rng.normal(size=(2, 4, 3))))


def test_rows_are_points_and_then_their_slopes_by_one_coordinate_after_another():
    x = torch.arange(6.0, dtype=torch.float64).reshape(3, 2)
    jacobian = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]], dtype=torch.float64)
    points = Points.sloped(x, torch.tensor([2]), jacobian)
    expected = torch.tensor([[1.0, 3.0], [2.0, 4.0]], dtype=torch.float64)
    torch.testing.assert_close(points.rows, torch.cat([x, expected]))
    torch.testing.assert_close(points.own[3:], expected @ x[2])
    assert points.layout.point.tolist() == [0, 1, 2, 2, 2]


def test_joined_points_come_before_the_slopes(points):
    others = torch.tensor(np.random.default_rng(2).random((2, 4)))
    joined = points.joined_by(Points.plain(others))
    torch.testing.assert_close(joined.x, torch.cat([points.x, others]))
    torch.testing.assert_close(joined.rows[7:], points.rows[5:])
    assert joined.layout.point.tolist() == [*range(7), 1, 3, 1, 3, 1, 3]


def test_distances_and_products_are_those_of_the_points(points):
    other = Points.plain(torch.tensor(np.random.default_rng(1).random((6, 4))))
    pair = Pair(points, other)
    torch.testing.assert_close(pair.products[:5], points.x @ other.x.mT)
    torch.testing.assert_close(pair.squared, torch.cdist(points.x, other.x).square())


def test_covariances_have_a_row_for_each_value_and_slope(points):
    assert Pair(points, points).dot().shape == (5 + 6, 5 + 6)
    assert Pair(points, Points.plain(points.x)).dot().shape == (5 + 6, 5)
    assert Pair(Points.plain(points.x), points).dot().shape == (5, 5 + 6)


def test_lengthscales_divide_coordinates_and_slopes(points):
    lengthscales = torch.tensor([1.0, 2.0, 4.0, 8.0], dtype=torch.float64)
    scaled = points.divided_by(lengthscales)
    torch.testing.assert_close(scaled.rows, points.rows / lengthscales)
    assert points.divided_by(lengthscales) is scaled
    torch.testing.assert_close(points.divided_by(TWO).rows, points.rows / 2.0)


def test_a_lengthscale_is_a_unit_of_distance(points):
    one = torch.ones(1, dtype=torch.float64)
    torch.testing.assert_close(
        Pair(points, points).stationary(rbf, TWO, TWO),
        Pair(points, points).divided_by(TWO).stationary(rbf, TWO),
    )
    torch.testing.assert_close(
        Pair(points, points).stationary(rbf, TWO),
        2.0 * Pair(points, points).stationary(rbf, one),
    )


def test_the_diagonal_is_that_of_the_pair(points):
    plain = Points.plain(points.x)
    torch.testing.assert_close(Diagonal(plain).dot(), Pair(plain, plain).dot().diagonal())
    torch.testing.assert_close(
        Diagonal(plain).stationary(rbf, TWO), Pair(plain, plain).stationary(rbf, TWO).diagonal()
    )
