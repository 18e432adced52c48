"""A Gaussian process that has seen evaluations: what it expects elsewhere, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.special import ndtr
from scipy.stats import norm
from torch import Tensor

from boirl.priors import UNIFORM, Prior
from boirl.projections.base import Projection
from boirl.surrogate.component import Component
from boirl.surrogate.feasibility import Feasibility
from boirl.surrogate.kernels import KernelSpec
from boirl.surrogate.noise import NoiseModel
from boirl.surrogate.process import LEAST_VARIANCE
from boirl.threads import single_thread
from boirl.types import Box, FloatArray

NOISY = 4e-4
"""Learned noise of this share of the variance of outputs, 2 % of their spread, is taken for noise
of the evaluations; a poor fit to an exact landscape looks like less."""

OVERCONFIDENCE = 1.5
"""Factor on standard deviations even where the record is good, as a search chooses where it is
tested: elsewhere in the box errors are larger for their standard deviations. Not under noise."""

BISECTIONS = 50
"""Halvings of an interval of NLLs that find a quantile to double precision."""

Hyperparameters = dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class FittedSurrogate:
    """A Gaussian process that has seen evaluations, averaged over its hyperparameters.

    Attributes:
        components: Equally probable sets of hyperparameters, each on a scale of its own.
        tried: Sets of hyperparameters to start the next fit from, on the other scales too.
        thetas: Where evaluations succeeded, `n x d`; their NLLs, standard errors and gradients
            (NaN where there is none) follow.
        feasibility: Where evaluations succeed at all.
        n_demonstrations: How many demonstrations an NLL is the mean of.
        prior: What is believed of theta beforehand; the NLL does not depend on it, proposals do.
        admissible: Which evaluations may be solutions, `n`; None for all.
    """

    kernel: KernelSpec
    projection: Projection
    box: Box
    components: Sequence[Component]
    tried: Sequence[Component]
    thetas: FloatArray
    nll: FloatArray
    nll_se: FloatArray
    gradients: FloatArray
    feasibility: Feasibility
    n_demonstrations: int
    prior: Prior = UNIFORM
    admissible: np.ndarray | None = None
    _last_marginals: dict[bytes, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"FittedSurrogate({self.kernel.name}, {len(self.thetas)} evaluations)"

    def nats_above_best(self, unit: Tensor, nll: Tensor) -> Tensor:
        """How far points `n x d` of the unit cube with NLLs `n` are below the best evaluation in
        the log density of the posterior over rewards, `n`; differentiable."""
        if self.prior.is_uniform:
            return self.n_demonstrations * (nll - self.best_nll)
        low, high = torch.as_tensor(self.box.low), torch.as_tensor(self.box.high)
        own = self.n_demonstrations * nll - self.prior.log_density(low + (high - low) * unit)
        return own - self._lowest

    @cached_property
    def _lowest(self) -> float:
        """The lowest `N NLL - log prior` of the evaluations."""
        nats = self.n_demonstrations * self._solution_nll - self.prior.log_prior(self.thetas)
        return float(nats.min())

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
        outputs = self._outputs_at(thetas)
        mean, sd = self._mix(outputs)
        sd = self.calibration * sd
        if not observed:
            return mean, sd
        unit = self.box.to_unit(thetas)
        learned = np.mean(
            [
                np.square(one.output.back(centre, np.full_like(centre, one.noise_sd))[1])
                for one, (centre, _) in zip(self.components, outputs, strict=True)
            ],
            axis=0,
        )
        noise = learned * self._noise.is_unknown(unit) + self._noise.variances(unit)
        return mean, np.sqrt(np.square(sd) + noise)

    def interval(self, thetas: FloatArray, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper end of the interval that holds the NLL with a probability, each `n`."""
        tail = 0.5 - 0.5 * level
        outputs = [(mean, self.calibration * sd) for mean, sd in self._outputs_at(thetas)]
        return self._quantile(outputs, tail), self._quantile(outputs, 1.0 - tail)

    def _quantile(self, outputs: list[tuple[FloatArray, FloatArray]], share: float) -> FloatArray:
        """The NLL below which the components together have this probability, `n`."""
        ends = [
            one.output.inverse(mean + float(norm.ppf(share)) * sd)
            for one, (mean, sd) in zip(self.components, outputs, strict=True)
        ]
        low, high = np.min(ends, axis=0), np.max(ends, axis=0)
        if len(outputs) == 1:
            return low
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            below = np.mean(
                [
                    ndtr((one.output.forward(middle) - mean) / sd)
                    for one, (mean, sd) in zip(self.components, outputs, strict=True)
                ],
                axis=0,
            )
            low, high = np.where(below < share, middle, low), np.where(below < share, high, middle)
        return 0.5 * (low + high)

    def _mix(self, outputs: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the NLL over all components."""
        back = [
            one.output.back(mean, sd)
            for one, (mean, sd) in zip(self.components, outputs, strict=True)
        ]
        means, sds = np.array([mean for mean, _ in back]), np.array([sd for _, sd in back])
        return means.mean(axis=0), np.sqrt(np.square(sds).mean(axis=0) + means.var(axis=0))

    def _outputs_at(self, thetas: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Mean and sd of the output of each component, kept in case several measures look."""
        key = thetas.tobytes()
        if key not in self._last_marginals:
            with torch.no_grad(), single_thread():
                projected = self.projection.project_many(torch.tensor(thetas))
                unit = torch.tensor(self.box.to_unit(thetas))
                found = [one.outputs(unit, projected) for one in self.components]
            self._last_marginals.clear()
            self._last_marginals[key] = [
                (mean.numpy(), one.with_unexplained(mean.numpy(), sd.numpy()))
                for one, (mean, sd) in zip(self.components, found, strict=True)
            ]
        return self._last_marginals[key]

    def mean(self, unit: Tensor) -> Tensor:
        """Mean of the NLL at points `n x d` of the unit cube, `n`; differentiable, and quicker than
        `marginals`."""
        projected = self._projected(unit)
        means = [
            one.nll(one.process.mean(one.space.inputs(unit, projected=projected)))
            for one in self.components
        ]
        return torch.stack(means).mean(dim=0)

    def marginals(self, unit: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and sd of the NLL, differentiable, at points `n x d` of the unit cube."""
        projected = self._projected(unit)
        back = [one.output.back(*one.outputs(unit, projected)) for one in self.components]
        if len(back) == 1:
            return back[0]
        means = torch.stack([mean for mean, _ in back])
        sds = torch.stack([sd for _, sd in back])
        variance = sds.square().mean(dim=0) + means.var(dim=0, correction=0)
        return means.mean(dim=0), variance.sqrt()

    def _projected(self, unit: Tensor) -> Tensor:
        """What the projection gives at points `n x d` of the unit cube, `n x K`."""
        return self.projection.project(torch.addcmul(self._low, self._width, unit))

    def joint(self, unit: Tensor) -> tuple[Tensor, Tensor]:
        """Mean, `n`, and covariance, `n x n`, of the NLL; differentiable."""
        means, covariances = [], []
        for one in self.components:
            mean, covariance = one.process.joint(one.space.inputs(unit))
            output = one.centre + one.spread * mean
            centre, slope = one.output.back(output, torch.ones_like(output))
            means.append(centre)
            covariances.append(one.spread**2 * slope[:, None] * slope * covariance)
        together = torch.stack(means)
        apart = together - together.mean(dim=0)
        between = apart.mT @ apart / len(means)
        return together.mean(dim=0), torch.stack(covariances).mean(dim=0) + between

    def sample(self, thetas: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        """Landscapes that the evaluations leave possible: `n x n` NLLs at thetas `n x d`."""
        unit = torch.tensor(self.box.to_unit(thetas))
        found = []
        with torch.no_grad(), single_thread():
            for one, count in zip(self.components, self.shares(n), strict=True):
                mean, factor = one.process.joint_factor(one.space.inputs(unit))
                drawn = torch.tensor(rng.standard_normal((count, len(unit)))) @ factor.mT
                drawn *= self.calibration
                outputs = one.centre + one.spread * (mean + drawn)
                found.append(one.output.inverse(outputs.numpy()))
        return np.concatenate(found)

    def shares(self, n: int) -> list[int]:
        """How many of `n` draws are from each component."""
        ends = np.round(np.linspace(0, n, len(self.components) + 1)).astype(int)
        return np.diff(ends).tolist()

    def latent(self, thetas: FloatArray) -> FloatArray:
        """The points of the kernel's space, `n x K`, that thetas `n x d` stand for."""
        with torch.no_grad(), single_thread():
            return self.components[0].space(torch.tensor(self.box.to_unit(thetas))).numpy()

    @cached_property
    def calibration(self) -> float:
        """Factor on standard deviations, from the record of predictions.

        Each evaluation was predicted by those before it. A record that is off by more than it
        should be widens what is predicted now.
        """
        with torch.no_grad(), single_thread():
            records = [one.process.record()[1:] for one in self.components]
        squared = torch.cat(records).square()
        off = float(squared.mean().sqrt()) if len(squared) else 0.0
        return (OVERCONFIDENCE if self.has_gradients else 1.0) * max(1.0, off)

    @property
    def size(self) -> int:
        """Number of evaluations seen."""
        return len(self.nll)

    @property
    def has_gradients(self) -> bool:
        """Whether some evaluation came with its gradient: then all of them are exact."""
        return bool(np.isfinite(self.gradients).all(axis=1).any())

    @cached_property
    def noisy(self) -> bool:
        """Whether evaluations are so noisy that the lowest NLL may be a matter of luck."""
        if self.has_gradients:
            return False
        return bool(self.nll_se.any()) or float(np.mean([c.noise for c in self.components])) > NOISY

    @cached_property
    def denoised_nll(self) -> FloatArray:
        """NLLs to compare evaluations by, `n`: as evaluated or, under noise, posterior means."""
        return self.posterior(self.thetas)[0] if self.noisy else self.nll

    @property
    def best_index(self) -> int:
        """Number of the best evaluation, by its denoised NLL."""
        return int(self._solution_nll.argmin())

    @property
    def best_nll(self) -> float:
        """The denoised NLL of the best evaluation."""
        return float(self._solution_nll.min())

    @property
    def _solution_nll(self) -> FloatArray:
        """The denoised NLLs, infinite where an evaluation is no solution; all, if none is one."""
        if self.admissible is None or not self.admissible.any():
            return self.denoised_nll
        return np.where(self.admissible, self.denoised_nll, np.inf)

    @property
    def best_unit(self) -> FloatArray:
        """The theta of the best evaluation, in the unit cube, `d`."""
        return self.box.to_unit(self.thetas[self.best_index])

    def removable_sd(self, mean: Tensor, sd: Tensor) -> Tensor:
        """The part of standard deviations of the NLL that another evaluation would remove, where
        NLLs are expected to be so high, `n` each; differentiable.

        Under noise, the mean with one more evaluation is still uncertain. An exact evaluation is
        explained up to what the process cannot follow, and a second one of the same theta removes
        nothing.
        """
        if not self.has_gradients:
            return sd.square() / (sd.square() + self.noise_variance).sqrt()
        return (sd.square() - self._unexplained(mean)).clamp_min(LEAST_VARIANCE**2).sqrt()

    def predictive_sd(self, mean: Tensor, sd: Tensor) -> Tensor:
        """Standard deviations of evaluations, given those of the process, `n` each."""
        left = self._unexplained(mean) if self.has_gradients else self.noise_variance
        return (sd.square() + left).sqrt()

    def _unexplained(self, nll: Tensor) -> Tensor:
        """Variance of NLLs that exact evaluations leave unexplained, `n` each."""
        left = [one.unexplained(nll) / one.output.slopes(nll).square() for one in self.components]
        return torch.stack(left).mean(dim=0)

    @cached_property
    def noise_variance(self) -> float:
        """Variance of another evaluation of the best theta; 0 where evaluations are exact."""
        if not self.noisy:
            return 0.0
        best = self.thetas[[self.best_index]]
        without, with_noise = self.posterior(best)[1], self.posterior(best, observed=True)[1]
        return float(with_noise[0] ** 2 - without[0] ** 2)

    @cached_property
    def _low(self) -> Tensor:
        return torch.tensor(self.box.low)

    @cached_property
    def _width(self) -> Tensor:
        return torch.tensor(self.box.high - self.box.low)

    @cached_property
    def _noise(self) -> NoiseModel:
        return NoiseModel(self.nll, self.nll_se, self.box.to_unit(self.thetas))

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Of all components, for a file."""
        return _of(self.components)

    @property
    def warm_start(self) -> Hyperparameters:
        """What the next fit is to start from, on every scale that was tried."""
        return _of(self.tried)


def _of(components: Sequence[Component]) -> Hyperparameters:
    return {"components": [{"scale": one.scale, "values": one.values} for one in components]}
