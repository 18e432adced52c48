"""All pictures of a result: which there are, and where they go."""

from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.baselines import BaselineRun
from boirl.drawing import VIEWS, View, save_pictures, views
from boirl.errors import InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.files import save_figure
from boirl.registry import Registry

SEARCH = ["convergence.png", "landscape.png", "latent.png"]


@pytest.fixture(autouse=True)
def _few_points(monkeypatch):
    monkeypatch.setattr("boirl.drawing.landscapes.GRID", 12)
    monkeypatch.setattr("boirl.drawing.latent.LATENT_POINTS", 100)


def test_the_pictures_of_a_search_are_written(found, tmp_path):
    paths = save_pictures(found, tmp_path / "pictures")
    assert [path.name for path in paths] == SEARCH
    assert all(path.parent == tmp_path / "pictures" for path in paths)
    assert all(path.stat().st_size > 10_000 for path in paths)


def test_the_exact_nll_is_drawn_where_asked_for(found, tmp_path):
    plain = save_pictures(found, tmp_path / "plain")
    exact = save_pictures(found, tmp_path / "exact", exact=True)
    different = [
        one.name
        for one, other in zip(plain, exact, strict=True)
        if one.read_bytes() != other.read_bytes()
    ]
    assert different == ["landscape.png", "latent.png"]


def test_a_baseline_has_a_curve_and_the_pictures_of_its_domain(found, tmp_path):
    run = BaselineRun(found.problem, found.evaluations, "random", solutions=found.thetas[:2])
    assert [path.name for path in save_pictures(run, tmp_path)] == ["convergence.png"]


def test_paths_are_drawn_where_policies_are_learned(maze_problem, result_of, tmp_path):
    run = result_of(maze_problem(), [(0.3, 0.1), (-0.5, 0.0)])
    paths = save_pictures(run, tmp_path)
    assert [path.name for path in paths] == ["convergence.png", "paths.png"]


def test_maps_are_drawn_on_roads(tmp_path):
    problem = boirl.load_problem("road-network", n_links=60, n_demonstrations=5)
    found = boirl.explore(problem, evaluations=3, kernel="rbf", seed=1000)
    names = [path.name for path in save_pictures(found, tmp_path)]
    assert names[:5] == [*SEARCH, "trips.png", "visits.png"]


@pytest.mark.parametrize("kernel", ["rho-rbf", "matern"])
def test_a_search_without_truth_and_with_failures_is_drawn(two_states, tmp_path, kernel):
    result = boirl.explore(two_states, evaluations=5, kernel=kernel)
    failed = Evaluation(result.evaluations[2].theta, np.nan, failure="no values")
    evaluations = (*result.evaluations[:2], failed, *result.evaluations[3:])
    result = replace(result, evaluations=evaluations)
    assert [path.name for path in save_pictures(result, tmp_path)] == SEARCH


def test_a_reward_with_one_parameter_has_all_pictures(tmp_path):
    problem = boirl.load_problem("gridworld2d")
    reward = problem.reward.fix(midpoint=5.0)
    single = boirl.TabularProblem(problem.mdp, reward, problem.demonstrations, truth=(1.25,))
    result = boirl.explore(single, evaluations=5)
    assert [path.name for path in save_pictures(result, tmp_path)] == SEARCH


def test_a_place_that_cannot_be_written_is_reported(found, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StorageError, match="could not be written"):
        save_pictures(found, blocked / "pictures")


def on_gridworld(problem):
    return problem.name == "gridworld2d"


def save_square(found, folder):
    from matplotlib.figure import Figure

    return [save_figure(Figure(), folder / "square.png")]


def test_a_domain_adds_pictures_of_its_problems(found, two_states, tmp_path, monkeypatch):
    own: Registry[View] = Registry("view", "boirl.views")
    own.register("square", View(f"{__name__}:on_gridworld", f"{__name__}:save_square"))
    monkeypatch.setattr(views, "VIEWS", own)
    run = BaselineRun(found.problem, found.evaluations, "random")
    assert [path.name for path in save_pictures(run, tmp_path)] == ["convergence.png", "square.png"]
    other = BaselineRun(two_states, (two_states.evaluate((0.1, 0.1)),), "random")
    assert [path.name for path in save_pictures(other, tmp_path)] == ["convergence.png"]


def test_the_views_of_boirl_are_registered():
    assert boirl.domains.roads is not None
    assert {"paths", "map"} <= set(VIEWS)


def test_an_exact_picture_is_refused_where_every_point_would_be_a_training_run():
    class Learned:
        name, is_model_free = "learned", True

    with pytest.raises(InvalidInputError, match="are learned, so that a picture of its exact NLL"):
        views.check_exact(Learned())
