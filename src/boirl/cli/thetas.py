"""Thetas on the command line: numbers with blanks or commas between, negative ones included."""

from __future__ import annotations

from collections.abc import Sequence

from boirl.errors import InvalidInputError

THETA_OPTIONS = ("--theta", "--initial")


def join_thetas(arguments: Sequence[str]) -> list[str]:
    """The arguments of a command with `--theta -1 2` as `--theta=-1,2`.

    A parser of options takes one value for each and would read `-1` as an option.
    """
    joined: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        numbers: list[str] = []
        while word in THETA_OPTIONS and rest and is_theta(rest[0]):
            numbers.append(rest.pop(0))
        joined.append(f"{word}={','.join(numbers)}" if numbers else word)
    return joined


def is_theta(text: str) -> bool:
    """Whether a text is one number, or several with commas between."""
    try:
        _ = [float(part) for part in text.split(",")]
    except ValueError:
        return False
    return True


def parse_theta(text: str) -> list[float]:
    """The numbers of a theta that is written with commas."""
    if not is_theta(text):
        raise InvalidInputError(
            f"theta is {text!r}; expected numbers with commas between, such as 1.25,5,0"
        )
    return [float(part) for part in text.split(",")]


def theta_of(words: Sequence[str], option: str | None) -> list[float]:
    """The theta of a command that takes it as words or as `--theta`.

    Args:
        words: Numbers, with commas or not.
        option: What `--theta` said, or None.
    """
    unknown = next((word for word in words if word.startswith("--")), None)
    if unknown is not None:
        raise InvalidInputError(f"there is no option {unknown}; --help lists those there are")
    if bool(words) == (option is not None):
        raise InvalidInputError(
            "the theta is given twice; give it once"
            if words
            else "there is no theta; give its numbers, such as 1.25 5 0 or --theta 1.25 5 0"
        )
    return parse_theta(",".join(words) if words else str(option))


def parse_initial(given: Sequence[str] | None) -> str | list[list[float]]:
    """A design by name, or thetas to start from."""
    from boirl.search.initial import DESIGNS

    if not given:
        return "sobol"
    if len(given) == 1 and given[0] in DESIGNS:
        return given[0]
    return [parse_theta(text) for text in given]
