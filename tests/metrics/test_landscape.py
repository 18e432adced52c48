"""How well a posterior matches the exact landscape, and the set that it predicts."""

from types import SimpleNamespace

import numpy as np
import pytest

import boirl
from boirl.metrics import landscape_error, landscape_fit, set_f1

THETAS = np.zeros((5, 1))


def predicts(mean, half_width=1.0, best_nll=10.0, truth=None):
    """A search with this posterior, and intervals of this half width, at all thetas."""
    numbers = np.array(mean)
    return SimpleNamespace(
        predict_nll=lambda thetas: (numbers, np.ones(len(numbers))),
        fitted=SimpleNamespace(
            interval=lambda thetas: (numbers - half_width, numbers + half_width)
        ),
        best_nll=best_nll,
        truth=truth,
    )


def test_error_and_coverage_by_hand():
    exact = np.array([10.0, 11.0, 14.0, 13.0, np.nan])
    fit = landscape_error(predicts([10.0, 11.0, 12.0, 13.0, 14.0]), THETAS, exact)
    assert fit.rmse == pytest.approx(1.0)
    assert fit.coverage == pytest.approx(3 / 4)
    wide = landscape_error(predicts([10.0, 11.0, 12.0, 13.0, 14.0], 2.0), THETAS, exact)
    assert wide.coverage == 1.0


def test_the_set_by_hand():
    exact = np.array([10.0, 10.5, 10.9, 12.0, np.nan])
    # Within 10 %: the first three exist; the first two and a poor one are predicted.
    assert set_f1(predicts([10.2, 10.9, 12.0, 10.4, 15.0]), THETAS, exact, 0.1) == pytest.approx(
        2.0 * 2 / (3 + 3)
    )
    perfect = predicts([10.0, 10.5, 10.9, 12.0, 15.0])
    assert set_f1(perfect, THETAS, exact, 0.1) == 1.0
    assert set_f1(predicts([20.0] * 5), THETAS, exact, 0.1) == 0.0


def test_the_set_is_around_the_truth_where_it_is_better():
    exact = np.array([10.0, 10.5, 10.9, 12.0, 13.0])
    better = predicts([10.0, 10.5, 10.9, 12.0, 13.0], truth=SimpleNamespace(nll=9.5))
    # Up to 10.45 is right now, and up to 11 is predicted.
    assert set_f1(better, THETAS, exact, 0.1) == pytest.approx(2.0 * 1 / (3 + 1))
    worse = predicts([10.0, 10.5, 10.9, 12.0, 13.0], truth=SimpleNamespace(nll=11.0))
    assert set_f1(worse, THETAS, exact, 0.1) == 1.0


def test_a_set_that_is_neither_there_nor_predicted_has_f1_zero():
    assert set_f1(predicts([20.0] * 5, best_nll=10.0), THETAS, np.full(5, 20.0), -0.1) == 0.0


@pytest.fixture(scope="module")
def found(gridworld):
    return boirl.explore(gridworld, evaluations=14, seed=1004)


def test_the_error_shrinks_with_evaluations(found):
    early, late = landscape_fit(found.truncate(3), 200), landscape_fit(found, 200)
    assert late.rmse < early.rmse
    assert 0.5 < late.coverage <= 1.0


def test_thetas_are_drawn_from_the_whole_box(found, monkeypatch):
    seen = []
    real = type(found.problem).nll_batch

    def note(self, thetas):
        seen.append(self.box.to_unit(thetas))
        return real(self, thetas)

    monkeypatch.setattr(type(found.problem), "nll_batch", note)
    one, same, other = (landscape_fit(found, 64, seed=seed) for seed in (0, 0, 1))
    assert one == same != other
    assert seen[0].shape == (64, 3)
    assert seen[0].min() < 0.1 < 0.9 < seen[0].max()
