"""A Gaussian process that has seen evaluations: what it expects elsewhere, and how surely."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from botorch.models import SingleTaskGP
from linear_operator.utils.cholesky import psd_safe_cholesky
from linear_operator.utils.warnings import NumericalWarning
from scipy.stats import norm
from torch import Tensor

from boirl.projections.base import Projection
from boirl.surrogate.kernels import KernelParams, KernelSpec
from boirl.surrogate.noise import NOISE_FLOOR, NoiseModel
from boirl.surrogate.prior import PriorLine, as_line
from boirl.surrogate.warping import SCALES, OutputScale, Scale
from boirl.threads import single_thread
from boirl.types import Box, FloatArray

NOISY_PROJECTED = 4e2
NOISY = 1e4
"""Learned noise of so many times its floor is taken for noise of the evaluations. That is 2 % of
the spread of outputs for kernels on the projection and 10 % for those on theta, which leave part of
an exact landscape unexplained."""

SAMPLING_JITTER = 0.01 * NOISE_FLOOR
"""Added to the variance of sampled landscapes, so that their covariance is not singular."""

RESOLVED = 0.25
"""The share of the standard deviation of the noise below which an improvement is not resolved."""

Hyperparameters = dict[str, float]
FLOOR = "noise_floor"
SCALE = "scale"
CHOSEN_AT = "scale_chosen_at"


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
    nll_se: FloatArray
    given_noise: Tensor
    unknown_noise: Tensor
    _last_marginals: dict[bytes, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    def posterior(
        self, thetas: FloatArray, observed: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the NLL at thetas `n x d`, each `n`.

        On the log scale the mean is that of the logarithm, brought back: a median.

        Args:
            thetas: Where.
            observed: Whether the standard deviation is that of an evaluation, its
                noise included, and not of the NLL itself.
        """
        mean, sd = self._marginals_at(thetas)
        if not observed:
            return self.output.back(mean, sd)
        unit = self.box.to_unit(thetas)
        learned = self._learned_sd * self._noise.is_unknown(unit)
        centre, spread = self.output.back(mean, np.hypot(sd, learned))
        return centre, np.hypot(spread, np.sqrt(self._given_variances(unit)))

    def interval(self, thetas: FloatArray, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper end of the interval that holds the NLL with a probability, each `n`."""
        half = float(norm.ppf(0.5 + 0.5 * level))
        mean, sd = self._marginals_at(thetas)
        return self.output.inverse(mean - half * sd), self.output.inverse(mean + half * sd)

    def _marginals_at(self, thetas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`marginals` of thetas, kept in case several measures look at them."""
        key = thetas.tobytes()
        if key not in self._last_marginals:
            with torch.no_grad(), single_thread():
                projected = self.projection.project_many(torch.tensor(thetas))
                at = self._scaled(projected, torch.tensor(self.box.to_unit(thetas)))
                mean, sd = self._marginals_of(at)
            self._last_marginals.clear()
            self._last_marginals[key] = mean.numpy(), sd.numpy()
        return self._last_marginals[key]

    def sample(self, thetas: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        """Landscapes that the evaluations leave possible: `n x n` NLLs at thetas `n x d`."""
        with torch.no_grad(), single_thread():
            at = self._to_latent(torch.tensor(self.box.to_unit(thetas)))
            latent, weights, inverse_factor = self._solved
            cross = self.kernel.covariance(at, latent, self._params)
            explained = cross @ inverse_factor.mT
            joint = self.kernel.covariance(at, at, self._params) - explained @ explained.mT
            factor = _factorise(joint, joint.new_full((len(at),), SAMPLING_JITTER))
            drawn = torch.tensor(rng.standard_normal((n, len(at)))) @ factor.mT
            standardised = self._prior(at) + cross @ weights + drawn
            outputs = self.output_centre + self.output_scale * standardised
        return self.output.inverse(outputs.numpy())

    def latent(self, thetas: FloatArray) -> FloatArray:
        """The points of the kernel's space, `n x K`, that thetas `n x d` stand for."""
        with torch.no_grad(), single_thread():
            latent = self._to_latent(torch.tensor(self.box.to_unit(thetas)))
            return latent[:, : self.projection.dimension].numpy()

    def marginals(self, unit: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and sd of the output, differentiable, at points `n x d` of the unit cube."""
        return self._marginals_of(self._to_latent(unit))

    def _marginals_of(self, at: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and sd of the output at latent points."""
        latent, weights, inverse_factor = self._solved
        cross = self.kernel.covariance(at, latent, self._params)
        explained = (cross @ inverse_factor.mT).square().sum(dim=-1)
        variance = (self.kernel.variance(at, self._params) - explained).clamp_min(1e-12)
        return (
            self.output_centre + self.output_scale * (self._prior(at) + cross @ weights),
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
    def noisy(self) -> bool:
        """Whether evaluations are so noisy that the lowest NLL may be a matter of luck."""
        return self.learns_noise or bool(self.given_noise.mean() > NOISE_FLOOR)

    @property
    def learns_noise(self) -> bool:
        """Whether the noise that was learned is more than what a poor fit looks like."""
        limit = NOISY_PROJECTED if self.kernel.projected else NOISY
        return bool(self.model.likelihood.noise.item() > limit * self._floor)

    @cached_property
    def denoised_nll(self) -> FloatArray:
        """NLLs to compare evaluations by, `n`: as evaluated or, under noise, posterior means."""
        return self.posterior(self.thetas)[0] if self.noisy else self.nll

    @property
    def best_index(self) -> int:
        """Number of the best evaluation, by its denoised NLL."""
        return int(self.denoised_nll.argmin())

    @property
    def best_unit(self) -> FloatArray:
        """The theta of the best evaluation, in the unit cube, `d`."""
        return self.box.to_unit(self.thetas[self.best_index])

    @property
    def best_output(self) -> float:
        """The output of the best evaluation's denoised NLL."""
        return float(self.output.forward(self.denoised_nll.min()))

    @property
    def resolution(self) -> float:
        """The difference of outputs that is within the noise, or the floor always assumed."""
        floor = math.sqrt(NOISE_FLOOR) * self.output_scale
        if not self.noisy:
            return floor
        best = self.box.to_unit(self.thetas[[self.best_index]])
        given = math.sqrt(float(self._given_variances(best)[0])) / self.nll_per_output
        return max(floor, RESOLVED * math.hypot(self._learned_sd, given))

    @property
    def nll_per_output(self) -> float:
        """Difference of NLLs that a small difference of outputs stands for, at the best."""
        return math.exp(-float(self.output.log_slopes(self.denoised_nll.min())))

    def _given_variances(self, unit: FloatArray) -> FloatArray:
        """Variances of evaluations at points of the unit cube, by the reported standard errors."""
        return self._noise.variances(unit)

    @cached_property
    def _noise(self) -> NoiseModel:
        return NoiseModel(self.nll, self.nll_se, self.box.to_unit(self.thetas))

    @property
    def _learned_sd(self) -> float:
        """Standard deviation of the learned noise of outputs."""
        return math.sqrt(self.model.likelihood.noise.item()) * self.output_scale

    @property
    def _floor(self) -> float:
        return float(self.model.likelihood.noise_covar.raw_noise_constraint.lower_bound)

    def evidence(self, precise: bool = False) -> float:
        """Log probability of the evaluations' NLLs, comparable between scales.

        No more precise than the noise floor of the linear scale: what lies closer together than
        that does not matter, though a logarithm may separate it. To compare kernels on one scale,
        `precise` counts it, too.
        """
        latent, _, _ = self._solved
        covariance = self.kernel.covariance(latent, latent, self._params)
        log_slopes = self.output.log_slopes(self.nll)
        floor = NOISE_FLOOR * (self.nll.std() * np.exp(log_slopes) / self.output_scale) ** 2
        given = self.given_noise.numpy()
        learned = self.model.likelihood.noise.item() * self.unknown_noise.numpy()
        noise = learned + given if precise else np.maximum(floor, learned + given)
        density = torch.distributions.MultivariateNormal(
            self._prior(latent), scale_tril=_factorise(covariance.detach(), torch.tensor(noise))
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
            FLOOR: self._floor,
        }

    @cached_property
    def _params(self) -> KernelParams:
        return self.kernel.params(self.model.covar_module)

    @cached_property
    def _prior(self) -> PriorLine:
        return as_line(self.model.mean_module)

    @cached_property
    def _solved(self) -> tuple[Tensor, Tensor, Tensor]:
        """Latent inputs, `K^-1 (y - m)`, and the inverse Cholesky factor of `K`."""
        with torch.no_grad():
            latent = self.model.eval().train_inputs[0]
            noisy = self.kernel.covariance(latent, latent, self._params)
            learned = self.model.likelihood.noise * self.unknown_noise
            factor = _factorise(noisy, learned + self.given_noise)
            residual = self.model.train_targets - self._prior(latent)
            weights = torch.cholesky_solve(residual[:, None], factor)
            inverse = torch.linalg.solve_triangular(
                factor, torch.eye(len(latent), dtype=noisy.dtype), upper=False
            )
        return latent, weights[:, 0], inverse

    @cached_property
    def _scaling(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        box_low, box_high = torch.tensor(self.box.low), torch.tensor(self.box.high)
        low, high = self.latent_range
        return box_low, box_high - box_low, low, high - low

    def _to_latent(self, unit: Tensor) -> Tensor:
        low, width, _, _ = self._scaling
        return self._scaled(self.projection.project(low + width * unit), unit)

    def _scaled(self, latent: Tensor, unit: Tensor) -> Tensor:
        """Inputs of the kernel: what thetas project to, scaled, beside themselves for a detail."""
        _, _, latent_low, latent_width = self._scaling
        if self.scale == "log":
            latent = self.projection.compress(latent)
        scaled = (latent - latent_low) / latent_width
        return torch.cat([scaled, unit], dim=-1) if self.kernel.theta_kernel_dims else scaled


def _factorise(covariance: Tensor, noise: Tensor) -> Tensor:
    """The Cholesky factor, `n x n`, of a covariance `n x n` with noise `n` on its diagonal.

    Where amplitudes are so large that rounding makes it indefinite, a little jitter is added, below
    the noise floor.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        return psd_safe_cholesky(covariance + torch.diag(noise))
