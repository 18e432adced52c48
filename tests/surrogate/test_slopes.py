"""Covariances of values and slopes by blocks."""

import numpy as np
import pytest
import torch

from boirl.surrogate.slopes import Layout, with_slopes


def layout(n, numbers, d):
    return Layout(n, torch.tensor(numbers, dtype=torch.long), d)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (layout(3, [0, 1, 2], 2), layout(4, [0, 1, 2, 3], 2)),
        (layout(3, [2, 0], 2), layout(4, [1, 3], 2)),
        (layout(3, [0, 1, 2], 2), layout(4, [1, 3], 2)),
        (layout(3, [1], 2), layout(4, [0, 1, 2, 3], 2)),
        (layout(3, [1, 2], 2), Layout(4)),
        (Layout(3), layout(4, [0, 3], 2)),
    ],
)
def test_slopes_by_all_parts_are_those_of_finite_differences(one, other):
    rng = np.random.default_rng(0)

    def part(*shape):
        return torch.tensor(rng.normal(size=shape), requires_grad=True)

    rows, columns = len(one.point), len(other.point)
    parts = [part(one.n, other.n) for _ in range(3)]
    parts += [part(rows, columns), part(rows), part(columns)]

    def covariance(g, f, h, products, own, other_own):
        return with_slopes(g, f, h, products, own, other_own, one, other)

    assert torch.autograd.gradcheck(covariance, parts)


def test_a_layout_knows_its_rows():
    some = layout(3, [2, 0], 2)
    assert some.point.tolist() == [0, 1, 2, 2, 0, 2, 0]
    assert some.is_value.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert layout(3, [0, 1, 2], 2).chosen == slice(3)
    assert Layout(3).point.tolist() == [0, 1, 2]
