"""Fetch-Reach without learning."""

from typing import Any

import numpy as np
import pytest

from boirl.demonstrations import Demonstrations
from boirl.domains.fetch import environment as fetch
from boirl.domains.fetch.problem import ROUTES, action_model_of, route, until_success
from boirl.domains.fetch.replay_sac import ReplaySAC
from boirl.errors import InvalidInputError
from boirl.policies.actions import CensoredGaussian, SquashedGaussian
from boirl.problem.catalogue import load_problem


def trajectory(distances):
    """The gripper is so far from its goal before the first step and after each."""
    states = np.zeros((len(distances), fetch.OBSERVATION_SIZE))
    states[:, fetch.DESIRED] = 0.5
    states[:, fetch.ACHIEVED] = 0.5
    states[:, 0] += distances
    return states, np.full((len(distances) - 1, fetch.ACTION_SIZE), 0.25)


@pytest.mark.parametrize(
    ("distances", "steps"),
    [
        ((0.2, 0.1, 0.04, 0.01, 0.2), 2),
        ((0.2, 0.04, 0.2, 0.01), 1),
        ((0.2, 0.1, 0.06, 0.051), 3),
        ((0.2, 0.1, 0.049), 2),
        # What counts is where a step ends.
        ((0.01, 0.2, 0.1), 2),
        ((0.01, 0.02, 0.1), 1),
    ],
)
def test_trajectories_end_with_their_first_success(distances, steps):
    given = Demonstrations.from_trajectories([trajectory((0.3, 0.2, 0.01)), trajectory(distances)])
    cut = until_success(given)
    assert cut.lengths.tolist() == [2, steps]
    for found, whole in zip(cut, given, strict=True):
        for part, column in zip(found, whole, strict=True):
            np.testing.assert_array_equal(part, column[: len(part)])
    assert not cut.unknown_ends.any()


def test_the_default_route_learns_from_shared_transitions():
    assert route("replay") == ReplaySAC()
    assert action_model_of("replay") is None


@pytest.mark.parametrize(("name", "algorithm"), [("sac", "SAC"), ("ppo", "PPO")])
def test_the_plain_routes_are_those_of_stable_baselines(name, algorithm):
    pytest.importorskip("stable_baselines3")
    solver: Any = route(name)
    assert solver.algorithm == algorithm
    assert solver.hindsight == (name == "sac")
    assert name in ROUTES


@pytest.mark.parametrize("build", [route, lambda name: load_problem("fetch-reach", solver=name)])
def test_a_route_that_does_not_exist_is_refused(build):
    pytest.importorskip("gymnasium")
    with pytest.raises(InvalidInputError, match="solver is 'trpo'; expected one of replay, sac"):
        build("trpo")


@pytest.mark.parametrize(("name", "kind"), [("sac", SquashedGaussian), ("ppo", CensoredGaussian)])
def test_policies_are_not_judged_by_their_fingers(name, kind):
    model: Any = action_model_of(name)
    assert isinstance(model.model.model, kind)
    assert model.size == 2 * fetch.ACTION_SIZE
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(30, 8))
    actions = rng.uniform(-0.9, 0.9, (30, 4))
    logs = model.log_prob(outputs, actions)
    assert np.isfinite(logs).all()
    for columns in ([3], [3, 7]):
        moved = outputs.copy()
        moved[:, columns] += 1.0
        np.testing.assert_array_equal(model.log_prob(moved, actions), logs)
    still = actions.copy()
    still[:, 3] = 0.0
    np.testing.assert_array_equal(model.log_prob(outputs, still), logs)
    for column in (0, 1, 2):
        other = actions.copy()
        other[:, column] *= 0.5
        assert not np.isclose(model.log_prob(outputs, other), logs).all()
    assert (model.sample(outputs, rng)[:, 3] == 0.0).all()
    assert (model.mode(outputs)[:, 3] == 0.0).all()


class Straight:
    """Heads for the goal."""

    def sample(self, states, rng):
        gap = states[:, fetch.DESIRED] - states[:, fetch.ACHIEVED]
        return np.hstack([np.clip(10.0 * gap, -1.0, 1.0), np.zeros((len(gap), 1))])


def test_the_problem_has_demonstrations_of_its_expert_up_to_their_success(tmp_path, monkeypatch):
    pytest.importorskip("gymnasium_robotics")
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    monkeypatch.setattr(
        "boirl.domains.fetch.problem.FetchTransitions.load", lambda self, report: None
    )
    asked = []

    def best_policy(self, theta, seed, report):
        asked.append((theta, seed))
        return Straight()

    monkeypatch.setattr("boirl.problem.simulated.GymProblem.best_policy", best_policy)
    problem = load_problem("fetch-reach", seed=4, n_demonstrations=3)
    assert asked == [((0.05, -1.0), [4, 11])]
    assert problem.truth == (0.05, -1.0)
    assert problem.solver == ReplaySAC()
    given = problem.demonstrations
    assert len(given) == 3
    distance = fetch.goal_distance(given.next_states)
    ends = np.cumsum(given.lengths) - 1
    assert (np.flatnonzero(distance <= fetch.SUCCESS_DISTANCE) == ends).all()
    again = load_problem("fetch-reach", seed=4, n_demonstrations=3)
    assert len(asked) == 1
    assert again.fingerprint() == problem.fingerprint()
