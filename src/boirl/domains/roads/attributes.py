"""Attributes of turns by name, and the utilities that are made of them.

An attribute is one of the four that every network has (`time`, `left`, `constant`, `u-turn`), a
further one of links, which counts for the link that a turn enters, or a further one of turns. A
product of two is written `"a*b"`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boirl.errors import InvalidInputError
from boirl.types import FloatArray, Parameter

if TYPE_CHECKING:
    from boirl.domains.roads.network import RoadNetwork

LEFT_TURN = (-3.1, -0.5236)
U_TURN = 3.1
FEATURES = ("time", "left", "constant", "u-turn")
PRODUCT = "*"

Utilities = Mapping[str, tuple[float, float] | float]
"""For each attribute or product, the bounds of its weight, or the weight where it is fixed."""


def checked_attributes(
    given: Mapping[str, Any], count: int, of: str, taken: Sequence[str]
) -> dict[str, FloatArray]:
    """Attributes as arrays of `count` numbers; an error names the one that does not fit.

    Args:
        given: By name.
        count: Links or turns that there are.
        of: What they are attributes of, for errors.
        taken: Names that others have.
    """
    checked = {}
    for name, values in given.items():
        if not isinstance(name, str) or not name.strip() or PRODUCT in name:
            raise InvalidInputError(
                f"an attribute of {of} is called {name!r}; expected a name without "
                f"{PRODUCT!r}, which is for products: rename it"
            )
        if name in taken:
            raise InvalidInputError(
                f"an attribute of {of} is called {name!r}, as another attribute is; expected "
                f"names of their own ({', '.join(FEATURES)} are there already): rename it"
            )
        try:
            array = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.shape != (count,) or not np.isfinite(array).all():
            raise InvalidInputError(
                f"attribute {name!r} of {of} has shape {np.shape(values)}; expected {count} finite "
                f"numbers, one for each of the {of}"
            )
        array.setflags(write=False)
        checked[name] = array
    return checked


def attribute_of_turns(network: RoadNetwork, name: str) -> FloatArray:
    """An attribute, or a product of two, of each turn, `T`."""
    parts = [part.strip() for part in name.split(PRODUCT)]
    unknown = [part for part in parts if part not in network.attribute_names]
    if unknown or len(parts) > 2:
        what = (
            f"there is no attribute {unknown[0]!r}" if unknown else "it has more than two factors"
        )
        raise InvalidInputError(
            f"utility {name!r}: {what}; expected one of {', '.join(network.attribute_names)}, or a "
            f"product of two, such as {PRODUCT.join(network.attribute_names[:2])!r}"
        )
    values = np.ones(len(network.turns))
    for part in parts:
        values = values * _attribute(network, part)
    return values


def _attribute(network: RoadNetwork, name: str) -> FloatArray:
    angles, entered = network.angles, network.turns[:, 1]
    if name == "time":
        return network.times[entered]
    if name == "left":
        return ((angles > LEFT_TURN[0]) & (angles < LEFT_TURN[1])).astype(np.float64)
    if name == "constant":
        return np.ones(len(angles))
    if name == "u-turn":
        return (np.abs(angles) > U_TURN).astype(np.float64)
    if name in network.link_attributes:
        return network.link_attributes[name][entered]
    return network.turn_attributes[name]


def utility_features(network: RoadNetwork, names: Sequence[str]) -> FloatArray:
    """The attributes and products of these names, `T x p`."""
    return np.stack([attribute_of_turns(network, name) for name in names], axis=1)


def utility_weights(network: RoadNetwork, utilities: Utilities) -> list[Parameter]:
    """A parameter for each attribute that enters: free within bounds, or held at a number."""
    if not isinstance(utilities, Mapping) or not utilities:
        raise InvalidInputError(
            f"utilities are {utilities!r}; expected bounds by name, such as "
            f"{{'time': (-5, 0), 'constant': (-5, 0)}}"
        )
    seen: dict[tuple[str, ...], str] = {}
    parameters = []
    for name, bounds in utilities.items():
        attribute_of_turns(network, name)
        factors = tuple(sorted(part.strip() for part in name.split(PRODUCT)))
        if factors in seen:
            raise InvalidInputError(
                f"utilities {seen[factors]!r} and {name!r} are the same; expected each once"
            )
        seen[factors] = name
        parameters.append(_weight(name, bounds))
    if all(parameter.fixed is not None for parameter in parameters):
        raise InvalidInputError(
            "every utility is held at a number; expected bounds (low, high) for at least one"
        )
    return parameters


def _weight(name: str, bounds: tuple[float, float] | float) -> Parameter:
    try:
        if np.ndim(bounds) == 0:
            return Parameter(name, -1.0, 1.0, float(bounds))  # type: ignore[arg-type]
        low, high = (float(one) for one in bounds)  # type: ignore[union-attr]
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"utility {name!r} has bounds {bounds!r}; expected (low, high), or one number to hold "
            "its weight at"
        ) from None
    return Parameter(name, low, high)


def feature_weights(bounds: Mapping[str, tuple[float, float]]) -> list[Parameter]:
    """A parameter for each of `FEATURES`, those without bounds held at 0."""
    unknown = set(bounds) - set(FEATURES)
    if unknown:
        raise InvalidInputError(
            f"there is no feature {', '.join(sorted(unknown))}; expected some of "
            f"{', '.join(FEATURES)}; pass utilities={{name: (low, high)}} for other attributes"
        )
    return [
        Parameter(name, *bounds[name]) if name in bounds else Parameter(name, -1.0, 1.0, 0.0)
        for name in FEATURES
    ]
