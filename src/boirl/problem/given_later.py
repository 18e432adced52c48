"""Demonstrations that a problem may be given later."""

from __future__ import annotations

from typing import Any

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError


class GivenLater:
    """The attribute `demonstrations` of problems whose field may be None until there are some.

    Reading it before raises an error that says how to get some. A dataclass sets it after its
    fields are made: `MyProblem.demonstrations = GivenLater()`.
    """

    def __get__(self, problem: Any, owner: type | None = None) -> Demonstrations:
        if problem is None:
            raise AttributeError("demonstrations belong to a problem, not to its class")
        given = self.stored(problem)
        if given is None:
            raise InvalidInputError(
                f"problem {problem.name!r} has no demonstrations yet; call "
                "problem.with_demonstrations(demonstrations), or make some up with "
                "problem.demonstrate(theta, count, seed) (on the command line: --demonstrations "
                "FILE)"
            )
        return given

    def __set__(self, problem: Any, given: Demonstrations | None) -> None:
        problem.__dict__["_demonstrations"] = given

    @staticmethod
    def is_missing(problem: Any) -> bool:
        """Whether demonstrations may be given later, and none are yet."""
        return problem.__dict__.get("_demonstrations", problem) is None

    @staticmethod
    def stored(problem: Any) -> Demonstrations | None:
        """The demonstrations of a problem, or None."""
        given: Demonstrations | None = problem.__dict__.get("_demonstrations")
        return given
