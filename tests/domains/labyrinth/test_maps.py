"""Maps of the labyrinth: what they show."""

import numpy as np
import pytest

from boirl import baselines
from boirl.domains.labyrinth.made_up import TRUTH
from boirl.domains.labyrinth.maps import arrival_rewards, has_map, labyrinth_map, save_maps
from boirl.drawing import VIEWS
from boirl.lazy import load


def test_the_maps_show_visits_and_rewards(problem):
    policy = problem.policy(TRUTH)
    worth = arrival_rewards(problem, problem.reward, TRUTH)
    axes = labyrinth_map(problem, policy, worth).axes
    shown = [one.collections[0].get_array() for one in axes[:3]]
    np.testing.assert_allclose(shown[0], np.maximum(problem.visits_by_node(), 1e-3))
    np.testing.assert_allclose(shown[1], np.maximum(problem.visits_by_node(policy), 1e-3))
    np.testing.assert_array_equal(shown[2], worth)
    assert [one.get_title() for one in axes[:2]] == ["recorded steps", "what this reward does"]


def test_arriving_is_worth_what_the_parameters_say(problem):
    water, _, end, depth, *_ = TRUTH
    worth = arrival_rewards(problem, problem.reward, TRUTH)
    expected = depth * problem.maze.depths / 3 + end * (np.arange(15) >= 7)
    expected[problem.maze.water] += water
    np.testing.assert_allclose(worth, expected)


def test_pictures_of_results_include_the_map(problem, gridworld):
    view = VIEWS["labyrinth"]
    assert load(view.applies) is has_map
    assert load(view.save) is save_maps
    assert has_map(problem)
    assert not has_map(gridworld)


@pytest.mark.parametrize("method", ["maxent", "deep-maxent"])
def test_what_was_found_is_drawn(problem, tmp_path, method):
    found = baselines.get(method).run(problem, 2, 1000)
    assert save_maps(found, tmp_path) == [tmp_path / "labyrinth.png"]
    assert (tmp_path / "labyrinth.png").stat().st_size > 10_000
