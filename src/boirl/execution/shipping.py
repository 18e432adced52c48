"""How a problem reaches the workers: pickled by value where it must be, once for each worker.

cloudpickle takes along functions of scripts and notebooks, lambdas included.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from boirl.errors import BoirlError, CodeNeededError, InvalidInputError
from boirl.problem import Problem

MOST_OPEN = 4
"""Problems that a worker keeps."""

DEEPEST = 8
"""Attributes of attributes of a problem that are looked through for what cannot be pickled."""


class CannotOpenError(InvalidInputError):
    """A worker cannot make the problem from what it was sent."""


@dataclass(frozen=True)
class Parcel:
    """A pickled problem, or its name alone for a worker that may have it already.

    Attributes:
        name: Follows from the content.
        content: None where it was sent before.
    """

    name: str
    content: bytes | None

    @property
    def name_alone(self) -> Parcel:
        return Parcel(self.name, None)


def pack(problem: Problem[Any]) -> Parcel:
    """A problem, ready to be sent.

    Raises:
        InvalidInputError: Something in it cannot be pickled; names it.
    """
    try:
        content = _dumps(problem)
    except BoirlError:
        raise
    except Exception as error:
        path, value = _culprit(problem, "problem")
        reason = " ".join(str(error).split())
        raise InvalidInputError(
            f"the problem cannot be sent to workers: {path} is a {type(value).__name__}, which "
            f"cannot be pickled ({reason}); create it where it is used, or run with workers=... "
            "on this machine, which needs no pickling where processes can be forked"
        ) from error
    return Parcel(hashlib.sha256(content).hexdigest()[:16], content)


def open_parcel(parcel: Parcel) -> Problem[Any] | None:
    """The problem in a parcel; None where it is a name alone of one that never came here.

    Raises:
        CannotOpenError: What was sent cannot be opened here.
    """
    if parcel.name not in _OPENED:
        if parcel.content is None:
            return None
        try:
            _OPENED[parcel.name] = pickle.loads(parcel.content)
        except Exception as error:
            raise CannotOpenError(
                f"a worker cannot open the problem ({type(error).__name__}: {error}); install on "
                "the workers what the problem is made of, in the versions that are here, or send a "
                "module of your own along with cloudpickle.register_pickle_by_value(module)"
            ) from error
        while len(_OPENED) > MOST_OPEN:
            _OPENED.popitem(last=False)
    _OPENED.move_to_end(parcel.name)
    return _OPENED[parcel.name]


def _dumps(value: Any) -> bytes:
    try:
        import cloudpickle
    except ImportError:
        raise CodeNeededError(
            "cloudpickle, which sends problems to workers, is not installed; install it with: "
            "pip install 'boirl[cluster]'"
        ) from None
    return bytes(cloudpickle.dumps(value))


def _culprit(value: Any, path: str, depth: int = 0) -> tuple[str, Any]:
    """The innermost part that cannot be pickled, and the way to it."""
    for name, part in _parts(value):
        try:
            _dumps(part)
        except Exception:
            inner = f"{path}{name}"
            return (inner, part) if depth == DEEPEST else _culprit(part, inner, depth + 1)
    return path, value


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(f"[{key!r}]", part) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    closure = getattr(value, "__closure__", None)
    if closure:
        names = value.__code__.co_freevars
        return [
            (f" (its variable {name!r})", cell.cell_contents)
            for name, cell in zip(names, closure, strict=True)
        ]
    return [(f".{name}", part) for name, part in getattr(value, "__dict__", {}).items()]


_OPENED: OrderedDict[str, Problem[Any]] = OrderedDict()
"""Problems that came to this process, the latest one last."""
