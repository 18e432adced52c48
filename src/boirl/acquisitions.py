"""Which theta to evaluate next.

An acquisition looks at a fitted surrogate and proposes a point of the unit cube. By name:

- `log-ei`: expected improvement in its log form, as in the paper;
- `improve-explore` (default): the same as long as an improvement is in sight. Where the expected
  improvement has sunk below what the surrogate can resolve, another look at the best spot
  teaches nothing. Evaluations then go to where the landscape is least known and, every third, to
  where the NLL may be lowest;
- `random`: uniform over the box, the surrogate ignored.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from botorch.acquisition import AnalyticAcquisitionFunction, LogExpectedImprovement
from botorch.generation import gen_candidates_scipy
from scipy.stats import qmc
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.surrogates import NOISE_FLOOR, FittedSurrogate
from boirl.types import FloatArray

RAW_SAMPLES = 1024
LOCAL_SAMPLES = 64
LOCAL_RADIUS = 0.05
STARTS = 16
GRADIENT_STEPS = 8
LINE_SEARCH_STEPS = 3
OPTIMISM = 3.0
HOPELESS = 1.0
"""How far below what is worth having, in log units, the best of a sample is not climbed from."""


class Incumbent(NamedTuple):
    """The best evaluation so far: theta in the unit cube, `d`, and its NLL."""

    unit: FloatArray
    nll: float


class Proposal(NamedTuple):
    """The theta to evaluate next, in the unit cube, `d`, and what it is hoped to do."""

    unit: FloatArray
    purpose: str


Acquisition = Callable[[FittedSurrogate, Incumbent, np.random.Generator], Proposal]


class MarginalLogEI(LogExpectedImprovement):
    """BoTorch's log expected improvement on the fast marginals of a surrogate."""

    def __init__(self, surrogate: FittedSurrogate, best_nll: float) -> None:
        super().__init__(surrogate.model, best_f=best_nll, maximize=False)
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


class MarginalOptimism(AnalyticAcquisitionFunction):
    """How low the NLL may be: the lower end of a wide interval, with its sign changed."""

    def __init__(self, surrogate: FittedSurrogate) -> None:
        super().__init__(surrogate.model)
        self.surrogate = surrogate

    def forward(self, X: Tensor) -> Tensor:
        mean, sd = self.surrogate.marginals(X.squeeze(-2))
        return OPTIMISM * sd - mean


def log_ei(surrogate: FittedSurrogate, incumbent: Incumbent, rng: np.random.Generator) -> Proposal:
    """The theta with the highest expected improvement."""
    unit, _ = _most_improving(surrogate, incumbent, rng)
    return Proposal(unit, "improve")


def improve_explore(
    surrogate: FittedSurrogate, incumbent: Incumbent, rng: np.random.Generator
) -> Proposal:
    """The most improving theta or, where no improvement can be resolved, a telling one.

    The surrogate takes standardised outputs for noisy with at least the noise floor. An expected
    improvement below that standard deviation is within the noise. Evaluations then go to the theta
    that is least known and, every third, to the one that would be best if luck had it: a surrogate
    of the whole landscape may be a little off in the deepest valley.
    """
    resolution = math.log(math.sqrt(NOISE_FLOOR) * surrogate.output_scale)
    unit, log_improvement = _most_improving(surrogate, incumbent, rng, worth=resolution)
    if log_improvement > resolution:
        return Proposal(unit, "improve")
    if surrogate.size % 3 == 0:
        unit, _ = maximise(MarginalOptimism(surrogate), incumbent, rng)
        return Proposal(unit, "hope")
    unit, _ = maximise(MarginalSD(surrogate), incumbent, rng)
    return Proposal(unit, "explore")


def random(surrogate: FittedSurrogate, incumbent: Incumbent, rng: np.random.Generator) -> Proposal:
    """Uniform over the box, whatever is known."""
    return Proposal(rng.random(len(incumbent.unit)), "random")


ACQUISITIONS: dict[str, Acquisition] = {
    "improve-explore": improve_explore,
    "log-ei": log_ei,
    "random": random,
}


def get_acquisition(name: str) -> Acquisition:
    """The acquisition of this name."""
    if name not in ACQUISITIONS:
        raise InvalidInputError(
            f"there is no acquisition {name!r}; expected one of {', '.join(ACQUISITIONS)}"
        )
    return ACQUISITIONS[name]


def maximise(
    acquisition: AnalyticAcquisitionFunction,
    incumbent: Incumbent,
    rng: np.random.Generator,
    worth: float = -math.inf,
) -> tuple[FloatArray, float]:
    """The best point of the unit cube, `d`, and its value, by gradients from many starts.

    A Sobol sample and a cloud around the incumbent are ranked without gradients. L-BFGS then
    climbs from the best of them, and from some of the others lest all lie on one hill. Where
    even the best of the sample is hopelessly below `worth`, climbing is left out.
    """
    dimension = len(incumbent.unit)
    spread = qmc.Sobol(dimension, rng=rng).random(RAW_SAMPLES)
    cloud = incumbent.unit + LOCAL_RADIUS * rng.standard_normal((LOCAL_SAMPLES, dimension))
    raw = torch.tensor(np.concatenate([spread, np.clip(cloud, 0.0, 1.0)])).unsqueeze(-2)
    with torch.no_grad():
        raw_values = acquisition(raw)
    ranking = raw_values.argsort(descending=True, stable=True)
    best_raw = raw[ranking[0], 0].numpy(), float(raw_values[ranking[0]])
    if best_raw[1] < worth - HOPELESS:
        return best_raw
    others = STARTS // 2 + rng.permutation(len(raw) - STARTS // 2)[: STARTS // 2]
    starts = torch.cat([ranking[: STARTS // 2], ranking[torch.tensor(others)]])
    with warnings.catch_warnings(record=True):
        # Climbs that end at the step limit, or where rounding hides the slope, end well enough.
        # BoTorch warns of them under a filter of its own, so they are recorded and dropped.
        candidates, values = gen_candidates_scipy(
            raw[starts],
            acquisition,
            lower_bounds=0.0,
            upper_bounds=1.0,
            options={"maxiter": GRADIENT_STEPS, "maxls": LINE_SEARCH_STEPS},
        )
    best = int(values.argmax())
    if float(values[best]) < best_raw[1]:
        return best_raw
    return candidates[best, 0].detach().numpy(), float(values[best])


def _most_improving(
    surrogate: FittedSurrogate,
    incumbent: Incumbent,
    rng: np.random.Generator,
    worth: float = -math.inf,
) -> tuple[FloatArray, float]:
    return maximise(MarginalLogEI(surrogate, incumbent.nll), incumbent, rng, worth)
