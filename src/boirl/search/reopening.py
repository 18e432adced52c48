"""A study that is in a storage, opened with what it was made with."""

from __future__ import annotations

from typing import Any

from boirl.constraints import Constraints
from boirl.errors import InvalidInputError
from boirl.priors import prior_from_facts
from boirl.problem import Problem
from boirl.search.damage import refused_if_unreadable
from boirl.search.storage import open_study, storage_errors
from boirl.search.study import CONSTRAINTS, INITIAL, PRIOR, SETTINGS, Study


def reopen_study(problem: Problem[Any], storage: str, name: str | None = None) -> Study:
    """The study of a problem in a storage, with its settings, prior and constraints.

    Args:
        problem: As the study was made with, or with the demonstrations of now.
        storage: The database.
        name: Of the study; by default that of the problem.

    Raises:
        InvalidInputError: There is no such study.
    """
    title = name or f"boirl-{problem.name}"
    with storage_errors(storage), refused_if_unreadable(storage):
        known = open_study(storage, title).user_attrs
    if SETTINGS not in known:
        raise InvalidInputError(
            f"there is no search {title!r} in the storage; expected one that boirl run made: check "
            "the storage and the name of the study"
        )
    design = known[INITIAL]["design"]
    named = isinstance(design, dict)
    settings: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in known[SETTINGS].items()
    }
    return Study(
        problem,
        initial=design["name"] if named else design,
        n_initial=design["n_initial"] if named else None,
        storage=storage,
        name=name,
        prior=prior_from_facts(known.get(PRIOR, {"kind": "uniform"})),
        constraints=[Constraints.from_facts(known.get(CONSTRAINTS, []))],
        **settings,
    )
