"""Pictures of replacements: what they show."""

import numpy as np
import pytest

import boirl
from boirl.domains.bus_engines.pictures import (
    has_replacements,
    rewards_figure,
    save_replacements,
    stories_figure,
)
from boirl.domains.bus_engines.problem import MYOPIC, bus_engine_problem
from boirl.domains.bus_engines.stories import Story, tell_apart
from boirl.drawing import VIEWS
from boirl.lazy import load


@pytest.fixture(scope="module")
def found(problem):
    return boirl.explore(problem, evaluations=3, seed=1000, initial=[[2.5, 8.0], [2.6, 8.2]])


def lines(axes):
    return [line.get_ydata() for line in axes.lines]


def test_pictures_of_a_search_include_replacements(found, tmp_path, gridworld):
    view = VIEWS["replacements"]
    assert load(view.applies) is has_replacements
    assert load(view.save) is save_replacements
    assert save_replacements(found, tmp_path) == [tmp_path / "replacements.png"]
    assert (tmp_path / "replacements.png").stat().st_size > 5000
    assert has_replacements(found.problem)
    assert not has_replacements(gridworld)


def test_the_best_reward_is_drawn_first(found):
    (axes,) = rewards_figure(found).axes
    best = found.policy(found.best_index).probabilities[:, 1]
    np.testing.assert_array_equal(lines(axes)[0], best)


def test_two_stories_are_drawn_with_what_tells_them_apart(problem, records):
    far = Story(problem, np.array([2.3, 10.0]))
    myopic = Story(bus_engine_problem(records, MYOPIC, 200.0), np.array([72.0, 7.7]))
    above, below, _ = stories_figure({"far-sighted": far, "myopic": myopic}).axes
    np.testing.assert_array_equal(lines(above)[0], far.replacement_probabilities)
    np.testing.assert_array_equal(lines(above)[1], myopic.replacement_probabilities)
    np.testing.assert_array_equal(lines(below)[0], tell_apart(far, myopic).by_bin)
    names = [text.get_text() for text in above.get_legend().get_texts()]
    assert names == ["far-sighted", "myopic", "observed"]
