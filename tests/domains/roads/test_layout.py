"""Where links lie on a map, worked out from turns alone."""

from dataclasses import replace

import numpy as np
import pytest

from boirl.domains.roads.files import load_road_network
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.town import generate_town


@pytest.fixture(params=range(3))
def town(request):
    return generate_town(200, request.param)


def without_places(network):
    return replace(network, ends=None)


def deviations(network):
    """How far the heading changes on the map from the turns' angles, in degrees, for each turn."""
    along = network.layout[:, 1] - network.layout[:, 0]
    heading = np.arctan2(along[:, 1], along[:, 0])
    left, entered = network.turns.T
    difference = heading[left] - heading[entered] - network.angles
    return np.degrees(np.abs((difference + np.pi) % (2 * np.pi) - np.pi))


def test_links_that_meet_share_a_point(town):
    ends = without_places(town).layout
    assert ends.shape == (town.n_links, 2, 2)
    assert np.isfinite(ends).all()
    left, entered = town.turns.T
    np.testing.assert_array_equal(ends[left, 1], ends[entered, 0])


def test_streets_turn_on_the_map_as_they_do_on_the_ground(town):
    # Angles of sharp bends are cut off in a town, so some of them cannot be met.
    off = deviations(without_places(town))
    assert np.median(off) < 0.2
    assert np.mean(off < 5.0) > 0.95


def test_links_have_some_length(town):
    steps = np.diff(without_places(town).layout, axis=1)[:, 0]
    lengths = np.linalg.norm(steps, axis=1)
    ratio = lengths / town.times
    assert 0.5 < np.median(ratio) < 1.5
    assert np.mean(ratio > 0.1) > 0.95


def test_the_map_has_the_shape_of_the_town(town):
    # Points are complex numbers; the best rotation and size are a complex factor.
    found, true = (
        ends.reshape(-1, 2) @ np.array([1.0, 1.0j])
        for ends in (without_places(town).layout, town.ends)
    )
    found, true = found - found.mean(), true - true.mean()
    factor = np.vdot(found, true) / np.vdot(found, found)
    unexplained = np.linalg.norm(true - factor * found) / np.linalg.norm(true)
    assert unexplained < 0.15


def test_given_places_are_kept(town):
    assert town.layout is town.ends
    assert town.ends.shape == (town.n_links, 2, 2)
    assert np.median(deviations(town)) < 1e-9


def test_a_square_is_laid_out_as_a_square():
    # Four links round a block, each turn to the right; times are lengths here.
    turns = np.array([[3, 0], [0, 1], [1, 2], [2, 3]])
    network = RoadNetwork(np.full(4, 2.0), turns, np.full(4, np.pi / 2), {9: np.array([0])})
    steps = np.diff(network.layout, axis=1)[:, 0]
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), 2.0, rtol=1e-3)
    np.testing.assert_allclose(steps[0] @ steps[1], 0.0, atol=1e-6)
    np.testing.assert_allclose(steps[0], -steps[2], atol=1e-6)
    # Right of a heading (x, y) is (y, -x).
    np.testing.assert_allclose(steps[1], [steps[0, 1], -steps[0, 0]], atol=1e-6)


def test_pieces_that_nothing_joins_and_links_without_time_are_placed():
    turns = np.array([[1, 0], [0, 1], [3, 2], [2, 3]])
    angles = np.array([np.pi, np.pi, np.pi, np.pi])
    network = RoadNetwork(np.array([1.0, 1.0, 0.0, 0.0, 1.0]), turns, angles, {9: np.array([0])})
    assert np.isfinite(network.layout).all()
    np.testing.assert_array_equal(network.layout[0], network.layout[1][::-1])


def test_the_streets_of_borlange_turn_as_its_file_says(borlange_folder):
    network, _ = load_road_network(borlange_folder)
    assert network.ends is None
    assert np.isfinite(network.layout).all()
    left, entered = network.turns.T
    np.testing.assert_array_equal(network.layout[left, 1], network.layout[entered, 0])
    assert np.median(deviations(network)) < 1.0
