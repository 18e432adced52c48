"""What decisions say, as plain values."""

import json

import numpy as np
import pytest

from boirl.decisions import acting, behaviours, comparisons, mixtures, questions, transfer
from boirl.decisions import temperatures as tempers
from boirl.decisions.facts import SHOWN, decision_facts
from boirl.decisions.transfer import Effect, Interval

MODULES = (acting, behaviours, comparisons, mixtures, questions, transfer, tempers)


@pytest.mark.parametrize("kind", list(SHOWN))
def test_what_is_told_exists(kind):
    found = next(getattr(module, kind) for module in MODULES if hasattr(module, kind))
    fields = {*getattr(found, "__dataclass_fields__", ()), *getattr(found, "_fields", ())}
    assert all(name in fields or hasattr(found, name) for name in SHOWN[kind])


def test_numbers_are_plain_and_finite_or_none():
    effect = Effect("steps", None, Interval(1.0, np.float64(2.0), np.inf), None)
    told = decision_facts({"effects": (effect,), "shares": np.array([[1, 2]])})
    assert json.loads(json.dumps(told, allow_nan=False)) == {
        "effects": [
            {
                "name": "steps",
                "before": None,
                "after": {"low": 1.0, "mean": 2.0, "high": None},
                "difference": None,
            }
        ],
        "shares": [[1, 2]],
    }
