"""Maps of roads: what they show."""

from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.domains.roads import maps
from boirl.domains.roads.maps import SolvedReward
from boirl.errors import StorageError
from boirl.files import save_figure

THETA, OTHER = (-2.0, -1.0, -1.0), (-1.0, 1.0, -1.0)


@pytest.fixture(scope="module")
def problem(town_problem):
    return town_problem


@pytest.fixture(scope="module")
def solved(problem):
    return tuple(SolvedReward(theta, problem.policy(theta)) for theta in (THETA, OTHER))


def values(figure):
    """What the coloured links of a map show."""
    return figure.axes[0].collections[1].get_array()


def test_three_kinds_of_pictures_are_written(problem, solved, tmp_path):
    figures = {
        "trips": maps.trips_map(problem),
        "visits": maps.visits_map(problem, solved[0]),
        "difference": maps.difference_map(problem, *solved),
    }
    for name, figure in figures.items():
        path = save_figure(figure, tmp_path / "pictures" / f"{name}.png")
        assert path.stat().st_size > 10_000


def test_the_map_shows_the_visits_of_the_most_visited_links(problem, solved):
    figure = maps.visits_map(problem, solved[0])
    visits = problem.expected_visits(solved[0].policy)
    assert values(figure).max() == visits.max()
    np.testing.assert_array_equal(values(figure), np.sort(visits[visits >= 1e-3 * visits.max()]))
    assert figure.axes[0].get_title().endswith("time -2.00, left -1.00, constant -1.00")


def test_the_map_of_trips_shows_what_was_demonstrated(problem):
    figure = maps.trips_map(problem)
    visits = problem.demonstrated_visits()
    np.testing.assert_array_equal(values(figure), np.sort(visits[visits >= 1e-3 * visits.max()]))
    assert figure.axes[0].get_title() == "road-network: demonstrated trips"


def test_what_one_reward_passes_more_is_what_the_other_passes_less(problem, solved):
    one, other = (values(maps.difference_map(problem, *pair)) for pair in (solved, solved[::-1]))
    np.testing.assert_allclose(np.sort(one), np.sort(-other))


def test_rewards_that_do_not_differ_are_drawn_too(problem, solved, tmp_path):
    figure = maps.difference_map(problem, solved[0], solved[0])
    assert len(values(figure)) == 0
    assert save_figure(figure, tmp_path / "same.png").stat().st_size > 10_000


def test_trips_to_many_destinations_have_maps(logit_problem, tmp_path):
    assert maps.has_map(logit_problem)
    rewards = [
        SolvedReward(theta, logit_problem.policy(theta))
        for theta in ((-2.0, -1.0, -1.0, -4.0), (-1.0, -1.0, -2.0, -4.0))
    ]
    for figure in (
        maps.trips_map(logit_problem),
        maps.visits_map(logit_problem, rewards[0]),
        maps.difference_map(logit_problem, *rewards),
    ):
        assert save_figure(figure, tmp_path / "map.png").stat().st_size > 10_000


@pytest.fixture(scope="module")
def found(problem):
    """The second reward behaves much like the first, the third does not."""
    thetas = [THETA, (-2.01, -1.0, -1.0), OTHER]
    return boirl.explore(problem, kernel="rbf", evaluations=3, initial=thetas)


@pytest.mark.parametrize(
    ("nll", "rival"), [((10.0, 10.1, 99.0), 1), ((10.0, 99.0, 10.1), 2), ((10.0, 99.0, 99.0), None)]
)
def test_a_search_shows_where_its_best_rewards_differ(found, tmp_path, monkeypatch, nll, rival):
    compared = []
    draw = maps.difference_map

    def spy(*given):
        compared.append(given[1:])
        return draw(*given)

    monkeypatch.setattr(maps, "difference_map", spy)
    pairs = zip(found.evaluations, nll, strict=True)
    result = replace(found, evaluations=tuple(replace(one, nll=value) for one, value in pairs))
    paths = maps.save_maps(result, tmp_path / "maps")
    names = ["trips.png", "visits.png"] + ([] if rival is None else ["difference.png"])
    assert [path.name for path in paths] == names
    assert all(path.stat().st_size > 10_000 for path in paths)
    if rival is not None:
        ((best, other),) = compared
        np.testing.assert_array_equal(best.theta, found.thetas[0])
        np.testing.assert_array_equal(other.theta, found.thetas[rival])


def test_only_roads_have_maps(problem, gridworld):
    assert maps.has_map(problem)
    assert not maps.has_map(gridworld)


def test_a_place_that_cannot_be_written_is_reported(problem, tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StorageError, match="could not be written"):
        save_figure(maps.trips_map(problem), tmp_path / "taken" / "map.png")
