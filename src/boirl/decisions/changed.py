"""The environment of a problem with something changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.environments.changes import close_states, start_from
from boirl.errors import InvalidInputError
from boirl.problem import Problem, TabularProblem


def changed_problem(
    problem: Problem[Any],
    closed: Sequence[int] = (),
    start: int | Sequence[int] | None = None,
    destination: int | None = None,
) -> Problem[Any]:
    """The same problem, without demonstrations, in a changed environment.

    A problem that knows better what can be changed says so itself, by a method `changed` with the
    same arguments: on roads, links are closed.

    Args:
        problem: On a table.
        closed: States that nothing leads into any more.
        start: State that trajectories start from, or several, each as likely; by default as before.
        destination: Where trips go, where there are destinations.
    """
    own = getattr(problem, "changed", None)
    if own is not None:
        changed: Problem[Any] = own(closed, start, destination)
        return changed
    if not isinstance(problem, TabularProblem):
        raise InvalidInputError(
            f"problem {problem.name!r} is a {type(problem).__name__}; expected one on a table of "
            "states: build the changed problem in Python and pass it to found.transfer(...)"
        )
    if destination is not None:
        raise InvalidInputError(
            f"the destination is {destination}, but problem {problem.name!r} has no destination to "
            "change; leave it out, or build the changed problem in Python and pass it to "
            "found.transfer(...)"
        )
    mdp = close_states(problem.mdp, list(closed)) if len(closed) else problem.mdp
    if start is not None:
        begin = np.atleast_1d(np.asarray(start))
        if not begin.size or not ((begin >= 0) & (begin < mdp.n_states)).all():
            raise InvalidInputError(
                f"the start is {start}; expected states from 0 to {mdp.n_states - 1}"
            )
        mdp = start_from(mdp, np.bincount(begin, minlength=mdp.n_states) / len(begin))
    return replace(
        problem,
        mdp=mdp,
        demonstrations=cast(Demonstrations, None),
        horizon=problem.steps,
        name=f"{problem.name}, changed",
        recipe=None,
    )
