"""From theta to a space where rewards with the same behaviour lie together."""

from boirl.projections.base import Projection
from boirl.projections.canonical import Canonical
from boirl.projections.identity import Identity
from boirl.projections.rho import LogRho, Rho
from boirl.projections.rollouts import choose_demonstrations, sample_rollouts
from boirl.registry import Registry

PROJECTIONS: Registry[type[LogRho]] = Registry("projection", "boirl.projections")
"""The projections that a projected kernel may work on, by name."""

for _kind in (LogRho, Rho, Canonical):
    PROJECTIONS.register(_kind.name, _kind)

__all__ = [
    "PROJECTIONS",
    "Canonical",
    "Identity",
    "LogRho",
    "Projection",
    "Rho",
    "choose_demonstrations",
    "sample_rollouts",
]
