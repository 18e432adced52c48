"""Files that were damaged, at random or on purpose, are refused by errors of boirl alone."""

import io
import json
from typing import Any

import numpy as np
import pytest

import boirl
from boirl import baselines
from boirl.baselines.checkpoints import HEADER, load_checkpoint
from boirl.errors import BoirlError
from boirl.files import read_arrays
from boirl.types import Box

SEED = 3001
MUTATIONS = 60
VALUES: list[Any] = [None, -1, 0, 2**70, 1e308, float("nan"), "", "x", [], {}, [1], True]

pytestmark = pytest.mark.filterwarnings("ignore")
"""What NumPy warns about in damaged files is of no interest."""


def pick(rng, values):
    return values[rng.integers(len(values))]


def mutated_facts(rng, value):
    """JSON in which one value was removed or replaced, anywhere in the tree."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key, copy = pick(rng, list(value)), dict(value)
        if rng.random() < 0.15:
            del copy[key]
        else:
            copy[key] = mutated_facts(rng, copy[key])
        return copy
    if isinstance(value, list) and value and rng.random() < 0.7:
        place, items = rng.integers(len(value)), list(value)
        items[place] = mutated_facts(rng, items[place])
        return items
    return pick(rng, VALUES)


def mutated_array(rng, array):
    """Another shape, type or value."""
    if array.dtype.kind == "U" and array.ndim == 0:
        return np.array(json.dumps(mutated_facts(rng, json.loads(str(array)))))
    changed = array.copy().reshape(-1)
    if changed.size and changed.dtype.kind in "iuf":
        changed[rng.integers(changed.size)] = pick(rng, (10**6, -1, 2))
    choices = [
        lambda: array[..., None],
        lambda: array.reshape(-1),
        lambda: array[: len(array) // 2] if array.ndim else array[None],
        lambda: np.full(array.shape, -7),
        lambda: np.full(array.shape, np.nan),
        lambda: array.astype("U8"),
        lambda: array.astype(complex) if array.dtype.kind in "biuf" else array[None],
        lambda: np.empty((0, *array.shape[1:])),
        lambda: changed.reshape(array.shape),
    ]
    return pick(rng, choices)()


def mutated_bytes(rng, content):
    """A few other bytes, or an end that is missing."""
    changed = bytearray(content)
    for place in rng.integers(len(content), size=rng.integers(1, 6)):
        changed[place] = rng.integers(256)
    return bytes(changed[: rng.integers(len(changed))] if rng.random() < 0.2 else changed)


def mutations(path, facts):
    """Contents of damaged copies of an `.npz` file, whose array `facts` is JSON."""
    rng = np.random.default_rng(SEED)
    arrays, content = read_arrays(path, "anything"), path.read_bytes()
    for _ in range(MUTATIONS):
        if rng.random() < 0.3:
            yield mutated_bytes(rng, content)
            continue
        copy = dict(arrays)
        name = facts if facts in copy and rng.random() < 0.4 else pick(rng, list(copy))
        if rng.random() < 0.1:
            del copy[name]
        else:
            copy[name] = mutated_array(rng, copy[name])
        buffer = io.BytesIO()
        np.savez(buffer, **copy)
        yield buffer.getvalue()


def refused(path, facts, load):
    """How many damaged copies of a file are refused; nothing but a `BoirlError` may be raised."""
    messages = []
    for content in list(mutations(path, facts)):
        path.write_bytes(content)
        try:
            load(path)
        except BoirlError as error:
            messages.append(str(error))
    assert not any("\n" in message for message in messages)
    return len(messages)


def test_demonstrations(gridworld, tmp_path):
    gridworld.demonstrations.save(tmp_path / "kept.npz")
    assert refused(tmp_path / "kept.npz", None, boirl.Demonstrations.load) > MUTATIONS // 2


def test_results_of_searches(gridworld, tmp_path):
    boirl.explore(gridworld, evaluations=4, seed=SEED).save(tmp_path / "kept.npz")
    assert refused(tmp_path / "kept.npz", "facts", boirl.load_result) > MUTATIONS // 2


def test_results_of_baselines(gridworld, tmp_path):
    baselines.get("maxent").run(gridworld, 4, seed=SEED).save(tmp_path / "kept.npz")
    assert refused(tmp_path / "kept.npz", "facts", boirl.load_result) > MUTATIONS // 2


def test_verified_answers(tmp_path):
    box = Box(("first", "second"), np.zeros(2), np.ones(2))
    thetas, weights = np.full((9, 2), 0.5), np.full(9, 1 / 9)
    answer = boirl.VerifiedRewards("corridor", box, 3, 1.0, thetas, np.ones(9), weights, 9.0, 0.1)
    answer.save(tmp_path / "kept.npz")
    assert refused(tmp_path / "kept.npz", "verified", boirl.VerifiedRewards.load) > MUTATIONS // 5


@pytest.mark.parametrize("name", ["random", "tpe", "maxent", "birl", "deep-maxent", "airl"])
def test_checkpoints(name, gridworld, tmp_path):
    method, path = baselines.get(name), tmp_path / "kept.run"
    method.run(gridworld, 3, seed=SEED, checkpoint=path)
    key = json.loads(str(read_arrays(path, "a run")[HEADER]))["key"]
    assert refused(path, HEADER, lambda kept: load_checkpoint(kept, key, gridworld, method.unpack))
