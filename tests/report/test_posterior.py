"""Samples know the behaviour that they are nearest to."""

import numpy as np
import pytest

from boirl.report.posterior import SAMPLES, PosteriorSamples


def test_samples_have_a_group_and_a_neighbour_that_is_drawn(answer):
    samples = answer.samples
    assert samples.thetas.shape == (SAMPLES, 3)
    assert set(samples.groups) <= {card.number for card in answer.cards}
    assert set(samples.nearest) <= set(answer.frames.by_number)
    row = samples.rows()[5]
    assert [row["p0"], row["p1"], row["p2"]] == pytest.approx(samples.thetas[5], rel=1e-3)


def test_an_evaluation_is_nearest_to_itself(answer, monkeypatch):
    from boirl.report.posterior import posterior_samples

    found, drawn = answer.result, sorted(answer.frames.by_number)
    monkeypatch.setattr(type(found), "sample", lambda self, n: found.thetas)
    again = posterior_samples(found, answer.cards, drawn)
    assert again.nearest.tolist() == list(range(len(found)))
    assert (posterior_samples(found, answer.cards, []).nearest == -1).all()


def test_parameters_that_go_together_are_found_whatever_their_scale():
    rng = np.random.default_rng(0)
    one, other = rng.standard_normal((2, 300))
    thetas = np.stack([one, other, np.exp(3.0 * other)], axis=1)
    samples = PosteriorSamples(("a", "b", "c"), thetas, np.ones(300, int), np.ones(300, int))
    assert samples.correlations()[0][:2] == ("b", "c")
    assert samples.correlations()[0][2] == pytest.approx(1.0)
    alone = PosteriorSamples(("a",), thetas[:, :1], np.ones(300, int), np.ones(300, int))
    assert alone.correlations() == []
