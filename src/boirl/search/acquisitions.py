"""Which theta to evaluate next.

An acquisition looks at a fitted surrogate and proposes a point of the unit cube. By name:

- `improve-explore` (default): expected improvement as long as one is in sight. Where it has sunk
  below what the surrogate can resolve, another look at the best spot teaches nothing. Evaluations
  then take turns: where the NLL may be lowest, the border of the set of good rewards, and twice
  where the landscape is least known.
  Once there are a few evaluations per parameter, every other one may refine the best with a
  close-up of its surroundings, and every sixth sharpens the border of the set of good rewards.
  Before that, whenever roll-outs of policies already found have joined the projection, the next
  evaluation is of the reward under which the demonstrations beat them most clearly;
- `log-ei`: expected improvement alone, in its log form, as in the paper;
- `level-set`: the theta for which it is most doubtful whether it belongs to the set of good
  rewards, within 10 % of the best and within 1 % by turns;
- `set-sampling`: the least known member of a set of good rewards that the evaluations leave
  possible, drawn from the posterior;
- `random`: uniform over the box, the surrogate ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from botorch.acquisition import AnalyticAcquisitionFunction, LogExpectedImprovement
from scipy.stats import qmc
from torch import Tensor

from boirl.maximise import maximise
from boirl.projections import Identity
from boirl.registry import Registry
from boirl.surrogate.fitting import FittedSurrogate, Surrogate
from boirl.surrogate.kernels import KERNELS
from boirl.types import Box, FloatArray

OPTIMISM = 3.0
SETTLED, SETTLED_IN_NOISE = 3, 8
"""Evaluations per parameter after which proposals take turns."""

ROLES = ("refine", "improve", "refine", "improve", "refine", "bound")
"""Whose turn it is. Roles with no useful proposal fall back to `improve`."""

REFINEMENT = 0.25
"""A close-up resolves more than the surrogate of the whole box: an improvement of this share of
the latter's resolution is worth an evaluation. Noise, though, is the same from close up."""

MAX_STALLED_EVALUATIONS = 12
"""A best that this many evaluations have not improved is not refined any more."""

LEAST_REACH = 1e-3
"""How far a close-up reaches at least, as a share of the box."""

TOLERANCES = (0.1, 0.01)
"""How far above the best, relative to it, the borders of the sets of good rewards lie."""

ROUNDED_OFF = 0.1
"""Standard deviations within which a distance from the limit is taken for none."""

FALLBACK_CYCLE = ("lcb", "bound", "explore", "explore")
"""What evaluations that no improvement asks for are spent on."""

SAMPLED_THETAS = 512
"""Thetas at which a landscape is drawn."""

MIN_NOVELTY = 0.01
"""A theta that is farther than this share of the box from all evaluations is a new one."""


class Proposal(NamedTuple):
    """The theta to evaluate next, in the unit cube, `d`, and what it is hoped to do."""

    unit: FloatArray
    purpose: str


Acquisition = Callable[[FittedSurrogate, np.random.Generator], Proposal]


class MarginalLogEI(LogExpectedImprovement):
    """BoTorch's log expected improvement on the fast marginals of a surrogate.

    On the best output that the surrogate knows, or on another one.
    """

    def __init__(self, surrogate: FittedSurrogate, best: float | None = None) -> None:
        best = surrogate.best_output if best is None else best
        super().__init__(surrogate.model, best_f=best, maximize=False)
        self.surrogate = surrogate

    def _mean_and_sigma(
        self, X: Tensor, compute_sigma: bool = True, min_var: float = 1e-12
    ) -> tuple[Tensor, Tensor]:
        return self.surrogate.marginals(X.squeeze(-2))


class MarginalSD(AnalyticAcquisitionFunction):
    """The standard deviation of the posterior: how little is known at a theta."""

    def __init__(self, surrogate: FittedSurrogate) -> None:
        super().__init__(surrogate.model)
        self.surrogate = surrogate

    def forward(self, X: Tensor) -> Tensor:
        return self.surrogate.marginals(X.squeeze(-2))[1]


class MarginalDoubt(AnalyticAcquisitionFunction):
    """How doubtful it is whether the NLL is within a limit."""

    def __init__(self, surrogate: FittedSurrogate, tolerance: float) -> None:
        super().__init__(surrogate.model)
        self.surrogate = surrogate
        best = surrogate.denoised_nll.min()
        self.limit = float(surrogate.output.forward(best + tolerance * abs(best)))

    def forward(self, X: Tensor) -> Tensor:
        mean, sd = self.surrogate.marginals(X.squeeze(-2))
        # Rounded off where the mean is at the limit, or climbing stalls on the edge.
        distance = ((mean - self.limit).square() + (ROUNDED_OFF * sd).square()).sqrt()
        return 1.96 * sd - distance


class MarginalOptimism(AnalyticAcquisitionFunction):
    """How low the NLL may be: the lower end of a wide interval, with its sign changed."""

    def __init__(self, surrogate: FittedSurrogate) -> None:
        super().__init__(surrogate.model)
        self.surrogate = surrogate

    def forward(self, X: Tensor) -> Tensor:
        mean, sd = self.surrogate.marginals(X.squeeze(-2))
        return OPTIMISM * sd - mean


