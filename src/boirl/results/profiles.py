"""What a likelihood-ratio test leaves of a parameter, by the NLL that a search expects."""

from __future__ import annotations

import torch

from boirl.errors import InvalidInputError
from boirl.estimation.descent import descend
from boirl.estimation.profile import ProfileInterval, profile_interval
from boirl.surrogate import FittedSurrogate
from boirl.threads import single_thread
from boirl.types import FloatArray


class ExpectedNll:
    """The NLL that a surrogate expects, and its gradient, for `descend`; none where evaluations are
    more likely to fail than not."""

    def __init__(self, fitted: FittedSurrogate) -> None:
        self.fitted = fitted

    def __call__(self, unit: FloatArray) -> tuple[float, FloatArray] | None:
        leaf = torch.tensor(unit[None], requires_grad=True)
        if not self.fitted.feasibility.is_likely(unit[None])[0]:
            return None
        mean = self.fitted.mean(leaf)
        if not mean.requires_grad:
            raise InvalidInputError(
                "the reward family is not written in torch, so the expected NLL has no gradient; "
                "expected one that is, for profile intervals"
            )
        (slopes,) = torch.autograd.grad(mean.sum(), leaf)
        return float(mean.detach()), slopes[0].numpy()


def expected_interval(fitted: FittedSurrogate, name: str, level: float) -> ProfileInterval:
    """The profile interval of a parameter, see `RewardSet.profile_interval`."""
    objective = ExpectedNll(fitted)
    with single_thread():
        end = descend(objective, fitted.best_unit)
        unit, nll = fitted.best_unit, fitted.best_nll
        if end is not None and end.value < nll:
            unit, nll = end.point, end.value
        n = fitted.n_demonstrations
        return profile_interval(objective, unit, nll, n, fitted.box, name, level)
