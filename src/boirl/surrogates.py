"""Gaussian processes for NLL(theta), on theta itself or in the space of a projection."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from botorch.exceptions import BotorchWarning
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import ChainedInputTransform, InputTransform, Normalize
from botorch.models.transforms.outcome import Standardize
from botorch.optim.fit import fit_gpytorch_mll_scipy
from gpytorch.constraints import GreaterThan
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.cholesky import psd_safe_cholesky
from linear_operator.utils.errors import NanError, NotPSDError
from linear_operator.utils.warnings import NumericalWarning
from torch import Tensor

from boirl.kernels import Amplitudes, KernelSpec
from boirl.projections.base import SATURATED_RANGE, Projection
from boirl.types import Box, FloatArray
from boirl.warping import SCALES, Compress, OutputScale, Scale

NOISE_FLOOR = 1e-6
"""Smallest noise variance of standardised outputs. Rewards that fall on one point of the latent
space are normal here; without a floor their covariance is singular."""

COLD_FIT_STEPS = 100
WARM_FIT_STEPS = 15
Hyperparameters = dict[str, float]
FLOOR = "noise_floor"
SCALE = "scale"
CHOSEN_AT = "scale_chosen_at"

LOG_SCALE_ODDS = 5.0
"""How much more probable, in nats, the log scale is beforehand where the projection calls for it,
and less probable where it does not."""

CHOOSE_SCALE_FROM = 6
CHOOSE_AGAIN = 1.5
"""With fewer evaluations the scale is linear; with half as many more it is chosen anew."""


@contextmanager
def single_thread() -> Iterator[None]:
    """Run torch on one thread: faster for small matrices, and the same sums on every machine.

    The number of threads is a setting of the whole process, restored afterwards.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@dataclass(frozen=True, eq=False)
