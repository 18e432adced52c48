"""Grids are recognised by their steps, and nothing else is taken for one."""

import numpy as np
import pytest

import boirl
from boirl.environments import TabularMDP
from boirl.environments.grids import grid_of
from boirl.report.grid_scene import GridScene, has_grid
from tests.environments.test_grids import MOVES, grid


def problem_of(mdp):
    features = np.eye(mdp.n_states)[:, :1]
    return boirl.TabularProblem(mdp, boirl.LinearReward(features, {"first": (0, 1)}))


def names_of(mdp):
    return [f"corner {state}" for state in range(mdp.n_states)]


@pytest.mark.parametrize(("columns", "rows"), [(4, 1), (1, 4), (2, 2), (4, 3)])
def test_states_with_names_are_on_a_grid_where_actions_have_directions(columns, rows):
    mdp = grid(columns, rows)
    problem = problem_of(mdp.with_names(states=names_of(mdp)))
    assert has_grid(problem)
    assert GridScene(problem).still()["names"] == names_of(mdp)


def test_states_with_names_are_no_grid_where_actions_have_no_directions():
    mdp = grid(4, 3)
    # The same neighbours, but which action leads to which differs from state to state.
    shuffled = np.random.default_rng(0).permuted(mdp.next_states, axis=1)
    mdp = TabularMDP.from_next_states(shuffled, 0.9)
    assert has_grid(problem_of(mdp))
    assert not has_grid(problem_of(mdp.with_names(states=names_of(mdp))))


def test_states_with_names_are_on_a_grid_where_steps_slip_aside():
    mdp = TabularMDP.from_probabilities(slipping_grid(4, 4), 0.9)
    assert has_grid(problem_of(mdp.with_names(states=names_of(mdp))))


def test_the_grid_of_the_paper_has_a_sink_beside_it():
    problem = boirl.load_problem("gridworld2d")
    assert has_grid(problem)
    assert grid_of(problem.mdp) == (36, 6)
    scene = GridScene(problem)
    assert scene.action_names == ("right", "down", "left", "up", "stay")
    assert scene.state_name(8) == "row 2, column 3"
    assert scene.state_name(36) == "state 36"


def test_arrows_point_where_actions_lead(street):
    scene = GridScene(street)
    still = scene.still()
    assert still["bounds"] == [-0.5, -0.5, 6.5, 0.5]
    assert still["moves"][3] == [-1, 0, 1, 0]
    assert still["moves"][0] == [0, 0, 1, 0], "the wall stops it"
    assert [scene.action_name(0, action) for action in (0, 1)] == ["left", "right"]


def slipping_grid(columns, rows):
    """Each action leads its way, or aside, with the same probability."""
    straight = grid(columns, rows)
    tables = [np.roll(straight.next_states, shift, axis=1) for shift in (-1, 0, 1)]
    return sum(np.eye(columns * rows)[table] for table in tables) / 3.0


def test_arrows_of_actions_that_slip_point_the_usual_way_beside_walls():
    scene = GridScene(problem_of(TabularMDP.from_probabilities(slipping_grid(4, 4), 0.9)))
    assert scene.action_names == ("right", "down", "left", "up")
    assert (scene.moves == np.array(MOVES)).all()


def test_frames_hold_the_squares_that_are_visited(street):
    scene = GridScene(street)
    frame = scene.frame(street.policy(street.box.high), street.box.high)
    assert len(frame["choices"]) == 2 * len(frame["at"])
    assert sum(frame["visits"]) == pytest.approx(1.0, abs=0.02)
    shown = scene.demonstrated()
    assert dict(zip(shown["at"], shown["visits"], strict=True))[5] == pytest.approx(
        3 / 13, abs=1e-3
    )
