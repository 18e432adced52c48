"""Runs of baselines in files: what cannot be kept or read is said, with what to do about it."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from boirl import baselines
from boirl.baselines.checkpoints import FORMAT, HEADER, Checkpoint, load_checkpoint, save_checkpoint
from boirl.errors import InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.files import read_arrays, write_arrays
from boirl.rewards import CallableReward

WEIGHTS = {"first": (-2.0, 2.0), "second": (-2.0, 2.0)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kept.run"


@pytest.fixture
def random():
    return baselines.get("random")


def top_level(theta, transitions):
    """A reward that is no class."""
    states = torch.as_tensor(transitions.states)
    return theta[:, :1] * (states % 2) + theta[:, 1:] * (states == 2)


def test_what_is_saved_is_loaded(gridworld, path):
    evaluations = [Evaluation((1.0, 2.0), 3.0, facts={"start": 1})]
    save_checkpoint(path, "a run", Checkpoint({"numbers": np.arange(3)}, evaluations))
    state, found = load_checkpoint(path, "a run", gridworld)
    np.testing.assert_array_equal(state["numbers"], np.arange(3))
    assert [(one.theta, one.nll, one.facts) for one in found] == [((1.0, 2.0), 3.0, {"start": 1})]


def test_a_state_that_is_not_plain_is_refused_before_any_work(gridworld, path, monkeypatch):
    method = baselines.get("random")
    monkeypatch.setattr(type(method), "begin", lambda *arguments: object())
    monkeypatch.setattr(type(method), "advance", None)
    with pytest.raises(
        StorageError, match=r"cannot be kept in .*kept.run.*holds a object.*pack and unpack"
    ) as refused:
        method.run(gridworld, 2, checkpoint=path)
    assert "\n" not in str(refused.value)
    assert not path.exists()


@pytest.mark.parametrize("name", ["gcl", "airl", "deep-maxent"])
@pytest.mark.parametrize("reward", ["theta", "network"])
def test_learned_rewards_resume_with_any_function(name, reward, random_problem, path):
    family = CallableReward(lambda theta, transitions: top_level(theta, transitions), WEIGHTS)
    problem = random_problem(0, reward=family)
    method = baselines.get(name, reward=reward)
    method.run(problem, 2, checkpoint=path)
    resumed = method.run(problem, 4, checkpoint=path)
    np.testing.assert_array_equal(resumed.nll, method.run(problem, 4).nll)


@pytest.mark.parametrize("name", ["random", "tpe", "maxent", "birl"])
def test_methods_that_do_not_keep_the_reward_take_any(name, random_problem, path):
    family = CallableReward(lambda theta, transitions: top_level(theta, transitions), WEIGHTS)
    problem = random_problem(0, reward=family)
    baselines.get(name).run(problem, 2, checkpoint=path)
    assert len(baselines.get(name).run(problem, 3, checkpoint=path)) == 3


class Malicious:
    """Creates a file when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return Path.touch, (self.target,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_never_opened(protocol, gridworld, random, path, tmp_path):
    target = tmp_path / "executed"
    harmful = pickle.dumps({"format": 2, "state": Malicious(target)}, protocol)
    path.write_bytes(harmful)
    with pytest.raises(
        StorageError, match=r"kept\.run.*(delete|remove) it to begin again"
    ) as refused:
        random.run(gridworld, 2, checkpoint=path)
    assert "\n" not in str(refused.value)
    assert not target.exists()
    assert path.read_bytes() == harmful
    pickle.loads(harmful)
    assert target.exists(), "the file does harm to those who open it"


def test_pickles_inside_archives_are_never_opened(gridworld, random, path, tmp_path):
    target = tmp_path / "executed"
    with path.open("wb") as file:
        np.savez(file, checkpoint=np.array([Malicious(target)], dtype=object), allow_pickle=True)
    with pytest.raises(StorageError, match="remove it to begin again"):
        random.run(gridworld, 2, checkpoint=path)
    assert not target.exists()


def test_pickles_of_older_versions_are_named_as_such(gridworld, random, path):
    path.write_bytes(pickle.dumps({"format": 2, "key": "", "state": None, "evaluations": []}))
    with pytest.raises(StorageError, match=r"is a pickle.*expected an \.npz.*delete it"):
        random.run(gridworld, 2, checkpoint=path)


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
    for content in (b"[1, 2, 3]", b"PK\x03\x04", b"\x93NUMPY"):
        path.write_bytes(content)
        with pytest.raises(StorageError, match="cannot be read as a run of a baseline"):
            random.run(gridworld, 2, checkpoint=path)
    random.run(gridworld, 2).save(tmp_path / "result.npz")
    with pytest.raises(StorageError, match="cannot be read as a run of a baseline"):
        random.run(gridworld, 2, checkpoint=tmp_path / "result.npz")


@pytest.mark.parametrize("name", baselines.BASELINES)
@pytest.mark.parametrize("state", [{}, 5, {"mapping": {}}, {"generator": {"mapping": {}}}])
def test_states_of_something_else_are_refused(name, state, gridworld, path):
    small = {"subspaces": {"dimension": 2, "round_size": 2}, "cr-irl": {"scale_policies": 1}}
    method = baselines.get(name, **small.get(name, {}))
    method.run(gridworld, 1, checkpoint=path)
    arrays = read_arrays(path, "a run")
    header = json.loads(str(arrays[HEADER]))
    arrays[HEADER] = np.array(json.dumps({**header, "state": state}))
    write_arrays(path, arrays)
    with pytest.raises(StorageError, match="cannot be read as a run of a baseline"):
        method.run(gridworld, 2, checkpoint=path)


def test_files_of_another_format_are_refused(gridworld, path):
    header = {"format": FORMAT + 1, "key": "a run", "state": None, "evaluations": []}
    write_arrays(path, {HEADER: np.array(json.dumps(header))})
    with pytest.raises(StorageError, match="written by another version of boirl"):
        load_checkpoint(path, "a run", gridworld)
