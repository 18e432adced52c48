import errno
import os

import numpy as np
import pytest

from boirl.errors import StorageError
from boirl.policies.actions import Categorical
from boirl.policies.network import NetworkPolicy
from boirl.policy_store import PolicyStore

THETA = (0.5, -0.25)
PPO = "PPO(steps=100)"
"""A way of learning."""


def policy(seed=0):
    rng = np.random.default_rng(seed)
    return NetworkPolicy((rng.normal(size=(2, 3)),), (rng.normal(size=3),), "tanh", Categorical(3))


def outputs(one):
    return one.outputs(np.eye(2))


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    return PolicyStore(None if request.param == "memory" else tmp_path / "deep" / "policies")


def test_what_was_put_is_what_is_got(store):
    assert store.get(PPO, THETA) is None
    first, second = policy(1), policy(2)
    store.put(PPO, THETA, first, {"nll": [1.0]})
    store.put(PPO, (0.5, 0.25), second, {})
    np.testing.assert_array_equal(outputs(store.get(PPO, THETA)), outputs(first))
    np.testing.assert_array_equal(outputs(store.get(PPO, (0.5, 0.25))), outputs(second))
    assert store.get(PPO, (0.5,)) is None


def test_the_latest_policy_of_a_theta_counts(store):
    store.put(PPO, THETA, policy(1), {})
    store.put(PPO, THETA, policy(2), {})
    np.testing.assert_array_equal(outputs(store.get(PPO, THETA)), outputs(policy(2)))


def test_the_two_zeros_are_one(store):
    store.put(PPO, (0.0, 1.0), policy(1), {})
    assert store.get(PPO, (-0.0, 1.0)) is not None
    store.put(PPO, (-0.0, 1.0), policy(2), {})
    np.testing.assert_array_equal(outputs(store.get(PPO, (0.0, 1.0))), outputs(policy(2)))


@pytest.mark.parametrize("theta", [list(THETA), np.array(THETA), np.array([THETA])])
def test_a_theta_may_come_in_any_shape(store, theta):
    store.put(PPO, THETA, policy(1), {})
    assert store.get(PPO, theta) is not None


def test_thetas_that_differ_in_the_last_digit_are_two(store):
    store.put(PPO, THETA, policy(1), {})
    assert store.get(PPO, (np.nextafter(0.5, 1.0), -0.25)) is None


def test_policies_that_were_learned_in_different_ways_are_kept_apart(store):
    store.put(PPO, THETA, policy(1), {})
    assert store.get("SAC(steps=100)", THETA) is None
    store.put("SAC(steps=100)", THETA, policy(2), {})
    np.testing.assert_array_equal(outputs(store.get(PPO, THETA)), outputs(policy(1)))
    np.testing.assert_array_equal(outputs(store.get("SAC(steps=100)", THETA)), outputs(policy(2)))


def test_a_new_store_finds_what_is_in_the_folder(tmp_path):
    folder = tmp_path / "policies"
    PolicyStore(folder).put(PPO, THETA, policy(1), {"nll": [1.0], "returns": [2.0]})
    found = PolicyStore(folder).get(PPO, THETA)
    np.testing.assert_array_equal(outputs(found), outputs(policy(1)))
    assert found.actions == Categorical(3)


def test_a_folder_is_made_when_it_is_needed(tmp_path):
    store = PolicyStore(tmp_path / "policies")
    assert store.get(PPO, THETA) is None
    assert not store.folder.exists()


def test_memory_is_not_shared():
    PolicyStore().put(PPO, THETA, policy(1), {})
    assert PolicyStore().get(PPO, THETA) is None


def test_a_file_says_what_it_is_of(tmp_path):
    store = PolicyStore(tmp_path)
    store.put(PPO, THETA, policy(1), {"nll": [1.5]})
    (path,) = tmp_path.iterdir()
    with np.load(path) as file:
        assert file["theta"].tolist() == list(THETA)
        assert '"nll": [1.5]' in str(file["facts"])


# numpy does not close a file that begins like a zip and is none.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("damage", ["empty", "short", "nonsense", "other", "bytes", "diverged"])
def test_a_damaged_file_is_named(tmp_path, damage):
    PolicyStore(tmp_path).put(PPO, THETA, policy(1), {})
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    if damage == "other":
        np.savez(path, states=np.zeros(3))
    elif damage == "diverged":
        np.savez(path, **{**policy(1).to_dict(), "bias_0": np.full(3, np.nan)})
    else:
        middle = len(whole) // 3
        flipped = whole[:middle] + bytes(byte ^ 255 for byte in whole[middle : middle + 40])
        path.write_bytes(
            {
                "empty": b"",
                "short": whole[: len(whole) // 2],
                "nonsense": b"not a zip",
                "bytes": flipped + whole[middle + 40 :],
            }[damage]
        )
    with pytest.raises(StorageError, match=r"\[0\.5, -0\.25\] is damaged") as caught:
        PolicyStore(tmp_path).get(PPO, THETA)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    PolicyStore(tmp_path).put(PPO, THETA, policy(2), {})
    np.testing.assert_array_equal(
        outputs(PolicyStore(tmp_path).get(PPO, THETA)), outputs(policy(2))
    )


def test_a_full_disk_is_a_storage_error_and_leaves_the_older_file(tmp_path, monkeypatch):
    PolicyStore(tmp_path).put(PPO, THETA, policy(1), {})

    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(StorageError, match="No space left on device"):
            PolicyStore(tmp_path).put(PPO, THETA, policy(2), {})
    assert len(list(tmp_path.iterdir())) == 1
    np.testing.assert_array_equal(
        outputs(PolicyStore(tmp_path).get(PPO, THETA)), outputs(policy(1))
    )


def test_a_folder_that_is_a_file_is_a_storage_error(tmp_path):
    (tmp_path / "policies").write_text("taken")
    with pytest.raises(StorageError, match="could not be written"):
        PolicyStore(tmp_path / "policies").put(PPO, THETA, policy(1), {})
