"""The algorithms that boirl is compared with: the same problems, the same likelihood.

>>> run = boirl.baselines.get("maxent").run(boirl.load_problem("gridworld"), evaluations=50)
>>> print(run.best, run.best_nll)
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from boirl.baselines.airl import AIRL
from boirl.baselines.base import Baseline, Callback
from boirl.baselines.birl import BIRL
from boirl.baselines.cr_irl import CRIRL
from boirl.baselines.deep_maxent import DeepMaxEnt
from boirl.baselines.gail import GAIL
from boirl.baselines.gcl import GCL
from boirl.baselines.gp_irl import GPIRL
from boirl.baselines.maxent import MaxEnt
from boirl.baselines.random_search import RandomSearch
from boirl.baselines.run import BaselineRun
from boirl.baselines.subspaces import Subspaces
from boirl.baselines.tpe import TPE
from boirl.errors import InvalidInputError
from boirl.registry import Registry

BASELINES: Registry[type[Baseline]] = Registry("baseline", "boirl.baselines")
"""The baselines, by name."""

_KINDS: tuple[type[Baseline], ...] = (
    RandomSearch,
    TPE,
    Subspaces,
    MaxEnt,
    DeepMaxEnt,
    GPIRL,
    CRIRL,
    BIRL,
    GCL,
    AIRL,
    GAIL,
)
for _kind in _KINDS:
    BASELINES.register(_kind.name, _kind)

__all__ = ["BASELINES", "Baseline", "BaselineRun", "Callback", "get"]


def get(name: str, **settings: Any) -> Baseline:
    """A baseline by name, with settings other than its defaults.

    Raises:
        InvalidInputError: There is no such baseline, or no such setting of it.
    """
    kind = BASELINES[name]
    known = list(signature(kind).parameters)
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise InvalidInputError(
            f"{name} has no setting {', '.join(unknown)}; expected some of "
            f"{', '.join(known) or '(it has none)'}"
        )
    return kind(**settings)
