"""The highest point of a function on the unit cube."""

import numpy as np
import pytest
import torch
from scipy.stats import qmc

from boirl.maximise import SAMPLES, maximise

CENTRE = np.array([0.5, 0.5])


def rng(seed=1000):
    return np.random.default_rng(seed)


def bowl(top):
    """Highest, at 1, in `top`."""
    centre = torch.tensor(top, dtype=torch.float64)
    return lambda X: 1.0 - (X.squeeze(-2) - centre).square().sum(dim=-1)


@pytest.mark.parametrize("top", [(0.123, 0.777), (1.0, 0.0), (0.5, 1.0)])
def test_the_top_of_a_bowl_is_found_inside_and_at_the_border(top):
    unit, value = maximise(bowl(top), CENTRE, rng())
    np.testing.assert_allclose(unit, top, atol=1e-4)
    assert value == pytest.approx(1.0, abs=1e-7)


def test_of_two_hills_the_higher_one_is_found():
    """Narrow ones, the higher one far from the centre to look at more closely."""

    def hills(X):
        x = X.squeeze(-2)
        low, high = ((x - place).square().sum(dim=-1) for place in (0.2, 0.85))
        return torch.exp(-low / 0.005) + 2.0 * torch.exp(-high / 0.005)

    unit, value = maximise(hills, np.array([0.2, 0.2]), rng())
    np.testing.assert_allclose(unit, [0.85, 0.85], atol=1e-3)
    assert value == pytest.approx(2.0, abs=1e-4)


def test_the_surroundings_of_the_centre_are_sampled_more_densely():
    peak = torch.tensor([0.31, 0.68, 0.42, 0.77], dtype=torch.float64)

    def without_slopes(X):
        return -(X.squeeze(-2) - peak).norm(dim=-1).detach()

    _, near = maximise(without_slopes, peak.numpy(), rng())
    _, far = maximise(without_slopes, np.full(4, 0.1), rng())
    assert -near < 0.5 * -far


def test_a_function_without_slopes_is_sampled():
    unit, value = maximise(lambda X: bowl((0.3, 0.6))(X).detach(), CENTRE, rng())
    np.testing.assert_allclose(unit, [0.3, 0.6], atol=0.05)
    assert value == pytest.approx(float(bowl((0.3, 0.6))(torch.tensor(unit)[None, None])))


def test_climbing_never_ends_below_the_best_of_the_sample():
    def rugged(X):
        x = X.squeeze(-2)
        return torch.sin(60.0 * x).sum(dim=-1) + x.sum(dim=-1)

    raw = qmc.Sobol(2, rng=rng(1004)).random(SAMPLES)
    best_raw = float(rugged(torch.tensor(raw).unsqueeze(-2)).max())
    unit, value = maximise(rugged, CENTRE, rng(1004))
    assert value >= best_raw
    assert ((unit >= 0.0) & (unit <= 1.0)).all()
    assert float(rugged(torch.tensor(unit)[None, None])) == pytest.approx(value, rel=1e-9)


def test_the_seed_decides():
    def flat(X):
        return 0.0 * X.sum(dim=(-1, -2))

    first, again, other = (maximise(flat, CENTRE, rng(seed))[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
