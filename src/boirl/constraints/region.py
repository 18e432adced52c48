"""Where constraints are met, as a search sees it: exactly on theta, by a surrogate on behaviour.

How far a policy is from a limit is a number at each evaluation. A Gaussian process of its own, on
the same projection as that of the NLL, says how probable it is elsewhere that the limit is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from boirl.constraints.collection import Constraints
from boirl.evaluation import Evaluation
from boirl.surrogate import FittedSurrogate, Surrogate
from boirl.surrogate.feasibility import WORST, Feasibility
from boirl.types import Box

SAFE, ROUNDING = 1.0, 1e-6
"""Standard deviations by which an expected margin is inside of its limit, and a share of the spread
of margins, or of the box, that is left to rounding."""

LEAST_SPREAD = 1e-9
"""Margins that spread by less than this are one and the same everywhere."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ConstrainedFeasibility(Feasibility):
    """The probability that an evaluation succeeds and meets all constraints.

    Args:
        constraints: Those on theta are looked up here.
        box: The rewards under consideration.
        margins: A surrogate of the margin of each constraint on behaviour.
    """

    constraints: Constraints
    box: Box
    margins: tuple[FittedSurrogate, ...]

    def log_probability(self, unit: Tensor) -> Tensor:
        score, violated = self._scores(unit)
        chance = super().log_probability(unit) + score
        return torch.where(violated > 0.0, -torch.inf, chance)

    def worth(self, unit: Tensor, worth: Tensor) -> Tensor:
        score, violated = self._scores(unit)
        # Where a constraint is more likely to be broken than not, slopes lead back.
        return torch.where(
            violated > 0.0, WORST * (1.0 + violated), super().worth(unit, worth + score)
        )

    def safe_margins(self, unit: Tensor) -> Tensor:
        low, high = torch.as_tensor(self.box.low), torch.as_tensor(self.box.high)
        thetas = low + (high - low) * unit
        columns = [one.margin(thetas, self.box) - ROUNDING for one in self.constraints.linear]
        for fitted in self.margins:
            mean, sd = fitted.marginals(unit)
            columns.append(mean - SAFE * sd - ROUNDING)
        return torch.stack(columns, dim=1)

    def _scores(self, unit: Tensor) -> tuple[Tensor, Tensor]:
        """Log probability that all are met, and by how much some are likely to be broken, `n`."""
        score = torch.zeros(len(unit), dtype=torch.float64)
        violated = torch.zeros(len(unit), dtype=torch.float64)
        low, high = torch.as_tensor(self.box.low), torch.as_tensor(self.box.high)
        thetas = low + (high - low) * unit
        for one in self.constraints.linear:
            violated = violated + torch.relu(-one.margin(thetas, self.box))
        for fitted in self.margins:
            mean, sd = fitted.marginals(unit)
            away = mean / sd.clamp_min(1e-12)
            score = score + torch.special.log_ndtr(away)
            # The margin itself, too: standard deviations may be next to nothing.
            violated = violated + torch.relu(-mean)
        return score, violated


def constrain(
    fitted: FittedSurrogate,
    surrogate: Surrogate,
    constraints: Constraints,
    evaluations: Sequence[Evaluation],
    draws: int = 1,
) -> FittedSurrogate:
    """A fitted surrogate that looks for solutions where constraints are met.

    Args:
        fitted: Of the NLL, to the first of whose thetas the evaluations belong that succeeded.
        surrogate: What margins are fitted with.
        constraints: All of them.
        evaluations: Those that the surrogate was fitted to, in their order.
        draws: Sets of hyperparameters of the margins.
    """
    if not constraints:
        return fitted
    succeeded = [one for one in evaluations if one.ok]
    box = surrogate.box
    allowed = constraints.feasible(succeeded, box)
    known = np.zeros(len(fitted.nll), dtype=bool)
    known[: len(allowed)] = allowed
    margins = tuple(
        _fit_margin(surrogate, constraints, number, succeeded, draws)
        for number in range(len(constraints.behaviour))
    )
    old = fitted.feasibility
    region = ConstrainedFeasibility(
        old.succeeded,
        old.failed,
        old.ruled_out,
        constraints=constraints,
        box=box,
        margins=margins,
    )
    return replace(fitted, feasibility=region, admissible=known)


def _fit_margin(
    surrogate: Surrogate,
    constraints: Constraints,
    number: int,
    evaluations: Sequence[Evaluation],
    draws: int,
) -> FittedSurrogate:
    """The margins of one constraint, as shares of their spread.

    As a surrogate sees them, all are then as near to the best as matters: it has to explain them
    all as closely.
    """
    constraint = constraints.behaviour[number]
    measured = [constraints.values(one)[number] for one in evaluations]
    margins = np.array([constraint.margin(one.value) for one in measured])
    errors = np.array([one.standard_error for one in measured])
    thetas = np.array([one.theta for one in evaluations])
    slopes = [constraint.margin_gradient(one) for one in measured]
    missing = np.full(surrogate.box.dimension, np.nan)
    gradients = np.array([missing if one is None else one for one in slopes])
    known = np.isfinite(margins)
    spread = float(np.ptp(margins[known])) if known.any() else 0.0
    scale = spread if spread >= LEAST_SPREAD else 1.0
    seen = (thetas[known], margins[known] / scale)
    own: Any = Surrogate(surrogate.kernel, surrogate.projection, box=surrogate.box, scale="linear")
    more = {"nll_se": errors[known] / scale, "gradients": gradients[known] / scale}
    if known.sum() < 2 or spread < LEAST_SPREAD:
        return own.build(*seen, **more)
    return own.fit(*seen, **more, draws=draws)
