"""Questions to a site and its answers as JSON: numbers, strings and lists, checked on arrival.

Nothing that arrives is executed or unpickled. A number that is written as JSON and read again is
the same to the last bit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.federation.privacy import PrivacyTerms
from boirl.federation.questions import Draw, Part, Site, SiteFacts, SiteSums
from boirl.types import FloatArray

MAX_THETAS, MAX_ROLLOUTS, MAX_DRAWS = 8192, 1000, 100_000
"""What a single question may ask for."""

UNKNOWN_PART = "unknown-part"
"""What a site says that has forgotten a part of a projection, for instance by a restart."""

Message = Mapping[str, Any]
Parts = dict[str, Part]
"""The parts that a server was told of, by their keys."""


def encode(message: Any) -> bytes:
    return json.dumps(message, allow_nan=False).encode()


def decode(content: bytes) -> dict[str, Any]:
    """The message in bytes; refuses anything but a JSON object."""
    try:
        message = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"the message is no JSON ({error})") from None
    if not isinstance(message, dict):
        raise InvalidInputError(f"the message is a {type(message).__name__}; expected an object")
    return message


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def facts_message(facts: SiteFacts) -> Message:
    return asdict(facts)


def read_facts(message: Message) -> SiteFacts:
    terms = message["terms"]
    return SiteFacts(
        str(message["name"]),
        _whole(message["n_demonstrations"], "n_demonstrations", 1, 2**40),
        str(message["identity"]),
        None if terms is None else PrivacyTerms(**terms),
    )


def sums_message(sums: SiteSums) -> Message:
    return {
        "nll": sums.nll if sums.failure is None else None,
        "gradient": None if sums.gradient is None else sums.gradient.tolist(),
        "sd": sums.sd,
        "failure": sums.failure,
    }


def read_sums(message: Message, dimension: int) -> SiteSums:
    if message["failure"] is not None:
        return SiteSums(math.nan, failure=str(message["failure"]))
    gradient = message["gradient"]
    return SiteSums(
        float(read_numbers(message["nll"], "nll", ())),
        None if gradient is None else read_numbers(gradient, "gradient", (dimension,)),
        float(read_numbers(message["sd"], "sd", ())),
    )


def draw_message(draw: Draw) -> Message:
    return asdict(draw)


def read_draw(message: Message, dimension: int) -> Draw:
    state = message["state"]
    if not isinstance(state, dict):
        raise InvalidInputError("the state of the random numbers is missing")
    theta = message["theta"]
    return Draw(
        _indices(message["indices"]),
        _whole(message["n"], "n", 1, MAX_ROLLOUTS),
        None if theta is None else tuple(read_numbers(theta, "theta", (dimension,)).tolist()),
        state,
    )


def part_message(part: Part) -> Message:
    return asdict(part)


def read_part(message: Message, dimension: int) -> Part:
    draws, drop = message["draws"], message["drop"]
    if not isinstance(draws, list) or len(draws) > MAX_DRAWS or not isinstance(drop, list):
        raise InvalidInputError("the part of a projection has no list of draws, or too many")
    return Part(
        _indices(message["indices"]),
        tuple(read_draw(draw, dimension) for draw in draws),
        tuple(str(name) for name in drop),
    )


def demonstrations_message(demonstrations: Demonstrations) -> Message:
    return {name: array.tolist() for name, array in demonstrations.to_dict().items()}


def read_demonstrations(message: Message) -> Demonstrations:
    return Demonstrations.from_dict({name: np.array(rows) for name, rows in message.items()})


def answer(site: Site, parts: Parts, question: str, message: Message, dimension: int) -> Message:
    """What a site says to a question, given the parts of projections that it was told of.

    Raises:
        InvalidInputError: There is no such question, or it cannot be read.
    """
    if question not in QUESTIONS:
        raise InvalidInputError(
            f"there is no question {question!r}; expected one of {', '.join(QUESTIONS)}"
        )
    try:
        return QUESTIONS[question](site, parts, message, dimension)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(
            f"the question {question!r} cannot be read ({type(error).__name__}: {error})"
        ) from None


def _facts(site: Site, parts: Parts, message: Message, dimension: int) -> Message:
    return facts_message(site.facts())


def _check(site: Site, parts: Parts, message: Message, dimension: int) -> Message:
    return {"fingerprint": site.check(read_demonstrations(message["reference"]))}


def _sums(site: Site, parts: Parts, message: Message, dimension: int) -> Message:
    theta = read_numbers(message["theta"], "theta", (dimension,))
    return sums_message(site.sums(tuple(theta.tolist())))


def _draw(site: Site, parts: Parts, message: Message, dimension: int) -> Message:
    return {"state": site.draw(read_draw(message, dimension))}


def _project(site: Site, parts: Parts, message: Message, dimension: int) -> Message:
    if message.get("part") is not None:
        part = read_part(message["part"], dimension)
        parts[part.key] = part
        while len(parts) > 8:
            del parts[next(iter(parts))]
    elif message["key"] not in parts:
        return {UNKNOWN_PART: True}
    else:
        part = parts[message["key"]]
    values, slopes = site.project(part, _thetas(message, dimension), message["slopes"] is True)
    return {"values": values.tolist(), "slopes": None if slopes is None else slopes.tolist()}


def _behaviour(site: Site, parts: Parts, message: Message, dimension: int) -> Message:
    steps, sums = site.behaviour(_thetas(message, dimension))
    return {"steps": steps, "sums": sums.tolist()}


QUESTIONS: dict[str, Callable[[Site, Parts, Message, int], Message]] = {
    "facts": _facts,
    "check": _check,
    "sums": _sums,
    "draw": _draw,
    "project": _project,
    "behaviour": _behaviour,
}


def _thetas(message: Message, dimension: int) -> FloatArray:
    rows = message["thetas"]
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_THETAS:
        raise InvalidInputError(f"there is no list of 1 to {MAX_THETAS} thetas")
    return read_numbers(rows, "thetas", (len(rows), dimension))


def read_numbers(value: Any, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Finite numbers of this shape, in a question or an answer."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(f"{name} holds something else than numbers") from None
    if array.shape != shape or not np.isfinite(array).all():
        raise InvalidInputError(
            f"{name} has shape {array.shape}; expected finite numbers of shape {shape}"
        )
    return array


def _whole(value: Any, name: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInputError(f"{name} is {value!r}; expected a whole number from {least} on")
    return value


def _indices(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidInputError("the numbers of demonstrations are missing")
    return tuple(_whole(index, "a demonstration", 0, 2**40) for index in value)
