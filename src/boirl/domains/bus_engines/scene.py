"""When engines are replaced, by mileage, for reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from boirl.domains.bus_engines.pictures import MILEAGE, miles, observed_shares
from boirl.domains.bus_engines.problem import BusEngineProblem
from boirl.policies import TabularPolicy
from boirl.report.numbers import short
from boirl.report.scenes import Frame, Scene
from boirl.types import FloatArray

HIGHEST = 0.4
"""Probability of a replacement up to which curves are drawn."""


class ReplacementScene(Scene):
    """The probability of a replacement by mileage, beside the observed shares."""

    caption = (
        "Probability of a replacement in a month, by mileage; points with two standard errors are "
        "what was observed."
    )
    difference = "Blue: this one; orange: the other."

    def __init__(self, problem: BusEngineProblem) -> None:
        self.problem = problem

    def still(self) -> Frame:
        middle, share, low, high = observed_shares(self.problem)
        return {
            "bounds": [0, 0, *short([miles(self.problem)[-1]]), HIGHEST],
            "up": True,
            "stretch": True,
            "axes": [MILEAGE, "replacements per month"],
            "dots": short(np.stack([middle, share, low, np.minimum(high, HIGHEST)], axis=1)),
        }

    def frame(self, policy: TabularPolicy, theta: FloatArray) -> Frame:
        chances = np.minimum(policy.probabilities[:, 1], HIGHEST)
        curve = np.stack([miles(self.problem), chances], axis=1)
        return {"paths": [short(curve.reshape(-1))]}

    def demonstrated(self) -> Frame:
        return {}

    def chances(self, policy: TabularPolicy, state: Any) -> FloatArray:
        return policy.probabilities[state]

    def state_name(self, state: Any) -> str:
        return f"{miles(self.problem)[state]:g} thousand miles"

    def action_name(self, state: Any, action: Any) -> str:
        return "replace" if action else "keep"
