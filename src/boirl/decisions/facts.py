"""What decisions say, as plain values that are ready for JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SHOWN = {
    "StartQuestion": ("start", "name", "information", "alone", "behaviours"),
    "ComparisonQuestion": ("start", "paths", "information", "probability", "words"),
    "Behaviour": ("weight", "theta", "path", "words"),
    "Decision": (
        "risk",
        "mean_regret",
        "worst_regret",
        "single_mean_regret",
        "single_worst_regret",
        "groups",
        "broken",
    ),
    "GroupRegret": ("theta", "weight", "regret", "worst", "single", "single_worst"),
    "Transfer": ("effects", "spread", "spread_before", "behaviours"),
    "Effect": ("name", "before", "after", "difference"),
    "Interval": ("low", "mean", "high"),
    "Mixture": ("names", "shares", "log_likelihood", "bic", "labels", "thetas", "shared"),
    "Temperatures": (
        "names",
        "theta",
        "inverse_temperatures",
        "shares",
        "labels",
        "log_likelihood",
        "plausible",
    ),
}
"""What is told of each kind of object: its fields and properties, or methods without arguments."""


def decision_facts(value: Any) -> Any:
    """Questions, decisions and what belongs to them, with numbers, text, lists and mappings alone.

    Numbers that are not finite are None.
    """
    names = SHOWN.get(type(value).__name__)
    if names is not None:
        told = {name: getattr(value, name) for name in names}
        return {name: decision_facts(one() if callable(one) else one) for name, one in told.items()}
    if isinstance(value, dict):
        return {str(key): decision_facts(one) for key, one in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return decision_facts(value.tolist())
    if isinstance(value, (list, tuple)):
        return [decision_facts(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
