"""Gaussian processes for NLL(theta), on theta itself or in the space of a projection."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import torch
from botorch.exceptions import BotorchWarning
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import ChainedInputTransform, InputTransform, Normalize
from botorch.models.transforms.outcome import Standardize
from botorch.optim.fit import fit_gpytorch_mll_scipy
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.errors import NanError, NotPSDError
from linear_operator.utils.warnings import NumericalWarning
from torch import Tensor

from boirl.projections.base import SATURATED_RANGE, Projection
from boirl.surrogate.fitted import CHOSEN_AT, FLOOR, SCALE, FittedSurrogate, Hyperparameters
from boirl.surrogate.kernels import KernelSpec
from boirl.surrogate.noise import NOISE_FLOOR, NoiseModel, build_likelihood, check_standard_errors
from boirl.surrogate.prior import PriorMean, build_mean
from boirl.surrogate.warping import SCALES, AppendTheta, Compress, OutputScale, Scale
from boirl.threads import single_thread
from boirl.types import Box, FloatArray

COLD_FIT_STEPS = 100
WARM_FIT_STEPS = 15
LOG_SCALE_ODDS = 5.0
"""How much more probable, in nats, the log scale is beforehand where the projection calls for it,
and less probable where it does not."""

NOISE_ODDS = 5.0
"""How much more probable, in nats, a smooth landscape under noise is beforehand than one so rugged
that it passes through every evaluation."""

THETA_KERNEL_FROM = 3
"""Evaluations per parameter from which on a kernel on theta may be added."""

THETA_KERNEL_ODDS = 5.0
"""How much less probable that is beforehand, in nats."""

CHOOSE_SCALE_FROM = 6
CHOOSE_AGAIN = 1.5
"""With fewer evaluations the scale is linear; with half as many more it is chosen again, and so is
whether there is noise."""


class Surrogate:
    """Turns evaluations into a fitted Gaussian process.

    Args:
        kernel: Which covariance.
        projection: From theta to the inputs of the kernel.
        box: The rewards under consideration.
        scale: `"linear"`, `"log"` (see `boirl.surrogate.warping`), or `"auto"`: whichever is more
            probable given the projection and the evaluations.
        prior_mean: `"constant"`, or `"log-rho"`: falling with the mean of the projection.
    """

    def __init__(
        self,
        kernel: KernelSpec,
        projection: Projection,
        box: Box,
        scale: Scale | Literal["auto"] = "auto",
        prior_mean: PriorMean = "constant",
    ) -> None:
        self.kernel = kernel
        self.projection = projection
        self.box = box
        self.scale = scale
        self.prior_mean = prior_mean
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
        nll_se: FloatArray | None = None,
    ) -> FittedSurrogate:
        """The process with given hyperparameters, or the default ones; nothing is fitted.

        Standard errors of the NLLs, `n`, become noise of the evaluations, see
        `boirl.surrogate.noise`, beside the noise that is learned; 0 or None stands for unknown.
        """
        given = hyperparameters or {}
        errors = check_standard_errors(nll_se, len(nll))
        floor = given.get(FLOOR, NOISE_FLOOR) if noise_floor is None else noise_floor
        scale = scale or self._scale_of(given)
        output = OutputScale.of(scale, nll)
        outputs = torch.tensor(output.forward(nll)).unsqueeze(-1)
        unit = self.box.to_unit(thetas)
        noise = NoiseModel(nll, errors, unit)
        variances = noise.variances(unit) * np.exp(2.0 * output.log_slopes(nll))
        unknown = torch.tensor(noise.is_unknown(unit), dtype=torch.float64)
        bounds = torch.tensor(np.stack([self.box.low, self.box.high]))
        inputs: dict[str, InputTransform] = {
            "unit_to_theta": Normalize(self.box.dimension, bounds=bounds, reverse=True),
            "projection": self.projection,
        }
        if scale == "log":
            inputs["compress"] = Compress(self.projection)
        inputs["scale"] = Normalize(self.projection.dimension, bounds=self._latent_ranges[scale])
        chain = ChainedInputTransform(**inputs)
        with warnings.catch_warnings():
            # BoTorch warns of outputs that are all alike, which happens and does no harm.
            warnings.simplefilter("ignore", BotorchWarning)
            _, scaled = Standardize(1)(outputs, torch.tensor(variances).unsqueeze(-1))
            # Where no noise is learned, its floor has to be there all the same.
            given_noise = scaled.squeeze(-1).maximum((1.0 - unknown) * floor)
            model = SingleTaskGP(
                torch.tensor(unit),
                outputs,
                likelihood=build_likelihood(given_noise, floor, unknown),
                mean_module=build_mean(self.prior_mean),
                covar_module=self.kernel.build(self.projection.dimension),
                input_transform=AppendTheta(chain) if self.kernel.theta_kernel_dims else chain,
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
            nll_se=errors,
            given_noise=given_noise,
            unknown_noise=unknown,
        )

    def fit(
        self,
        thetas: FloatArray,
        nll: FloatArray,
        warm_start: Mapping[str, float] | None = None,
        nll_se: FloatArray | None = None,
    ) -> FittedSurrogate:
        """The process with the most probable hyperparameters.

        A single evaluation teaches none, so the defaults stay. Where the covariance cannot be
        factorised, the noise floor is raised until it can. For `nll_se` see `build`.
        """
        if len(thetas) < 2:
            return self.build(thetas, nll, nll_se=nll_se)
        warm = warm_start or {}
        last = self._scale_of(warm)
        if len(nll) < max(CHOOSE_SCALE_FROM, CHOOSE_AGAIN * warm.get(CHOSEN_AT, 0)):
            return self._fit(thetas, nll, nll_se, last, warm)
        # The scale is chosen again; only the one in use has hyperparameters to start from.
        warm = _without_choice(warm)
        chosen = self._fit(thetas, nll, nll_se, last, warm)
        if self.scale == "auto":
            other = self._fit(thetas, nll, nll_se, _other(last), {})
            linear, log = (chosen, other) if last == "linear" else (other, chosen)
            chosen = log if log.evidence() + self._log_odds > linear.evidence() else linear
        if not warm or chosen.scale != last or chosen.learns_noise:
            return chosen
        # What began without noise goes on so: where it is gone there is no slope to return by.
        cold = self._fit(thetas, nll, nll_se, last, {})
        noise = cold.learns_noise and cold.evidence() + NOISE_ODDS > chosen.evidence()
        return cold if noise else chosen

    def fit_with_theta_kernel(
        self, thetas: FloatArray, nll: FloatArray, nll_se: FloatArray | None = None
    ) -> FittedSurrogate:
        """`fit`, with a kernel on theta beside that on the projection where this explains more.

        A projection on few demonstrations and roll-outs does not separate all rewards, which
        shows where evaluations are dense. For the answer of a search: while there are few
        evaluations, generalising by the projection alone is what makes a search quick.
        """
        plain = self.fit(thetas, nll, nll_se=nll_se)
        few = len(nll) < THETA_KERNEL_FROM * self.box.dimension
        if few or not self.kernel.projected or self.prior_mean != "constant":
            return plain
        kernel = replace(self.kernel, theta_kernel_dims=self.box.dimension)
        detailed = Surrogate(kernel, self.projection, self.box, plain.scale)
        fitted = detailed.fit(thetas, nll, nll_se=nll_se)
        gain = fitted.evidence(precise=True) - plain.evidence(precise=True)
        return fitted if gain > THETA_KERNEL_ODDS else plain

    def _fit(
        self,
        thetas: FloatArray,
        nll: FloatArray,
        nll_se: FloatArray | None,
        scale: Scale,
        warm_start: Mapping[str, float],
    ) -> FittedSurrogate:
        for floor in (NOISE_FLOOR, 1e-4, 1e-2):
            warm = warm_start if floor == NOISE_FLOOR else {}
            steps = WARM_FIT_STEPS if warm else COLD_FIT_STEPS
            fitted = self.build(thetas, nll, warm, floor, scale, nll_se)
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
        return self.build(thetas, nll, noise_floor=1e-2, scale=scale, nll_se=nll_se)

    def _scale_of(self, hyperparameters: Mapping[str, float]) -> Scale:
        if self.scale != "auto":
            return self.scale
        return SCALES[int(hyperparameters.get(SCALE, 0))]


def _with_some_width(latent_range: Tensor) -> Tensor:
    """The range `2 x K`, but for flat coordinates: their rounding must not be blown up."""
    low, high = latent_range
    return torch.stack([low, torch.where(high - low <= SATURATED_RANGE, low + 1.0, high)])


def _other(scale: Scale) -> Scale:
    return "log" if scale == "linear" else "linear"


def _without_choice(hyperparameters: Mapping[str, float]) -> Hyperparameters:
    return {name: value for name, value in hyperparameters.items() if name != CHOSEN_AT}
