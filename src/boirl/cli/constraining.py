"""Constraints as text, such as `reach 14,15 <= 0.05`."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from boirl.errors import InvalidInputError

ConstraintTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--constraint",
        help="What a solution must be like: 'reach 14,15 <= 0.05' (probability to come to these "
        "states, or links on roads), 'steps <= 12' (on average), or a sum of parameters such as "
        "'time - 2 left >= -3' (may be repeated).",
    ),
]

FORM = re.compile(r"^(?P<what>.+?)\s*(?P<sign><=|>=)\s*(?P<limit>[-+.\deE]+)$")
TERM = re.compile(r"(?P<sign>[-+]?)\s*(?P<weight>\d*\.?\d*)\s*\*?\s*(?P<name>[A-Za-z][\w-]*)")
EXPECTED = "'reach 14,15 <= 0.05', 'steps <= 12' or a sum of parameters such as 'time <= -1'"


def states_at(places: list[int], problem: Any) -> list[int]:
    """The states that numbers mean on the command line: on roads, those of being on some links.

    Of a problem with a method `states_at`, which gives the states of a place; else the same.
    """
    own = getattr(problem, "states_at", None)
    if own is None:
        return places
    found = {place: own(place) for place in places}
    missing = [place for place, states in found.items() if place < 0 or not len(states)]
    if missing:
        raise InvalidInputError(
            f"there is no link {missing[0]}, or nobody can turn into it; expected the numbers of "
            "links"
        )
    return [int(state) for states in found.values() for state in states]


def parse_constraints(texts: list[str] | None, problem: Any = None) -> list[Any]:
    """The constraints that texts stand for, in a problem."""
    return [one for text in texts or [] for one in parse_constraint(text, problem)]


def parse_constraint(text: str, problem: Any = None) -> list[Any]:
    """The constraints that one text stands for."""
    from boirl.constraints import expects, linear, reaches

    matched = FORM.match(text.strip())
    if matched is None:
        raise InvalidInputError(f"the constraint is {text!r}; expected {EXPECTED}")
    what = matched["what"].strip()
    try:
        limit = float(matched["limit"])
    except ValueError:
        raise InvalidInputError(
            f"the limit of constraint {text!r} is {matched['limit']!r}; expected a number"
        ) from None
    side: dict[str, Any] = {"at_most" if matched["sign"] == "<=" else "at_least": limit}
    first, _, rest = what.partition(" ")
    if first == "reach" and rest:
        places = _states(rest, text)
        states = states_at(places, problem)
        # States that are numbered have names of their own.
        name = None if states == places else f"reaching {rest.strip()}"
        return reaches(states, **side, name=name)
    if what == "steps":
        return expects(None, **side)
    return linear(_weights(what, text), **side)


def _states(text: str, whole: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInputError(
            f"the states of constraint {whole!r} are {text!r}; expected whole numbers with commas "
            "between"
        ) from None


def _weights(text: str, whole: str) -> dict[str, float]:
    """Weights of parameters, from a sum such as `time - 2 left`."""
    weights: dict[str, float] = {}
    place = 0
    for term in TERM.finditer(text):
        if text[place : term.start()].strip():
            break
        weight = float(term["weight"] or 1.0)
        weights[term["name"]] = -weight if term["sign"] == "-" else weight
        place = term.end()
    if not weights or text[place:].strip():
        raise InvalidInputError(f"the constraint is {whole!r}; expected {EXPECTED}")
    return weights
