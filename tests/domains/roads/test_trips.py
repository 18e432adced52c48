"""Trips with travellers and weights, and what they are as demonstrations."""

import numpy as np
import pytest

import boirl
from boirl.demonstrations import Demonstrations
from boirl.domains.roads.trips import (
    TripDemonstrations,
    Trips,
    relative_weights,
    without_padding,
)
from boirl.errors import InvalidInputError

PLAIN = Demonstrations.from_trajectories([([0, 1], [0]), ([1, 2, 3], [1, 0]), ([3, 0], [1])])


def test_a_subset_keeps_its_travellers_and_weights():
    trips = TripDemonstrations.of(PLAIN, np.array([7, 8, 7]), np.array([1.0, 2.0, 3.0]))
    assert repr(trips) == repr(PLAIN)
    for chosen in ([2, 1], np.array([False, True, True])):
        fewer = trips.subset(chosen)
        order = np.arange(3)[chosen]
        np.testing.assert_array_equal(fewer.travellers, trips.travellers[order])
        np.testing.assert_array_equal(fewer.weights, trips.weights[order])
        np.testing.assert_array_equal(fewer[0].states, trips[int(order[0])].states)


@pytest.mark.parametrize("travellers", [None, np.array([1, 2, 1]), np.array(["ann", "bo", "ann"])])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 0.5, 2.0])])
def test_arrays_of_a_file_come_back(travellers, weights, tmp_path):
    trips = TripDemonstrations.of(PLAIN, travellers, weights)
    again = TripDemonstrations.from_dict(trips.to_dict())
    for name in ("states", "actions", "next_states", "lengths", "travellers", "weights"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trips, name))
    trips.save(tmp_path / "trips.npz")
    assert len(boirl.Demonstrations.load(tmp_path / "trips.npz")) == 3


def test_weights_are_one_on_average():
    assert relative_weights(PLAIN) is None
    assert relative_weights(TripDemonstrations.of(PLAIN)) is None
    weighted = TripDemonstrations.of(PLAIN, weights=np.array([1.0, 2.0, 6.0]))
    np.testing.assert_allclose(relative_weights(weighted), [1 / 3, 2 / 3, 2.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weights": np.array([1.0, 0.0, 1.0])}, "trip 1, counted from 0, has the weight 0"),
        ({"weights": np.array([1.0, np.nan, 1.0])}, "trip 1.*has the weight nan"),
        ({"weights": np.ones(2)}, r"shape \(2,\); expected 3 numbers"),
        ({"travellers": np.ones(3)}, "expected 3 whole numbers or names"),
        ({"travellers": np.array([1])}, "expected 3 whole numbers or names"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    with pytest.raises(InvalidInputError, match=message):
        TripDemonstrations.of(PLAIN, **given)
    with pytest.raises(InvalidInputError, match=message):
        Trips(np.zeros(3, dtype=int), (np.array([0]),) * 3, **given)


def test_padding_is_cut_off():
    states = np.array([[0, 1, 9, 9], [2, 3, 4, 5]])
    padded = Demonstrations.from_arrays(
        states, np.zeros((2, 4), int), np.array([[1, 9, 9, 9], [3, 4, 5, 6]])
    )
    cut = without_padding(padded, end=9)
    assert cut.lengths.tolist() == [2, 4]
    assert cut[0].states.tolist() == [0, 1]
    assert cut[0].next_states[-1] == 9
    assert cut[1].next_states.tolist() == [3, 4, 5, 6]
