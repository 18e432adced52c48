"""Pictures: that they show what they should, and survive odd searches."""

import numpy as np
import pytest

import boirl
from boirl import plots
from boirl.errors import InvalidInputError, StorageError


@pytest.fixture(scope="module")
def found():
    return boirl.explore(boirl.load_problem("gridworld2d"), evaluations=8, seed=1)


def test_the_usual_pictures_are_written(found, tmp_path):
    paths = plots.save_figures(found, tmp_path / "pictures")
    assert [path.name for path in paths] == ["landscape.png", "latent.png", "convergence.png"]
    assert all(path.stat().st_size > 10_000 for path in paths)


def test_the_landscape_shows_the_exact_nll(found):
    figure = plots.landscape(found)
    exact = figure.axes[0].collections[0].get_array()
    corner = found.problem.evaluate(found.problem.box.low).nll
    assert np.ravel(exact)[0] == pytest.approx(corner)


def test_evaluations_are_classed_by_their_nll(found):
    truth = found.problem.evaluate(found.problem.truth).nll
    nll = truth * np.array([0.999, 1.005, 1.05, 2.0, np.nan])
    made_up = boirl.RewardSet(
        found.problem,
        found.surrogate,
        found.settings,
        found.thetas[:5],
        nll,
        found.seconds[:5],
        (None,) * 5,
    )
    masks = plots._classes(made_up)
    assert [np.flatnonzero(mask).tolist() for mask in masks] == [[0], [1], [2], [3, 4]]


def test_a_search_without_truth_or_with_failures_is_drawn(found, tmp_path):
    mdp = boirl.TabularMDP.from_next_states(np.array([[0, 1], [1, 0]]), gamma=0.9)
    reward = boirl.LinearReward(np.eye(2), {"stay": (-1.0, 1.0), "go": (-1.0, 1.0)})
    demonstrations = boirl.Demonstrations.from_arrays([[0, 1, 1]], [[1, 0, 0]])
    problem = boirl.TabularProblem(mdp, reward, demonstrations)
    result = boirl.explore(problem, evaluations=5)
    result.nll[2] = np.nan
    assert len(plots.save_figures(result, tmp_path)) == 3


def test_a_reward_with_one_parameter_is_a_curve(found, tmp_path):
    problem = boirl.load_problem("gridworld2d")
    reward = problem.reward.fix(midpoint=5.0)
    single = boirl.TabularProblem(problem.mdp, reward, problem.demonstrations, truth=(1.25,))
    result = boirl.explore(single, evaluations=5)
    assert plots.landscape(result).axes[0].get_xlabel() == "steepness"
    assert len(plots.save_figures(result, tmp_path)) == 3


def test_unknown_or_missing_parameters_are_told(found):
    with pytest.raises(InvalidInputError, match="no parameter 'colour'"):
        plots.landscape(found, ("steepness", "colour"))


def test_a_place_that_cannot_be_written_is_told(found, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StorageError, match="could not be written"):
        plots.save_figures(found, blocked / "pictures")
