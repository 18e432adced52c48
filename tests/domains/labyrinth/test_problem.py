"""The problem of mice: rewards, choices that are none, visits; and the recorded mice."""

import shutil

import numpy as np
import pytest

import boirl
from boirl.domains.labyrinth.made_up import TRUTH
from boirl.domains.labyrinth.problem import labyrinth_problem, labyrinth_reward
from boirl.errors import InvalidInputError
from tests.contracts.problem_contract import ProblemContract


class TestContract(ProblemContract):
    @pytest.fixture(scope="class")
    @classmethod
    def problem(cls, recordings):
        return labyrinth_problem(recordings)


def test_where_nothing_is_paid_all_paths_are_as_likely_as_choices_say(recordings):
    """Without the fixed parameter, the three ways out of an end node would attract."""
    for family in ("five", "six", "map"):
        problem = labyrinth_problem(recordings, gamma=0.9, family=family)
        policy = problem.policy(np.zeros(problem.box.dimension))
        first, second = policy.probabilities[problem.maze.next_states[0, :2]][:, :2].T
        np.testing.assert_allclose(first, second)
        values = policy.values[~problem.maze.decides] - np.log(3.0)
        np.testing.assert_allclose(
            values, 0.9 * policy.values[problem.maze.next_states[~problem.maze.decides, 0]]
        )


def test_rewards_pay_for_what_they_are_named_after(problem):
    maze = problem.maze
    table = problem.reward.table
    node, before, turned = maze.places.T
    np.testing.assert_array_equal(table[:, 0], node == maze.water)
    np.testing.assert_array_equal(table[:, 1], before == -1)
    np.testing.assert_array_equal(table[:, 2], ~maze.decides)
    np.testing.assert_array_equal(table[:, 3], maze.depths[node] / 3)
    five = labyrinth_reward(maze, 0.97, "five").table
    np.testing.assert_array_equal(table[:, 4] + table[:, 5], five[:, 4])
    np.testing.assert_array_equal(five[:, 4], turned)
    assert table[(node == 0) & (turned == 1), 4].all()
    assert problem.reward.box.names == ("water", "home", "end", "depth", "back", "back-deep")


def test_a_map_has_one_weight_per_node(recordings):
    problem = labyrinth_problem(recordings, family="map")
    assert problem.box.dimension == 14 + 2
    with pytest.raises(InvalidInputError, match="family is 'seven'; expected one of six, five"):
        labyrinth_problem(recordings, family="seven")


def test_who_likes_water_goes_there(problem):
    theta = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    without, thirsty = (
        problem.visits_by_node(problem.policy(theta + water * np.eye(6)[0])) for water in (0.0, 3.0)
    )
    water = problem.maze.water
    assert thirsty[water] > 2.0 * without[water]
    assert without.sum() == pytest.approx(1.0)


def test_visits_are_those_of_roll_outs(problem):
    policy = problem.policy(TRUTH)
    rng = np.random.default_rng(1000)
    starts = np.tile(problem.demonstrations.starts, 60)
    shown = problem.roll_out(policy, starts, problem.steps, rng)
    counted = np.bincount(problem.maze.places[shown.next_states, 0], minlength=15)
    np.testing.assert_allclose(problem.visits_by_node(policy), counted / counted.sum(), atol=0.006)


def test_the_problem_is_found_by_name_and_in_the_cache(folder, tmp_path, monkeypatch):
    problem = boirl.load_problem("labyrinth", data=folder, gamma=0.8)
    assert (problem.gamma, len(problem.demonstrations)) == (0.8, 3)
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InvalidInputError, match="boirl data labyrinth --from"):
        boirl.load_problem("labyrinth")
    shutil.copytree(folder, tmp_path / "cache" / "labyrinth", ignore=lambda *_: ["cache"])
    assert boirl.load_problem("labyrinth", gamma=0.8).fingerprint() == problem.fingerprint()


def test_the_command_brings_the_recordings_to_the_cache(recorded, command, tmp_path, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path / "cache"))
    code, out, _ = command("data", "labyrinth", "--from", recorded)
    assert (code, out) == (0, f"labyrinth is in {tmp_path / 'cache' / 'labyrinth'}\n")
    problem = boirl.load_problem("labyrinth")
    assert len(problem.demonstrations) == 238
    assert problem.maze.water == 116
    # The first step of a stretch tells where the animal comes from.
    assert problem.demonstrations.lengths.tolist() == [499] * 238
