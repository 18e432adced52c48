"""Measures of a search."""

from boirl.metrics.expert import (
    evaluations_to_demonstrations,
    evaluations_to_expert,
    expert_return,
    incumbents,
    mean_true_return,
    reaches_demonstrations,
)
from boirl.metrics.landscape import LandscapeFit, landscape_error, landscape_fit, set_f1

__all__ = [
    "LandscapeFit",
    "evaluations_to_demonstrations",
    "evaluations_to_expert",
    "expert_return",
    "incumbents",
    "landscape_error",
    "landscape_fit",
    "mean_true_return",
    "reaches_demonstrations",
    "set_f1",
]
