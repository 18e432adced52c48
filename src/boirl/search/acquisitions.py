"""Which theta to evaluate next.

An acquisition looks at a fitted surrogate and proposes a point of the unit cube. By name:

- `resolve` (default): where the posterior over rewards, `exp(-N NLL)`, is least certain, at the
  temperature that is worst, see `ResolvePosterior`;
- `log-ei`: expected improvement, in its log form, as in the paper;
- `random`: uniform over the box, the surrogate ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from botorch.acquisition import AnalyticAcquisitionFunction, LogExpectedImprovement
from scipy.optimize import minimize
from scipy.stats import qmc
from torch import Tensor

from boirl.estimation.descent import LONGEST_STEP
from boirl.maximise import SAMPLES, maximise
from boirl.registry import Registry
from boirl.search.descent import WORTH, quasi_newton_step
from boirl.search.inside import best_inside, has_limits, has_solution
from boirl.search.worth import worth
from boirl.surrogate import FittedSurrogate
from boirl.surrogate.botorch_model import MarginalModel
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import FloatArray

LIKELY_UNTIL = 8
"""Evaluations per parameter from which on noisy NLLs say more than the projection alone."""

SMALLEST_GAIN = 5e-3
"""Share of the log of what a theta is worth below which a step is the last one of its climb."""

MIN_NOVELTY = 0.01
"""A theta that is farther than this share of the box from all evaluations is a new one."""


LEAST_X, NOTHING = 1e-150, 1e-12
"""A positive number of nats that has a logarithm, and an NLL below which there is nothing."""


class Proposal(NamedTuple):
    """The theta to evaluate next, in the unit cube, `d`, and what it is hoped to do."""

    unit: FloatArray
    purpose: str


Acquisition = Callable[[FittedSurrogate, np.random.Generator], Proposal]


class MarginalLogEI(LogExpectedImprovement):
    """BoTorch's log expected improvement on a surrogate, where evaluations succeed."""

    def __init__(self, surrogate: FittedSurrogate) -> None:
        super().__init__(MarginalModel(surrogate), best_f=surrogate.best_nll, maximize=False)
        self.surrogate = surrogate

    def _mean_and_sigma(
        self, X: Tensor, compute_sigma: bool = True, min_var: float = 1e-12
    ) -> tuple[Tensor, Tensor]:
        return self.surrogate.marginals(X.squeeze(-2))

    def forward(self, X: Tensor) -> Tensor:
        return self.surrogate.feasibility.worth(X.squeeze(-2), super().forward(X))


class ResolvePosterior(AnalyticAcquisitionFunction):
    """How uncertain the posterior over rewards is at a theta, at the temperature that is worst.

    With `N` demonstrations, the density `exp(-N NLL)` at a theta lies between
    `exp(-N (m - s))` and `exp(-N (m + s))`, one standard deviation either way. With the NLL taken
    from the best, `y = N (m - best)`, and `x = N s`, the difference is `2 sinh(x) exp(-y)`: the
    density is uncertain where it is high, or may well be. Where it is resolved, the same question
    is asked of `exp(-t N NLL)` for the temperature below one at which this is largest:

        max over 0 < t <= 1 of log(2 sinh(t x)) - t y.

    So the search goes for what may be the optimum as long as there is such a theta (`x > y`), then
    for nats near the optimum, and for a share of the NLL far away from it. What is known to be
    better than the best is worth having, too: the expected improvement, in nats, is added. No
    constant is involved. A prior over theta is part of the density: `y` is then the distance from
    the best in `N NLL - log prior`. `s` is the part of the standard deviation that one more
    evaluation would remove: under noise, and where evaluations are too far from the best to be
    explained closely, that is not all of it.
    """

    def __init__(self, surrogate: FittedSurrogate) -> None:
        super().__init__(MarginalModel(surrogate))
        self.surrogate = surrogate

    def forward(self, X: Tensor) -> Tensor:
        unit, n = X.squeeze(-2), self.surrogate.n_demonstrations
        mean, sd = self.surrogate.marginals(unit)
        x, y = n * self.surrogate.removable_sd(mean, sd), self.surrogate.nats_above_best(unit, mean)
        return self.surrogate.feasibility.worth(unit, worth(x.clamp_min(LEAST_X), y))


