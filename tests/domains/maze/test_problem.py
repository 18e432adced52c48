"""The problem in the maze, with small budgets."""

import json
import shutil
from typing import Any

import numpy as np
import pytest

from boirl.domains.maze import simulator as maze
from boirl.domains.maze.problem import WARM_STARTS
from boirl.errors import InvalidInputError, StorageError
from boirl.policies.ppo import VectorPPO
from boirl.problem.catalogue import PROBLEMS, load_problem

SMALL: dict[str, Any] = {"steps": 3_000, "n_demonstrations": 5, "repeats": 1, "workers": 0}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def problem(cache, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(cache))
    return load_problem("point-mass-maze", **SMALL)


@pytest.fixture
def runs(monkeypatch):
    """The training runs that began since."""
    begun = []
    original = VectorPPO.solve_all

    def spy(self, task, runs, *rest):
        begun.extend(runs)
        return original(self, task, runs, *rest)

    monkeypatch.setattr(VectorPPO, "solve_all", spy)
    return begun


def test_the_small_version_of_the_problem(problem):
    assert problem.name == "point-mass-maze"
    assert problem.truth == (0.3, 0.5)
    assert problem.gamma == 0.9
    assert problem.keep == "best"
    assert problem.demonstrations.lengths.tolist() == [100] * 5
    assert problem.demonstrations.start_states.shape == (5, 4)
    assert problem.solver == VectorPPO(steps=3_000)
    assert len(problem.anchors) == WARM_STARTS
    np.testing.assert_array_equal(problem.box.low, [-1.0, -1.0])
    np.testing.assert_array_equal(problem.box.high, [1.0, 1.0])


def test_the_demonstrations_are_possible_in_the_maze(problem):
    given = problem.demonstrations
    simulator, states = maze.PointMassMaze(), given.start_states
    for step in range(5):
        states = simulator.step(states, given.actions[step::100])
        np.testing.assert_allclose(states[:, :2], given.next_states[step::100], atol=1e-12)


def test_a_second_load_does_not_train(problem, runs):
    again = load_problem("point-mass-maze", **SMALL)
    assert runs == []
    assert again.fingerprint() == problem.fingerprint()
    np.testing.assert_array_equal(again.demonstrations.states, problem.demonstrations.states)
    np.testing.assert_array_equal(again.anchors[0].weights[0], problem.anchors[0].weights[0])


def test_it_is_the_same_wherever_it_was_made(problem, runs, tmp_path, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    reported = []
    again = load_problem("point-mass-maze", lambda share, message: reported.append(share), **SMALL)
    # One run for the anchor, two for the expert.
    assert len(runs) == 1 + 1 + WARM_STARTS
    assert reported[-1] == 1.0
    assert again.fingerprint() == problem.fingerprint()


def test_an_evaluation(problem, runs):
    found = problem.evaluate((0.2, 0.0), seed=1)
    assert found.ok
    assert np.isfinite(found.nll)
    # A run that starts from nothing and those that start from the anchor.
    assert [run.warm_start is None for run in runs] == [True] + [False] * WARM_STARTS
    assert all(run.warm_start is problem.anchors[0] for run in runs[1:])
    kept = problem.policy_of(found)
    assert np.isfinite(
        kept.log_prob(problem.demonstrations.states, problem.demonstrations.actions)
    ).all()
    assert len(runs) == found.n_policies == 1 + WARM_STARTS
    assert found.environment_steps == found.n_policies * problem.env_steps_per_policy


def test_a_recipe_makes_the_problem_again(problem, runs):
    recipe = json.loads(json.dumps(dict(problem.recipe)))
    assert recipe == {"name": "point-mass-maze", **SMALL}
    again = load_problem(**recipe)
    assert again.fingerprint() == problem.fingerprint()
    assert runs == []


def test_numbers_of_numpy_make_the_same_problem(problem, cache, tmp_path, monkeypatch):
    def refuse(*given):
        raise AssertionError("this trains")

    shutil.copytree(cache, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    monkeypatch.setattr(VectorPPO, "solve_all", refuse)
    options: dict[str, Any] = {name: np.int64(value) for name, value in SMALL.items()}
    again = load_problem("point-mass-maze", **options)
    assert dict(again.recipe) == dict(problem.recipe)
    assert again.fingerprint() == problem.fingerprint()


# numpy does not close a file that begins like a zip and is none.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut short"])
def test_a_corrupt_file_of_the_cache_is_named(problem, cache, tmp_path, monkeypatch, content):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    kept = sorted((cache / "point-mass-maze").iterdir())
    assert len(kept) == 2
    for damaged in kept:
        folder = tmp_path / "point-mass-maze"
        folder.mkdir(exist_ok=True)
        for path in kept:
            (folder / path.name).write_bytes(content if path == damaged else path.read_bytes())
        with pytest.raises(StorageError, match="remove it, and it is made again") as caught:
            load_problem("point-mass-maze", **SMALL)
        assert str(folder / damaged.name) in str(caught.value)


def test_unknown_options_are_refused():
    with pytest.raises(InvalidInputError, match=r"no option step; expected some of seed.*steps"):
        load_problem("point-mass-maze", step=3)


def test_it_is_listed():
    assert "2 parameters" in PROBLEMS["point-mass-maze"].summary
