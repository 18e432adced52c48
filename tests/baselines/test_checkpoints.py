"""Runs of baselines in files: what cannot be kept or read is said, with what to do about it."""

import pickle

import numpy as np
import pytest
import torch

from boirl import baselines
from boirl.baselines.checkpoints import FORMAT, Checkpoint, load_checkpoint, save_checkpoint
from boirl.errors import InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.rewards import CallableReward

WEIGHTS = {"first": (-2.0, 2.0), "second": (-2.0, 2.0)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kept.run"


@pytest.fixture
def random():
    return baselines.get("random")


def top_level(theta, transitions):
    """A reward that can be found again by its name."""
    states = torch.as_tensor(transitions.states)
    return theta[:, :1] * (states % 2) + theta[:, 1:] * (states == 2)


def test_what_is_saved_is_loaded(path):
    evaluations = [Evaluation((1.0, 2.0), 3.0, facts={"start": 1})]
    save_checkpoint(path, "a run", Checkpoint({"numbers": np.arange(3)}, evaluations))
    state, found = load_checkpoint(path, "a run")
    np.testing.assert_array_equal(state["numbers"], np.arange(3))
    assert [(one.theta, one.nll, one.facts) for one in found] == [((1.0, 2.0), 3.0, {"start": 1})]


@pytest.mark.parametrize("name", ["gcl", "airl", "deep-maxent"])
def test_a_reward_without_a_name_is_refused_before_any_work(
    name, random_problem, path, monkeypatch
):
    family = CallableReward(lambda theta, transitions: top_level(theta, transitions), WEIGHTS)
    problem = random_problem(0, reward=family)
    method = baselines.get(name, reward="theta")
    assert len(method.run(problem, 2)) == 2

    def refuse(*arguments, **options):
        raise AssertionError("work was done")

    monkeypatch.setattr(type(method), "advance", refuse)
    with pytest.raises(
        StorageError, match=r"cannot be kept in .*kept.run.*top level of a module.*without a check"
    ) as refused:
        method.run(problem, 2, checkpoint=path)
    assert "\n" not in str(refused.value)
    assert not path.exists()


@pytest.mark.parametrize("name", ["gcl", "airl"])
def test_a_function_of_a_module_can_be_kept(name, random_problem, path):
    problem = random_problem(0, reward=CallableReward(top_level, WEIGHTS))
    method = baselines.get(name, reward="theta")
    method.run(problem, 2, checkpoint=path)
    resumed = method.run(problem, 4, checkpoint=path)
    np.testing.assert_array_equal(resumed.nll, method.run(problem, 4).nll)


@pytest.mark.parametrize("name", ["random", "tpe", "maxent", "birl"])
def test_methods_that_do_not_keep_the_reward_take_any(name, random_problem, path):
    family = CallableReward(lambda theta, transitions: top_level(theta, transitions), WEIGHTS)
    problem = random_problem(0, reward=family)
    baselines.get(name).run(problem, 2, checkpoint=path)
    assert len(baselines.get(name).run(problem, 3, checkpoint=path)) == 3


def test_a_full_disk_is_reported_and_the_older_checkpoint_stays(
    gridworld, random, path, monkeypatch
):
    random.run(gridworld, 2, 0, checkpoint=path)
    before = path.read_bytes()

    def no_space(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", no_space)
    with pytest.raises(StorageError, match="No space left"):
        random.run(gridworld, 4, 0, checkpoint=path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_folder_that_cannot_be_written_is_found_out_before_any_work(
    gridworld, random, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(type(random), "advance", None)
    with pytest.raises(StorageError, match="could not be written"):
        random.run(gridworld, 2, 0, checkpoint=tmp_path / "file" / "kept.run")


@pytest.mark.parametrize(
    ("name", "settings", "seed", "message"),
    [
        ("random", {}, 1, r"seed 0.*expected .*seed 1"),
        ("tpe", {}, 0, r"RandomSearch\(\).*expected TPE\(\)"),
        ("maxent", {"steps": 3}, 0, r"RandomSearch\(\).*expected MaxEnt\(steps=3"),
    ],
)
def test_files_of_other_runs_are_refused(gridworld, random, path, name, settings, seed, message):
    random.run(gridworld, 2, seed=0, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(InvalidInputError, match=f"keeps another run .*{message}.*choose another"):
        baselines.get(name, **settings).run(gridworld, 2, seed=seed, checkpoint=path)
    assert path.read_bytes() == before


def test_files_of_other_problems_are_refused(gridworld, random, path):
    random.run(gridworld, 2, checkpoint=path)
    fewer = gridworld.with_demonstrations(gridworld.demonstrations.subset(range(5)))
    with pytest.raises(InvalidInputError, match=gridworld.fingerprint()):
        random.run(fewer, 2, checkpoint=path)


def test_damaged_files_are_refused(gridworld, random, path):
    random.run(gridworld, 2, checkpoint=path)
    whole = path.read_bytes()
    for damaged in (b"", whole[:50], whole[:-9], b"evaluation,nll\n0,1.0\n"):
        path.write_bytes(damaged)
        with pytest.raises(StorageError, match=r"kept.run.*damaged or something else: remove it"):
            random.run(gridworld, 2, checkpoint=path)
        assert path.read_bytes() == damaged


def test_files_with_something_else_are_refused(gridworld, random, path, tmp_path):
    for content in ([1, 2, 3], {"key": "a run"}, None):
        path.write_bytes(pickle.dumps(content))
        with pytest.raises(StorageError, match="cannot be read as a run of a baseline"):
            random.run(gridworld, 2, checkpoint=path)
    random.run(gridworld, 2).save(tmp_path / "result.npz")
    with pytest.raises(StorageError, match="cannot be read as a run of a baseline"):
        random.run(gridworld, 2, checkpoint=tmp_path / "result.npz")


def test_files_of_another_format_are_refused(path):
    content = {"format": FORMAT + 1, "key": "a run", "state": None, "evaluations": []}
    path.write_bytes(pickle.dumps(content))
    with pytest.raises(StorageError, match="written by another version of boirl"):
        load_checkpoint(path, "a run")