def log_ei(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """The theta with the highest expected improvement."""
    unit, _ = maximise(MarginalLogEI(surrogate), surrogate.best_unit, rng, SMALLEST_GAIN)
    return Proposal(unit, "improve")


def resolve(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """The theta where the posterior over rewards is least certain; now and then a check.

    Without gradients, what the projection takes for likely comes first.
    """
    return (_check(surrogate, rng) if surrogate.has_gradients else None) or sharpen(surrogate, rng)


def sharpen(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """`resolve` without checks."""
    early = surrogate.size < LIKELY_UNTIL * surrogate.box.dimension
    likely = _likely(surrogate) if early and not surrogate.has_gradients else None
    if likely is not None:
        return likely
    better = _better(surrogate) if surrogate.has_gradients else None
    if better is not None:
        return better
    unit, _ = maximise(ResolvePosterior(surrogate), surrogate.best_unit, rng, SMALLEST_GAIN)
    with torch.no_grad():
        removable = surrogate.removable_sd(*surrogate.marginals(torch.tensor(unit[None])))
    if float(removable) > NOTHING:
        return Proposal(unit, "resolve")
    return Proposal(least_predicted(surrogate, rng), "resolve")


def _check(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal | None:
    """A theta drawn from all over the box, at evaluations 9, 16, 25, 36 and so on.

    A search goes where the surrogate is uncertain. Where it is certain and wrong, only evaluations
    that it did not ask for tell. The square root of all evaluations is as many as ever more need,
    and an ever smaller share. Before there are two evaluations per parameter, there is nothing yet
    to check.
    """
    number, dimension = surrogate.size + 1, surrogate.box.dimension
    if math.isqrt(number) ** 2 != number or surrogate.size < 2 * dimension:
        return None
    unit = rng.random((SAMPLES, dimension))
    succeeding = np.flatnonzero(surrogate.feasibility.is_likely(unit))
    return Proposal(unit[succeeding[0]], "check") if len(succeeding) else None


def least_predicted(surrogate: FittedSurrogate, rng: np.random.Generator) -> FloatArray:
    """Of points all over the unit cube, the one where the posterior is least well predicted, `d`:
    for where the process has nothing left to learn."""
    unit = torch.tensor(qmc.Sobol(surrogate.box.dimension, rng=rng).random(SAMPLES))
    with torch.no_grad():
        mean, sd = surrogate.marginals(unit)
        x = surrogate.n_demonstrations * surrogate.predictive_sd(mean, sd)
        value = worth(x.clamp_min(LEAST_X), surrogate.nats_above_best(unit, mean))
        best = int(surrogate.feasibility.worth(unit, value).argmax())
    found: FloatArray = unit[best].numpy()
    return found


def _better(surrogate: FittedSurrogate) -> Proposal | None:
    """The lowest expected NLL downhill from the best, where the improvement is worth having.

    It is no farther away than a descent would go in one step. With many parameters and few
    evaluations the lowest expected NLL is at the other end of the box, where nothing is known.
    Along a narrow valley it is too close: the expected NLL rises again where the process knows
    little. A quasi-Newton step is taken in its place if the expected improvement there is larger.

    What is known to be better teaches nothing of the posterior, yet the best evaluation is part of
    the answer: it should be within a hundredth of the tolerance of a likelihood-ratio test. Where
    there are constraints, the way down ends at their border, see `best_inside`; before there is a
    solution, any is worth having.
    """
    n, box = surrogate.n_demonstrations, surrogate.box
    least = WORTH * likelihood_ratio_tolerance(n, box.dimension)
    # Until no more is gained than a tenth of that, in nats.
    enough = 0.1 * n * least
    if has_limits(surrogate):
        unit, step = best_inside(surrogate, enough), None
    else:
        unit, step = _below(surrogate, enough), quasi_newton_step(surrogate, box, n)
    point = torch.tensor(unit[None])
    with torch.no_grad():
        if has_solution(surrogate):
            # Of the expected NLL: what the process cannot follow at the best is no gain.
            here, there = surrogate.mean(torch.tensor(np.stack([surrogate.best_unit, unit])))
            gain = (here - there).clamp_min(0.0).log()
            worth_it = float(surrogate.feasibility.worth(point, gain[None])) > math.log(least)
        else:
            worth_it = float(surrogate.feasibility.log_probability(point)) > -math.inf
        if worth_it and step is not None:
            both = torch.tensor(np.stack([unit, step])).unsqueeze(-2)
            unit = (unit, step)[int(MarginalLogEI(surrogate)(both).argmax())]
    return Proposal(unit, "improve") if worth_it else None


def _below(surrogate: FittedSurrogate, enough: float) -> FloatArray:
    """The lowest expected NLL downhill from the best, in the unit cube, `d`."""

    def loss(unit: FloatArray) -> tuple[float, FloatArray]:
        leaf = torch.tensor(unit[None], requires_grad=True)
        mean = surrogate.mean(leaf)
        (slopes,) = torch.autograd.grad(mean.sum(), leaf)
        return n * float(mean.detach()), n * slopes[0].numpy()

    n, best = surrogate.n_demonstrations, surrogate.best_unit
    share = enough / max(n * abs(surrogate.best_nll), 1.0)
    found = minimize(
        loss,
        best,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(best),
        options={"ftol": share},
    )
    step = np.clip(found.x, 0.0, 1.0) - best
    return best + step * min(1.0, LONGEST_STEP / max(float(np.linalg.norm(step)), LONGEST_STEP))


def _likely(surrogate: FittedSurrogate) -> Proposal | None:
    """The theta under which the demonstrations beat other policies most clearly, where it is new.

    It would be the demonstrator's if the policies compared with were all there is. Where it is not,
    its own policy shows it: under theta it beats the demonstrations. Each such proposal thus cuts
    a part off the box, whatever the NLL looks like there.
    """
    likeliest = surrogate.projection.likeliest(surrogate.box)
    if likeliest is None:
        return None
    distances = np.linalg.norm(surrogate.box.to_unit(surrogate.thetas) - likeliest, axis=1)
    return Proposal(likeliest, "likely") if distances.min() > MIN_NOVELTY else None


def random(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """Uniform over the box, whatever is known."""
    return Proposal(rng.random(surrogate.box.dimension), "random")


ACQUISITIONS: Registry[Acquisition] = Registry("acquisition", "boirl.acquisitions")
"""The acquisitions of searches, by name."""

ACQUISITIONS.register("resolve", resolve)
ACQUISITIONS.register("log-ei", log_ei)
ACQUISITIONS.register("random", random)