def log_ei(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """The theta with the highest expected improvement."""
    unit, _ = maximise(MarginalLogEI(surrogate), surrogate.best_unit, rng)
    return Proposal(unit, "improve")


def improve_explore(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """The most improving theta or, where no improvement can be resolved, an informative one.

    The surrogate takes standardised outputs for noisy with at least the noise floor. An expected
    improvement below that standard deviation, or a quarter of that of noisier evaluations, is
    within the noise. Evaluations then go to the theta that is least known, to the border of the
    set of good rewards and, as a surrogate of the whole landscape may be a little off in the
    deepest valley, to the one with the lowest confidence bound.
    """
    enough = SETTLED_IN_NOISE if surrogate.noisy else SETTLED
    settled = surrogate.size >= enough * surrogate.box.dimension
    likely = None if settled else _likely(surrogate)
    if likely is not None:
        return likely
    role = ROLES[surrogate.size % len(ROLES)] if settled else "improve"
    if role == "refine":
        refined = _refine(surrogate, rng)
        if refined is not None:
            return refined
    if role == "bound":
        wide, narrow = TOLERANCES
        return _bound(surrogate, rng, wide if surrogate.size // len(ROLES) % 2 else narrow)
    resolution = math.log(surrogate.resolution)
    best = surrogate.best_unit
    unit, log_improvement = maximise(MarginalLogEI(surrogate), best, rng, worth=resolution)
    if log_improvement > resolution:
        return Proposal(unit, "improve")
    turn = FALLBACK_CYCLE[surrogate.size % len(FALLBACK_CYCLE)]
    if turn == "bound":
        return _bound(surrogate, rng, TOLERANCES[1])
    informative = MarginalOptimism if turn == "lcb" else MarginalSD
    unit, _ = maximise(informative(surrogate), best, rng)
    return Proposal(unit, turn)


def _bound(surrogate: FittedSurrogate, rng: np.random.Generator, tolerance: float) -> Proposal:
    """The theta for which it is most doubtful whether it is within a tolerance of the best."""
    doubt = MarginalDoubt(surrogate, tolerance)
    return Proposal(maximise(doubt, surrogate.best_unit, rng)[0], "bound")


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


def _refine(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal | None:
    """The most improving theta for a close-up; None where no improvement is in sight.

    A close-up is a surrogate of the best evaluations alone, on theta itself, in the part of the box
    around the best that they span: near a minimum, the NLL is smooth in theta whatever the
    projection makes of it. The best are the better half, or as many as a quadratic function has
    coefficients and a few more. The surrogate of the whole box, which knows the others, has a veto.

    Where evaluations are noisy, the whole surrogate says which are the best, not the lucky
    ones, and the improvement is one on the lowest posterior mean of the close-up.
    """
    share = 1.0 if surrogate.noisy else REFINEMENT
    worth = share * surrogate.resolution * surrogate.nll_per_output
    as_good = surrogate.denoised_nll <= surrogate.denoised_nll.min() + worth
    if surrogate.size - int(as_good.argmax()) > MAX_STALLED_EVALUATIONS:
        return None
    box, dimension = surrogate.box, surrogate.box.dimension
    enough = (dimension + 1) * (dimension + 2) // 2 + dimension
    count = min(enough, max(dimension + 2, surrogate.size // 2))
    best = np.argsort(surrogate.denoised_nll, kind="stable")[:count]
    thetas, nll, nll_se = surrogate.thetas[best], surrogate.nll[best], surrogate.nll_se[best]
    reach = np.maximum(np.abs(thetas - thetas[0]).max(axis=0), LEAST_REACH * (box.high - box.low))
    low, high = np.maximum(box.low, thetas[0] - reach), np.minimum(box.high, thetas[0] + reach)
    part = Box(box.names, low, high)
    close_up = Surrogate(KERNELS["rbf"], Identity(part), part, "linear").fit(
        thetas, nll, nll_se=nll_se
    )
    lowest = float((close_up.posterior(thetas)[0] if surrogate.noisy else nll).min())
    local, log_improvement = maximise(MarginalLogEI(close_up, lowest), part.to_unit(thetas[0]), rng)
    if log_improvement <= math.log(worth):
        return None
    unit = np.clip(box.to_unit(part.from_unit(local)), 0.0, 1.0)
    with torch.no_grad():
        lcb = float(MarginalOptimism(surrogate)(torch.tensor(unit).reshape(1, 1, -1)))
    return Proposal(unit, "refine") if lcb > -surrogate.best_output else None


def level_set(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """The theta for which it is most doubtful whether it is in the set of good rewards."""
    return _bound(surrogate, rng, TOLERANCES[surrogate.size % len(TOLERANCES)])


def set_sampling(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """The least known theta of a set of good rewards, as it may be.

    A landscape is drawn from the posterior at many thetas. Those within a tolerance of the lowest
    of it are the set.
    """
    unit = qmc.Sobol(surrogate.box.dimension, rng=rng).random(SAMPLED_THETAS)
    thetas = surrogate.box.from_unit(unit)
    landscape = surrogate.sample(thetas, 1, rng)[0]
    tolerance = TOLERANCES[surrogate.size % len(TOLERANCES)]
    lowest = float(landscape.min())
    members = np.flatnonzero(landscape <= lowest + tolerance * abs(lowest))
    _, sd = surrogate.posterior(thetas[members])
    return Proposal(unit[members[sd.argmax()]], "bound")


def random(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """Uniform over the box, whatever is known."""
    return Proposal(rng.random(surrogate.box.dimension), "random")


ACQUISITIONS: Registry[Acquisition] = Registry("acquisition", "boirl.acquisitions")
"""The acquisitions of searches, by name."""

ACQUISITIONS.register("improve-explore", improve_explore)
ACQUISITIONS.register("log-ei", log_ei)
ACQUISITIONS.register("level-set", level_set)
ACQUISITIONS.register("set-sampling", set_sampling)
ACQUISITIONS.register("random", random)
