"""The space of the projection, in two principal components."""

import numpy as np
import pytest

import boirl
from boirl.drawing import latent, latent_space
from boirl.drawing.landscapes import outside_limits
from boirl.drawing.scales import NllScale


def cloud(figure):
    """Positions and colours of the rewards all over the box."""
    points = figure.axes[0].collections[0]
    return points.get_offsets(), np.asarray(points.get_array())


@pytest.fixture
def _few_points(monkeypatch):
    monkeypatch.setattr(latent, "LATENT_POINTS", 120)


@pytest.mark.usefixtures("_few_points")
def test_rewards_all_over_the_box_are_coloured_by_their_predicted_nll(found):
    figure = latent_space(found)
    places, nll = cloud(figure)
    drawn = np.random.default_rng(0).random((120, 2))
    thetas = found.problem.box.from_unit(drawn)
    expected = NllScale.of(found).excess(found.predict_nll(thetas)[0])
    np.testing.assert_allclose(nll, np.sort(expected)[::-1], err_msg="the best are on top")
    assert places.shape == (120, 2)
    assert "120 rewards in the space of log-rho" in figure.axes[0].get_title()
    assert figure.axes[1].get_ylabel() == "predicted NLL above the best"


@pytest.mark.usefixtures("_few_points")
def test_the_exact_nll_is_shown_where_asked_for(found):
    figure = latent_space(found, exact=True)
    _, nll = cloud(figure)
    thetas = found.problem.box.from_unit(np.random.default_rng(0).random((120, 2)))
    exact = found.problem.nll_batch(thetas)
    expected = NllScale.of(found, exact).excess(exact)
    np.testing.assert_allclose(nll, np.sort(expected)[::-1])
    assert figure.axes[1].get_ylabel() == "exact NLL above the best"


@pytest.mark.usefixtures("_few_points")
def test_components_are_those_of_largest_variance(found):
    places, _ = cloud(latent_space(found))
    centred = places - places.mean(axis=0)
    np.testing.assert_allclose(centred.mean(axis=0), 0.0, atol=1e-9)
    covariance = np.cov(centred.T)
    assert covariance[0, 0] >= covariance[1, 1]
    assert abs(covariance[0, 1]) < 1e-6 * covariance[0, 0]


@pytest.mark.usefixtures("_few_points")
def test_evaluations_and_the_truth_lie_where_their_projections_do(found):
    axes = latent_space(found).axes[0]
    *marks, star = axes.lines
    assert star.get_marker() == "*"
    assert sum(len(mark.get_xdata()) for mark in marks) == len(found)
    places = np.vstack([mark.get_xydata() for mark in marks] + [star.get_xydata()])
    thetas = np.vstack([found.thetas, [found.problem.truth]])
    latent_places = found.surrogate.projection.transform(thetas).numpy()
    # Two components of an orthogonal projection never lie farther apart than the points do.
    widest = np.linalg.norm(latent_places[:, None] - latent_places, axis=-1).max()
    assert 0.0 < np.linalg.norm(places[:, None] - places, axis=-1).max() <= widest * (1 + 1e-9)


@pytest.mark.usefixtures("_few_points")
def test_without_a_projection_the_space_is_that_of_theta():
    found = boirl.explore(boirl.load_problem("gridworld2d"), 4, kernel="rbf", seed=1003)
    assert latent_space(found).axes[0].get_title().endswith("in the space of theta")


@pytest.mark.usefixtures("_few_points")
def test_a_space_of_one_dimension_is_a_line():
    problem = boirl.load_problem("gridworld2d")
    single = boirl.TabularProblem(
        problem.mdp, problem.reward.fix(midpoint=5.0), problem.demonstrations
    )
    found = boirl.explore(single, 4, kernel="rbf", seed=1004)
    places, _ = cloud(latent_space(found))
    np.testing.assert_array_equal(places[:, 1], 0.0)
    assert np.ptp(places[:, 0]) > 0.0


@pytest.mark.usefixtures("_few_points")
def test_what_is_no_solution_has_no_colour(held):
    figure = latent_space(held)
    places, _ = cloud(figure)
    thetas = held.problem.box.from_unit(np.random.default_rng(0).random((120, 2)))
    outside = outside_limits(held, thetas)
    assert len(places) == (~outside).sum()
    assert "no solution" in [text.get_text() for text in figure.legends[0].get_texts()]
