"""Attributes of turns by name, products of two, and the utilities that are made of them."""

from dataclasses import replace

import numpy as np
import pytest

from boirl.domains.roads.attributes import (
    FEATURES,
    attribute_of_turns,
    feature_weights,
    utility_features,
    utility_weights,
)
from boirl.domains.roads.town import generate_town
from boirl.errors import InvalidInputError


@pytest.fixture(scope="module")
def network():
    return generate_town(60, 3)


def test_an_attribute_of_a_link_counts_for_the_link_entered(network):
    entered = network.turns[:, 1]
    for name in ("length", "main"):
        np.testing.assert_array_equal(
            attribute_of_turns(network, name), network.link_attributes[name][entered]
        )
    np.testing.assert_array_equal(attribute_of_turns(network, "time"), network.times[entered])
    np.testing.assert_array_equal(
        attribute_of_turns(network, "right"), network.turn_attributes["right"]
    )


@pytest.mark.parametrize(
    "pair", [("length", "main"), ("main", "right"), ("left", "time"), ("time", "time")]
)
def test_a_product_is_of_any_two(network, pair):
    one, other = (attribute_of_turns(network, name) for name in pair)
    np.testing.assert_array_equal(attribute_of_turns(network, "*".join(pair)), one * other)
    np.testing.assert_array_equal(attribute_of_turns(network, " * ".join(pair)), one * other)


def test_features_are_columns_in_the_order_of_their_names(network):
    table = utility_features(network, ["main*right", "constant"])
    np.testing.assert_array_equal(table[:, 0], attribute_of_turns(network, "main*right"))
    np.testing.assert_array_equal(table[:, 1], 1.0)
    np.testing.assert_array_equal(utility_features(network, FEATURES), network.features)


def test_weights_are_free_within_bounds_or_held(network):
    free, held = utility_weights(network, {"length": (-3, 1), "u-turn": -4})
    assert (free.name, free.low, free.high, free.fixed) == ("length", -3.0, 1.0, None)
    assert (held.name, held.fixed) == ("u-turn", -4.0)


@pytest.mark.parametrize(
    ("utilities", "message"),
    [
        (
            {"lenght": (-1, 0)},
            r"no attribute 'lenght'; expected one of time, .*length, main",
        ),
        ({"time*x": (-1, 0)}, "no attribute 'x'"),
        ({"time*left*main": (-1, 0)}, "more than two factors"),
        ({"time*": (-1, 0)}, "no attribute ''"),
        ({"time": (0, -1)}, "the lower one first"),
        ({"time": (1, 2, 3)}, r"expected \(low, high\), or one number"),
        ({"time": "low"}, r"expected \(low, high\), or one number"),
        ({"time": None}, r"expected \(low, high\), or one number"),
        ({"time": -1.0}, "every utility is held"),
        ({"time*left": (-1, 0), "left*time": (-1, 0)}, "are the same"),
        ({}, "expected bounds by name"),
        (["time"], "expected bounds by name"),
    ],
)
def test_utilities_that_do_not_fit_are_refused(network, utilities, message):
    with pytest.raises(InvalidInputError, match=message):
        utility_weights(network, utilities)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"link_attributes": {"time": 1.0}}, "called 'time', as another"),
        ({"link_attributes": {"a*b": 1.0}}, "without '\\*'"),
        ({"link_attributes": {"slope": [1.0, 2.0]}}, r"has shape \(2,\); expected \d+ finite"),
        ({"turn_attributes": {"length": 1.0}}, "called 'length', as another"),
        ({"turn_attributes": {"slope": np.nan}}, "finite numbers"),
        ({"turn_attributes": {"slope": "steep"}}, "finite numbers"),
    ],
)
def test_attributes_that_do_not_fit_are_refused(network, attributes, message):
    ((kind, given),) = attributes.items()
    count = network.n_links if kind == "link_attributes" else len(network.turns)
    full = {
        name: value if isinstance(value, list) else np.full(count, value)
        for name, value in given.items()
    }
    with pytest.raises(InvalidInputError, match=message):
        replace(network, **{kind: full})


def test_features_without_bounds_are_held_at_zero():
    weights = {one.name: one.fixed for one in feature_weights({"time": (-1.0, 0.0)})}
    assert weights == {"time": None, "left": 0.0, "constant": 0.0, "u-turn": 0.0}
    with pytest.raises(InvalidInputError, match=r"no feature length; .*utilities="):
        feature_weights({"length": (-1.0, 0.0)})
