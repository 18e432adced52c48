"""Samples under a prior are those of likelihood times prior."""

import numpy as np
import pytest

import boirl
from boirl.priors import as_prior
from boirl.results.penalised import PenalisedSurrogate


@pytest.fixture(scope="module")
def prior(gridworld):
    return as_prior(boirl.NormalPrior([1.2, 5.0, 2.0], [0.1, np.inf, 0.3]), gridworld.box)


def test_the_prior_is_taken_off_the_nll(found, prior):
    surrogate = PenalisedSurrogate(found.fitted, prior, 50)
    thetas = found.thetas
    off = -prior.log_prior(thetas) / 50
    mean, sd = surrogate.posterior(thetas)
    plain, same = found.fitted.posterior(thetas)
    np.testing.assert_allclose(mean - plain, off)
    np.testing.assert_array_equal(sd, same)
    for end, plain_end in zip(
        surrogate.interval(thetas), found.fitted.interval(thetas), strict=True
    ):
        np.testing.assert_allclose(end - plain_end, off)
    drawn = surrogate.sample(thetas, 3, np.random.default_rng(0))
    plain_drawn = found.fitted.sample(thetas, 3, np.random.default_rng(0))
    np.testing.assert_allclose(drawn - plain_drawn, np.tile(off, (3, 1)))
    assert surrogate.box is found.problem.box or surrogate.box.names == found.names


def test_samples_follow_the_prior_where_the_demonstrations_say_nothing(found, prior):
    drawn = found.with_prior(prior).sample(2000)
    # Nothing depends on the translation, so that its posterior is its prior.
    assert drawn[:, 2].mean() == pytest.approx(2.0, abs=0.05)
    assert drawn[:, 2].std() == pytest.approx(0.3, rel=0.15)
    assert found.sample(2000)[:, 2].std() > 1.5


def test_the_uniform_prior_changes_nothing(found):
    np.testing.assert_array_equal(found.with_prior(None).sample(50), found.sample(50))
    np.testing.assert_array_equal(found.log_prior(found.thetas), 0.0)
