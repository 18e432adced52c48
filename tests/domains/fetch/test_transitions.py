"""The transitions that every reward in Fetch-Reach learns from."""

import numpy as np
import pytest
import torch

from boirl.domains.fetch import environment as fetch
from boirl.domains.fetch.transitions import (
    EPISODE,
    FetchTransitions,
    GoalTransitions,
    collect_transitions,
)
from boirl.errors import InvalidInputError, StorageError
from boirl.rewards import Transitions

pytest.importorskip("gymnasium_robotics", reason="Fetch-Reach needs the extra boirl[rl]")

COUNT = 205
"""No multiple of an episode's length, so that the last one is cut short."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def collected(cache, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(cache))
    return collect_transitions(COUNT, seed=3)


def test_transitions_are_coherent(collected):
    inside = np.arange(COUNT) != collected.ends
    inner = np.flatnonzero(inside)
    np.testing.assert_array_equal(collected.next_states[inner], collected.states[inner + 1])
    starts = np.arange(0, COUNT, EPISODE)
    np.testing.assert_allclose(
        collected.states[starts, fetch.ACHIEVED], np.tile(fetch.START, (len(starts), 1)), atol=1e-6
    )
    assert collected.ends[-1] == COUNT - 1
    assert (np.abs(collected.actions) <= 1.0).all()
    # Random walks of uniform actions stay within 3 cm; goals are up to 15 cm away.
    assert (np.ptp(collected.next_states[:, fetch.ACHIEVED], axis=0) > 0.15).all()


def test_transitions_follow_from_their_seed(collected, tmp_path, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    reported = []
    again = collect_transitions(COUNT, 3, lambda share, message: reported.append((share, message)))
    np.testing.assert_array_equal(again.next_states, collected.next_states)
    assert not np.array_equal(collect_transitions(20, 4).states, collected.states[:20])
    assert reported[0] == (0.0, f"0 of {COUNT} transitions collected")


def test_transitions_are_kept(collected, monkeypatch):
    def fail():
        raise AssertionError("the environment was made though the transitions are there")

    monkeypatch.setattr("boirl.domains.fetch.transitions.make_fetch_reach", fail)
    kept = FetchTransitions(COUNT, 3).load()
    np.testing.assert_array_equal(kept.actions, collected.actions)


def test_a_damaged_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    collect_transitions(3)
    (path,) = (tmp_path / "fetch-reach").iterdir()
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(StorageError, match=path.name):
        collect_transitions(3)
    np.savez(path, states=np.zeros((3, 16)))
    with pytest.raises(StorageError, match=r"expected finite ones.*fetch-reach"):
        collect_transitions(3)


def test_no_transitions_are_refused():
    with pytest.raises(InvalidInputError, match="expected one or more"):
        collect_transitions(0)


@pytest.mark.parametrize("hindsight", [0.0, 0.5, 1.0])
def test_relabelling_changes_goals_and_nothing_else(hindsight):
    # Episodes of five steps, each far from the others; column 9 numbers the transitions.
    rng = np.random.default_rng(0)
    count, episodes = 40, np.arange(40) // 5
    shared = GoalTransitions(
        rng.normal(size=(count, 16)),
        rng.normal(size=(count, 4)),
        rng.normal(size=(count, 16)),
        episodes * 5 + 4,
    )
    shared.states[:, 9] = np.arange(count)
    shared.next_states[:, fetch.ACHIEVED] = 10.0 * np.arange(1, count + 1)[:, None]
    states, actions, ends = shared.draw(2_000, hindsight, rng)
    rows = states[:, 9].astype(int)
    rest = np.r_[fetch.ACHIEVED, fetch.OBSERVATION]
    goals = ends[:, fetch.DESIRED]
    np.testing.assert_array_equal(states[:, fetch.DESIRED], goals)
    np.testing.assert_array_equal(states[:, rest], shared.states[rows][:, rest])
    np.testing.assert_array_equal(ends[:, rest], shared.next_states[rows][:, rest])
    np.testing.assert_array_equal(actions, shared.actions[rows])
    drawn = np.abs(goals - fetch.START).max(axis=1) <= fetch.GOAL_RANGE
    assert drawn.mean() == pytest.approx(1.0 - hindsight, abs=0.05)
    near = np.round(goals[~drawn, 0] / 10.0).astype(int) - 1
    assert ((rows[~drawn] <= near) & (near <= shared.ends[rows[~drawn]])).all()
    assert hindsight == 0.0 or (near > rows[~drawn]).any()


def test_relabelling_leaves_the_shared_transitions_alone(collected):
    before = collected.states.copy()
    collected.draw(100, 0.5, np.random.default_rng(0))
    np.testing.assert_array_equal(collected.states, before)


def test_a_threshold_of_zero_is_never_rewarded(collected):
    _, _, ends = collected.draw(2_000, 1.0, np.random.default_rng(0))
    theta = torch.tensor([0.0, -1.0], dtype=torch.float64)
    paid = fetch.FetchReachReward()(theta, Transitions(ends, None, ends))
    assert (paid == -1.0).all()


def test_transitions_of_one_step_have_themselves_in_hindsight():
    one = GoalTransitions(np.ones((1, 16)), np.zeros((1, 4)), np.ones((1, 16)), np.zeros(1, int))
    _, _, ends = one.draw(50, 1.0, np.random.default_rng(0))
    assert np.abs(ends[:, fetch.DESIRED] - 1.0).max() < 0.05
