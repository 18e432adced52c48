"""Pictures of questions."""

from dataclasses import replace

import numpy as np

import boirl
from boirl.decisions.behaviours import Behaviour
from boirl.decisions.questions import StartQuestion
from boirl.drawing.questions import LABELLED, _label, questions_figure, state_places
from boirl.experiments.ambiguous import open_grid


def question(path):
    one = Behaviour(0.6, np.array([0]), np.zeros(1), np.array(path), "goes on")
    other = Behaviour(0.4, np.array([1]), np.zeros(1), np.array(path[:1]), "stays")
    return StartQuestion(path[0], f"state {path[0]}", 0.5, 0.5, (one, other))


def test_a_grid_looks_like_a_grid(gridworld):
    places = state_places(gridworld)
    np.testing.assert_array_equal(places[:36, 0], np.arange(36) % 6)
    np.testing.assert_array_equal(places[:36, 1], -(np.arange(36) // 6))
    assert np.isnan(places[36]).all(), "the sink is beside the grid"
    assert open_grid(3, {4: "goal"}, 0.9).n_states == 10


def test_a_way_that_is_nowhere_leaves_its_panel_empty(gridworld):
    figure = questions_figure(gridworld, [question([36, 36])])
    figure.canvas.draw()
    assert figure.axes[0].get_legend_handles_labels()[1] == ["60%: goes on", "40%: stays"]


def test_titles_and_legends_are_inside_the_picture(gridworld):
    for count in (1, 3):
        figure = questions_figure(gridworld, [question([0, 1, 7])] * count)
        figure.canvas.draw()
        whole = figure.bbox
        for axes in figure.axes:
            legend = axes.get_legend().get_window_extent()
            title = axes.title.get_window_extent()
            assert whole.ymin <= legend.ymin < legend.ymax < axes.bbox.ymin
            assert axes.bbox.ymax < title.ymin < title.ymax <= whole.ymax


def test_a_panel_for_each_question(gridworld):
    figure = questions_figure(gridworld, [question([0, 1, 2]), question([6, 7])])
    assert len(figure.axes) == 2
    assert figure.axes[0].get_title() == "from state 0 (0.50 nats)"
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert labels == ["60%: goes on", "40%: stays"]


def test_roads_are_drawn_on_their_map():
    town = boirl.load_problem("road-network", n_links=40, n_demonstrations=2)
    assert state_places(town).shape == (town.mdp.n_states, 2)
    figure = questions_figure(town, [question([0, 1])])
    assert len(figure.axes[0].collections) == 1


def test_few_states_are_named(random_problem):
    problem = random_problem(1000)
    names = [f"place {n}" for n in range(problem.mdp.n_states)]
    named = replace(problem, mdp=problem.mdp.with_names(names))
    written = [
        text.get_text() for text in questions_figure(named, [question([0, 1])]).axes[0].texts
    ]
    assert written == names
    figure = questions_figure(named, [question([0, 1])])
    figure.canvas.draw()
    panel = figure.axes[0].bbox
    for text in figure.axes[0].texts:
        place = text.get_window_extent()
        assert panel.xmin <= place.xmin < place.xmax <= panel.xmax
    assert not questions_figure(problem, [question([0, 1])]).axes[0].texts


def test_named_states_are_apart():
    """Everything is one step from everything, which no plane can show."""
    everywhere = np.full((6, 1, 6), 1.0 / 6)
    mdp = boirl.TabularMDP.from_probabilities(everywhere, 0.9).with_names(list("abcdef"))
    reward = boirl.LinearReward(np.eye(6)[:, :1], {"first": (0.0, 1.0)})
    places = state_places(boirl.TabularProblem(mdp, reward, name="everywhere"))
    gaps = np.linalg.norm(places[:, None] - places, axis=2)[np.triu_indices(6, 1)]
    assert gaps.min() > 0.9


def test_a_label_ends_with_a_word():
    words = _label("60%: " + " → ".join(["parched"] * 20))
    assert len(words) <= LABELLED
    assert words.endswith("→ ...") or words.endswith("parched ...")
