"""Minari datasets, as they are and by id."""

import warnings

import numpy as np
import pytest

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError, MissingExtraError

gymnasium = pytest.importorskip("gymnasium")
spaces = gymnasium.spaces


class Episode:
    def __init__(self, observations, actions):
        self.observations, self.actions = observations, actions


class Dataset:
    """What boirl uses of a `minari.MinariDataset`."""

    def __init__(self, observation_space, action_space, episodes):
        self.observation_space, self.action_space = observation_space, action_space
        self.episodes, self.total_episodes = episodes, len(episodes)

    def iterate_episodes(self, indices=None):
        return (
            self.episodes[n] for n in (range(len(self.episodes)) if indices is None else indices)
        )


@pytest.fixture
def table_dataset():
    episodes = [Episode(np.array([3, 4, 5]), np.array([1, 2])), Episode([5, 5], [1])]
    return Dataset(spaces.Discrete(6), spaces.Discrete(3, start=1), episodes)


def test_numbers_count_from_zero_and_ends_are_known(table_dataset):
    read = Demonstrations.from_minari(table_dataset)
    assert read.states.tolist() == [3, 4, 5]
    assert read.actions.tolist() == [0, 1, 0]
    assert read.next_states.tolist() == [4, 5, 5]


def test_some_episodes_are_taken(table_dataset):
    assert Demonstrations.from_minari(table_dataset, [1]).lengths.tolist() == [1]
    with pytest.raises(InvalidInputError, match=r"there is no episode 2.*from 0 to 1"):
        Demonstrations.from_minari(table_dataset, [2])


def test_dictionaries_are_flattened_as_the_simulator_does():
    space = spaces.Dict({"b": spaces.Box(-1, 1, (2,)), "a": spaces.Box(-1, 1, (1,))})
    values = {"b": np.array([[1.0, 2.0], [3.0, 4.0]]), "a": np.array([[5.0], [6.0]])}
    data = Dataset(space, spaces.Box(-1, 1, (1,)), [Episode(values, np.array([[0.5]]))])
    read = Demonstrations.from_minari(data)
    first = {key: value[0] for key, value in values.items()}
    np.testing.assert_array_equal(read.states[0], spaces.flatten(space, first))


def test_other_things_are_refused():
    with pytest.raises(InvalidInputError, match="the dataset is a list; expected the id"):
        Demonstrations.from_minari([1, 2])


def test_a_dataset_on_disk_is_read_by_id(tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    pytest.importorskip("h5py")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        episode = minari.data_collector.EpisodeBuffer(
            id=0,
            observations=[0, 1, 2, 6],
            actions=[2, 2, 1],
            rewards=[0.0, 0.0, 0.0],
            terminations=[False, False, False],
            truncations=[False, False, True],
        )
        minari.create_dataset_from_buffers(
            "lake/mine-v0", [episode], gymnasium.make("FrozenLake-v1", is_slippery=False)
        )
        read = Demonstrations.from_minari("lake/mine-v0")
    assert read.states.tolist() == [0, 1, 2]
    assert read.actions.tolist() == [2, 2, 1]
    assert read.next_states.tolist() == [1, 2, 6]
    with pytest.raises(InvalidInputError, match="minari download lake/other-v0"):
        Demonstrations.from_minari("lake/other-v0")


def test_without_minari_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "minari", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'boirl\[minari\]'"):
        Demonstrations.from_minari("lake/mine-v0")
