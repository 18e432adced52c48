"""The posterior in ArviZ."""

import warnings

import numpy as np
import pytest

from boirl.errors import MissingExtraError


def test_samples_are_those_of_the_result(found):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("arviz")
        data = found.to_arviz(n=50, seed=3)
    samples = found.sample(50, seed=3)
    for column, name in enumerate(found.names):
        np.testing.assert_array_equal(data.posterior[name].values, samples[None, :, column])
    nll, _ = found.predict_nll(samples)
    expected = -len(found.problem.demonstrations) * nll
    np.testing.assert_allclose(data.sample_stats["lp"].values[0], expected)
    assert data.attrs["problem"] == found.problem.name


def test_without_arviz_one_line_says_what_to_install(found, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "arviz", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'boirl\[arviz\]'"):
        found.to_arviz(n=5)