class FittedSurrogate:
    """A Gaussian process that has seen evaluations.

    Expected improvement of single candidates, maps and tables need marginals alone. BoTorch's
    `posterior` builds an `(n + 1) x (n + 1)` covariance for each candidate; `marginals` needs
    `n` kernel values and everything else is computed once. `make bench` measures the difference.
    """

    model: SingleTaskGP
    kernel: KernelSpec
    projection: Projection
    latent_range: Tensor
    box: Box
    scale: Scale
    scale_chosen_at: int
    output: OutputScale
    thetas: FloatArray
    nll: FloatArray

    def posterior(self, thetas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the NLL at thetas `n x d`, each `n`.

        On the log scale the mean is that of the logarithm, brought back: a median.
        """
        with torch.no_grad(), single_thread():
            mean, sd = self.marginals(torch.tensor(self.box.to_unit(thetas)))
        return self.output.back(mean.numpy(), sd.numpy())

    def marginals(self, unit: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and sd of the output, differentiable, at points `n x d` of the unit cube."""
        at = self._to_latent(unit)
        latent, weights, inverse_factor, mean = self._solved
        cross = self.kernel.covariance(at, latent, self._amplitudes)
        explained = (cross @ inverse_factor.mT).square().sum(dim=-1)
        variance = (self.kernel.variance(at, self._amplitudes) - explained).clamp_min(1e-12)
        return (
            self.output_centre + self.output_scale * (mean + cross @ weights),
            self.output_scale * variance.sqrt(),
        )

    @property
    def size(self) -> int:
        """Number of evaluations seen."""
        return len(self.nll)

    @property
    def _standardize(self) -> Any:
        return self.model.outcome_transform

    @cached_property
    def output_centre(self) -> float:
        """The output that the standardised output 0 stands for."""
        return float(self._standardize.means)

    @cached_property
    def output_scale(self) -> float:
        """The difference of outputs that one unit of the standardised ones stands for."""
        return float(self._standardize.stdvs)

    @property
    def best_output(self) -> float:
        """The output of the lowest NLL."""
        return float(self.output.forward(self.nll.min()))

    @property
    def resolution(self) -> float:
        """The difference of outputs that is within the noise which is always assumed."""
        return math.sqrt(NOISE_FLOOR) * self.output_scale

    @property
    def nll_per_output(self) -> float:
        """Difference of NLLs that a small difference of outputs stands for, at the best."""
        return math.exp(-float(self.output.log_slopes(self.nll.min())))

    def evidence(self) -> float:
        """Log probability of the evaluations' NLLs, comparable between scales.

        No more precise than the noise floor of the linear scale: what lies closer together than
        that does not matter, though a logarithm may tell it apart.
        """
        latent, _, _, mean = self._solved
        covariance = self.kernel.covariance(latent, latent, self._amplitudes)
        log_slopes = self.output.log_slopes(self.nll)
        floor = NOISE_FLOOR * (self.nll.std() * np.exp(log_slopes) / self.output_scale) ** 2
        noise = np.maximum(floor, self.model.likelihood.noise.item())
        density = torch.distributions.MultivariateNormal(
            torch.full((self.size,), mean, dtype=latent.dtype),
            covariance.detach() + torch.diag(torch.tensor(noise)),
        )
        probability = float(density.log_prob(self.model.train_targets))
        return probability + float(log_slopes.sum()) - self.size * math.log(self.output_scale)

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Unconstrained hyperparameters, for a warm start or a file."""
        values = {name: float(value.detach()) for name, value in self.model.named_parameters()}
        return {
            **values,
            SCALE: float(SCALES.index(self.scale)),
            CHOSEN_AT: float(self.scale_chosen_at),
            FLOOR: float(self.model.likelihood.noise_covar.raw_noise_constraint.lower_bound),
        }

    @cached_property
    def _amplitudes(self) -> Amplitudes:
        return self.kernel.amplitudes(self.model.covar_module)

    @cached_property
    def _solved(self) -> tuple[Tensor, Tensor, Tensor, float]:
        """Latent inputs, `K^-1 (y - m)`, the inverse Cholesky factor of `K`, and `m`."""
        with torch.no_grad():
            latent = self.model.eval().train_inputs[0]
            noisy = self.kernel.covariance(latent, latent, self._amplitudes)
            noisy = noisy + self.model.likelihood.noise * torch.eye(len(latent), dtype=noisy.dtype)
            factor = psd_safe_cholesky(noisy)
            mean = self.model.mean_module.constant.item()
            weights = torch.cholesky_solve((self.model.train_targets - mean)[:, None], factor)
            inverse = torch.linalg.solve_triangular(
                factor, torch.eye(len(latent), dtype=noisy.dtype), upper=False
            )
        return latent, weights[:, 0], inverse, mean

    @cached_property
    def _scaling(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        box_low, box_high = torch.tensor(self.box.low), torch.tensor(self.box.high)
        low, high = self.latent_range
        return box_low, box_high - box_low, low, high - low

    def _to_latent(self, unit: Tensor) -> Tensor:
        low, width, latent_low, latent_width = self._scaling
        latent = self.projection.project(low + width * unit)
        if self.scale == "log":
            latent = self.projection.compress(latent)
        return (latent - latent_low) / latent_width


class Surrogate:
    """Turns evaluations into a fitted Gaussian process.

    Args:
        kernel: Which covariance.
        projection: From theta to the inputs of the kernel.
        box: The rewards under consideration.
        scale: `"linear"`, `"log"` (see `boirl.warping`), or `"auto"`: whichever is more probable
            given the projection and the evaluations.
    """

    def __init__(
        self,
        kernel: KernelSpec,
        projection: Projection,
        box: Box,
        scale: Scale | Literal["auto"] = "auto",
    ) -> None:
        self.kernel = kernel
        self.projection = projection
        self.box = box
        self.scale = scale
        latent_range = projection.range_over(box)
        self._log_odds = LOG_SCALE_ODDS * projection.calls_for_compression(latent_range)
        self._latent_ranges = {
            "linear": _with_some_width(latent_range),
            "log": _with_some_width(projection.compress(latent_range)),
        }

    def build(
        self,
        thetas: FloatArray,
        nll: FloatArray,
        hyperparameters: Mapping[str, float] | None = None,
        noise_floor: float | None = None,
        scale: Scale | None = None,
    ) -> FittedSurrogate:
        """The process with given hyperparameters, or the default ones; nothing is fitted."""
        given = hyperparameters or {}
        floor = given.get(FLOOR, NOISE_FLOOR) if noise_floor is None else noise_floor
        scale = scale or self._scale_of(given)
        output = OutputScale.of(scale, nll)
        likelihood = GaussianLikelihood(noise_constraint=GreaterThan(floor))
        likelihood.noise = 100.0 * floor
        bounds = torch.tensor(np.stack([self.box.low, self.box.high]))
        inputs: dict[str, InputTransform] = {
            "unit_to_theta": Normalize(self.box.dimension, bounds=bounds, reverse=True),
            "projection": self.projection,
        }
        if scale == "log":
            inputs["compress"] = Compress(self.projection)
        inputs["scale"] = Normalize(self.projection.dimension, bounds=self._latent_ranges[scale])
        with warnings.catch_warnings():
            # BoTorch warns of outputs that are all alike, which happens and does no harm.
            warnings.simplefilter("ignore", BotorchWarning)
            model = SingleTaskGP(
                torch.tensor(self.box.to_unit(thetas)),
                torch.tensor(output.forward(nll)).unsqueeze(-1),
                likelihood=likelihood,
                covar_module=self.kernel.build(),
                input_transform=ChainedInputTransform(**inputs),
                outcome_transform=Standardize(1),
            )
        with torch.no_grad():
            for name, value in model.named_parameters():
                value.fill_(given.get(name, float(value.detach())))
        return FittedSurrogate(
            model=model.eval(),
            kernel=self.kernel,
            projection=self.projection,
            latent_range=self._latent_ranges[scale],
            box=self.box,
            scale=scale,
            scale_chosen_at=int(given.get(CHOSEN_AT, len(nll))),
            output=output,
            thetas=thetas,
            nll=nll,
        )

    def fit(
        self,
        thetas: FloatArray,
        nll: FloatArray,
        warm_start: Mapping[str, float] | None = None,
    ) -> FittedSurrogate:
        """The process with the most probable hyperparameters.

        A single evaluation teaches none, so the defaults stay. Where the covariance cannot be
        factorised, the noise floor is raised until it can.
        """
        if len(thetas) < 2:
            return self.build(thetas, nll)
        warm = warm_start or {}
        last = self._scale_of(warm)
        if self.scale != "auto" or len(nll) < max(
            CHOOSE_SCALE_FROM, CHOOSE_AGAIN * warm.get(CHOSEN_AT, 0)
        ):
            return self._fit(thetas, nll, last, warm)
        # The scale is chosen anew; only the one in use has hyperparameters to start from.
        fits = [
            self._fit(thetas, nll, scale, _without_choice(warm) if scale == last else {})
            for scale in SCALES
        ]
        linear, log = (fitted.evidence() for fitted in fits)
        return fits[int(log + self._log_odds > linear)]

    def _fit(
        self, thetas: FloatArray, nll: FloatArray, scale: Scale, warm_start: Mapping[str, float]
    ) -> FittedSurrogate:
        for floor in (NOISE_FLOOR, 1e-4, 1e-2):
            warm = warm_start if floor == NOISE_FLOOR else {}
            steps = WARM_FIT_STEPS if warm else COLD_FIT_STEPS
            fitted = self.build(thetas, nll, warm, floor, scale)
            model = fitted.model.train()
            try:
                with warnings.catch_warnings(), single_thread():
                    # A warm fit that stops early goes on from there at the next evaluation.
                    warnings.simplefilter("ignore", BotorchWarning)
                    warnings.simplefilter("ignore", NumericalWarning)
                    fit_gpytorch_mll_scipy(
                        ExactMarginalLogLikelihood(model.likelihood, model),
                        options={"maxiter": steps},
                    )
                fitted.posterior(thetas[:1])
            except (NotPSDError, NanError, torch.linalg.LinAlgError):
                continue
            return fitted
        return self.build(thetas, nll, noise_floor=1e-2, scale=scale)

    def _scale_of(self, hyperparameters: Mapping[str, float]) -> Scale:
        if self.scale != "auto":
            return self.scale
        return SCALES[int(hyperparameters.get(SCALE, 0))]


def _with_some_width(latent_range: Tensor) -> Tensor:
    """The range `2 x K`, but for flat coordinates: their rounding must not be blown up."""
    low, high = latent_range
    return torch.stack([low, torch.where(high - low <= SATURATED_RANGE, low + 1.0, high)])


def _without_choice(hyperparameters: Mapping[str, float]) -> Hyperparameters:
    return {name: value for name, value in hyperparameters.items() if name != CHOSEN_AT}
