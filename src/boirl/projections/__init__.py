"""From theta to a space where rewards with the same behaviour lie together."""

from boirl.projections.base import Projection
from boirl.projections.identity import Identity
from boirl.projections.rho import LogRho, Rho
from boirl.projections.rollouts import choose_demonstrations, sample_rollouts

__all__ = [
    "Identity",
    "LogRho",
    "Projection",
    "Rho",
    "choose_demonstrations",
    "sample_rollouts",
]
