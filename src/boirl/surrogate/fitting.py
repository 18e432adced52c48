"""From evaluations to a Gaussian process, averaged over its hyperparameters and scales."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
from scipy.stats import norm, qmc
from torch import Tensor

from boirl.projections.base import Projection
from boirl.surrogate.component import Component
from boirl.surrogate.doubt import DOUBT, Doubt
from boirl.surrogate.evidence import Evidence, to_vector
from boirl.surrogate.feasibility import Feasibility
from boirl.surrogate.fitted import FittedSurrogate
from boirl.surrogate.kernels import KernelSpec, Prior
from boirl.surrogate.latent import LatentSpace
from boirl.surrogate.noise import NoiseModel, check_standard_errors
from boirl.surrogate.observations import Observations
from boirl.surrogate.process import NOISE_FLOOR, Data
from boirl.surrogate.tasks import Task
from boirl.surrogate.warping import SCALES, OutputScale, Scale
from boirl.threads import single_thread
from boirl.types import Box, FloatArray, HalfSpace

MAX_ROWS = 600
"""Values and slopes that a process is conditioned on, as time goes with the cube of their number.
Beyond, the gradients of the worst evaluations are left out, never a value."""

TRIED_DRAWS, KEPT_DRAWS = 32, 6
"""Hyperparameters that are drawn, and that are kept by importance: a handful that spread as far as
the evaluations leave them."""

EXACT_NOISE = Prior("noise", 1, 1e-7)
"""Noise of exact evaluations: what a smooth landscape leaves unexplained, next to nothing."""

UNKNOWN_NOISE = Prior("noise", 1, 1e-4, 3.0)
"""Noise of evaluations without gradients, which may be learned from samples."""


class Surrogate:
    """Turns evaluations into a fitted Gaussian process.

    Args:
        kernel: Which covariance.
        projection: From theta to the inputs of the kernel.
        box: The rewards under consideration.
        scale: `"linear"`, `"log"` (see `boirl.surrogate.warping`), or `"auto"`: averaged over by
            evidence.
        n_demonstrations: How many demonstrations an NLL is the mean of.
        ruled_out_by: Rewards that have no policy by what a theta says, see `Problem.ruled_out_by`.
    """

    def __init__(
        self,
        kernel: KernelSpec,
        projection: Projection,
        box: Box,
        scale: Scale | Literal["auto"] = "auto",
        n_demonstrations: int = 1,
        ruled_out_by: Callable[[FloatArray], HalfSpace | None] | None = None,
    ) -> None:
        self.kernel = kernel
        self.projection = projection
        self.box = box
        self.scale = scale
        self.n_demonstrations = n_demonstrations
        self.ruled_out_by = ruled_out_by
        latent_range = projection.range_over(box)
        self._spaces = {one: LatentSpace.of(projection, box, one, latent_range) for one in SCALES}

    def with_projection(self, projection: Projection) -> Surrogate:
        """The same with another projection."""
        return Surrogate(
            self.kernel,
            projection,
            self.box,
            self.scale,
            self.n_demonstrations,
            self.ruled_out_by,
        )

    def build(
        self,
        thetas: FloatArray,
        nll: FloatArray,
        hyperparameters: Mapping[str, Any] | None = None,
        nll_se: FloatArray | None = None,
        gradients: FloatArray | None = None,
        failed: FloatArray | None = None,
    ) -> FittedSurrogate:
        """The process with given hyperparameters, or the medians of their priors; nothing is
        fitted.

        Standard errors of the NLLs, `n`, become noise of the evaluations, see
        `boirl.surrogate.noise`, beside the noise that is learned; 0 or None stands for unknown.

        Args:
            thetas: Where evaluations succeeded, `n x d`.
            nll: Their NLLs, `n`.
            hyperparameters: Those of another fit.
            nll_se: Standard errors, `n`.
            gradients: Derivatives of the NLLs by theta, `n x d`, NaN where there is none.
            failed: Thetas where evaluations failed, `m x d`.
        """
        seen = _Seen(self, thetas, nll, nll_se, gradients, failed)
        given = hyperparameters or {"components": [{"scale": self._first_scale, "values": {}}]}
        components = []
        for one in given["components"]:
            task = seen.task(one["scale"])
            vector = to_vector(task.evidence.priors, one["values"])
            components.append(
                task.component(np.zeros(task.evidence.size) if vector is None else vector)
            )
        return seen.fitted(components)

    def fit(
        self,
        thetas: FloatArray,
        nll: FloatArray,
        warm_start: Mapping[str, Any] | None = None,
        nll_se: FloatArray | None = None,
        gradients: FloatArray | None = None,
        failed: FloatArray | None = None,
        draws: int = KEPT_DRAWS,
    ) -> FittedSurrogate:
        """The process averaged over probable hyperparameters; arguments as of `build`.

        A Gaussian around the most probable hyperparameters of each scale (Laplace) gives draws
        that importance turns into a handful of equally probable ones.

        Args:
            warm_start: The `warm_start` of an earlier fit, or its `hyperparameters`.
            draws: Sets of hyperparameters; 1 for the most probable ones of the better scale.
        """
        seen = _Seen(self, thetas, nll, nll_se, gradients, failed)
        if len(nll) < 2:
            # A single NLL says nothing of their spread, which a slope would be measured by.
            return self.build(thetas, nll, None, nll_se, None, failed)
        tasks = [seen.task(scale) for scale in self._scales]
        with single_thread():
            if draws == 1:
                climbs = [task.most_probable(task.centre_of(warm_start)) for task in tasks]
                best = int(np.argmax([one.height for one in climbs]))
                climbs[best] = tasks[best].other_peak(climbs[best])
                pairs = zip(tasks, climbs, strict=True)
                tried = [task.component(climb.vector) for task, climb in pairs]
                return seen.fitted([tried[best]], tried)
            found = [task.laplace(task.centre_of(warm_start)) for task in tasks]
            logs = np.array(
                [one.log_evidence + task.log_units for one, task in zip(found, tasks, strict=True)]
            )
            shares = np.exp(logs - logs.max())
            counts = _counts(shares / shares.sum(), draws)
            components = []
            for laplace, task, count in zip(found, tasks, counts, strict=True):
                if count:
                    vectors = laplace.draws(task.evidence, _noise(task.evidence.size), count)
                    components += [task.component(vector) for vector in vectors]
        return seen.fitted(components)

    def log_evidence(self, seen: Observations) -> float:
        """Log probability of evaluations and of the hyperparameters that make them most probable,
        to compare surrogates by that have as many of them."""
        data = _Seen(self, seen.thetas, seen.nll, seen.nll_se, seen.gradients, None)
        with single_thread():
            return max(data.task(scale).log_evidence() for scale in self._scales)

    @property
    def _scales(self) -> tuple[Scale, ...]:
        return SCALES if self.scale == "auto" else (self.scale,)

    @property
    def _first_scale(self) -> Scale:
        return "linear" if self.scale == "auto" else self.scale


class _Seen:
    """Evaluations on the way to a fit."""

    def __init__(
        self,
        surrogate: Surrogate,
        thetas: FloatArray,
        nll: FloatArray,
        nll_se: FloatArray | None,
        gradients: FloatArray | None,
        failed: FloatArray | None,
    ) -> None:
        self.surrogate = surrogate
        self.box = surrogate.box
        self.thetas = thetas
        self.nll = nll
        self.nll_se = check_standard_errors(nll_se, len(nll))
        empty = np.full(thetas.shape, np.nan)
        self.gradients = empty if gradients is None else gradients
        self.failed = np.empty((0, thetas.shape[1])) if failed is None else failed
        self.unit = self.box.to_unit(thetas)
        self.sloped = self._sloped()
        self._tasks: dict[Scale, Task] = {}

    def _sloped(self) -> Tensor:
        """Numbers of the evaluations whose gradients are used: the best ones, if not all."""
        known = np.flatnonzero(np.isfinite(self.gradients).all(axis=1))
        most = max(0, MAX_ROWS - len(self.nll)) // self.box.dimension
        best = known[np.argsort(self.nll[known], kind="stable")[:most]]
        return torch.tensor(np.sort(best))

    def task(self, scale: Scale) -> Task:
        """The data on a scale, standardised; made once."""
        if scale not in self._tasks:
            self._tasks[scale] = self._task(scale)
        return self._tasks[scale]

    def _task(self, scale: Scale) -> Task:
        output = OutputScale.of(scale, self.nll)
        outputs = output.forward(self.nll)
        slopes = np.exp(output.log_slopes(self.nll))
        chosen = self.sloped.numpy()
        width = self.box.high - self.box.low
        rise = self.gradients[chosen] * width * slopes[chosen, None]
        centre, spread = float(outputs.mean()), float(outputs.std())
        # Evaluations that are all alike, or a single one, are told apart by their slopes at most.
        spread = max(spread, 0.1 * float(np.sqrt(np.square(rise).mean())) if rise.size else 0.0)
        spread = spread if spread > 1e-12 * max(1.0, abs(centre)) else 1.0
        noise = NoiseModel(self.nll, self.nll_se, self.unit)
        given = noise.variances(self.unit) * np.square(slopes / spread)
        doubt = Doubt.of(self.nll, self.surrogate.n_demonstrations, self.box.dimension)
        # Evaluations without a gradient have noise of their own.
        exact = np.isfinite(self.gradients).all(axis=1)
        doubted = np.square(exact * doubt.nll(self.nll) * slopes / spread)
        unknown = noise.is_unknown(self.unit).astype(float)
        rise = rise / spread
        steep = np.square(doubt.beyond(self.nll[chosen])) * np.square(rise).mean(axis=1)
        learned = {"noise": np.concatenate([unknown, np.ones(rise.size)])}
        if len(chosen):
            learned["doubt"] = np.concatenate([doubted, np.tile(steep, self.box.dimension)])
        space = self.surrogate._spaces[scale]
        with torch.no_grad():
            inputs = space.inputs(torch.tensor(self.unit), self.sloped)
        data = Data(
            inputs,
            torch.tensor(np.concatenate([(outputs - centre) / spread, rise.T.ravel()])),
            torch.tensor(NOISE_FLOOR + np.concatenate([given, np.zeros(rise.size)])),
            {name: torch.tensor(rows) for name, rows in learned.items()},
        )
        log_slopes = output.log_slopes(self.nll)
        units = log_slopes.sum() + self.box.dimension * log_slopes[chosen].sum()
        log_units = float(units) - len(data.targets) * float(np.log(spread))
        priors = [EXACT_NOISE, DOUBT] if len(chosen) else [UNKNOWN_NOISE]
        evidence = Evidence(self.surrogate.kernel, data, priors)
        return Task(evidence, space, output, scale, centre, spread, log_units, doubt)

    def fitted(
        self, components: list[Component], tried: Sequence[Component] = ()
    ) -> FittedSurrogate:
        return FittedSurrogate(
            kernel=self.surrogate.kernel,
            projection=self.surrogate.projection,
            box=self.box,
            components=tuple(components),
            tried=tuple(tried or components),
            thetas=self.thetas,
            nll=self.nll,
            nll_se=self.nll_se,
            gradients=self.gradients,
            feasibility=Feasibility(
                self.unit, self.box.to_unit(self.failed), tuple(self._ruled_out())
            ),
            n_demonstrations=self.surrogate.n_demonstrations,
        )

    def _ruled_out(self) -> Iterator[HalfSpace]:
        """Parts of the unit cube where evaluations fail for certain."""
        if self.surrogate.ruled_out_by is None:
            return
        for theta in np.concatenate([self.thetas, self.failed]):
            half = self.surrogate.ruled_out_by(theta)
            if half is not None:
                yield self.box.half_space_to_unit(half)


def _counts(shares: FloatArray, n: int) -> list[int]:
    """`n` split in proportion to shares."""
    ends = np.round(np.concatenate([[0.0], np.cumsum(shares)]) * n).astype(int)
    return np.diff(ends).tolist()


def _noise(dimension: int) -> FloatArray:
    """Standard normal points, spread evenly: the same for every fit, so that nothing but the
    evaluations changes it."""
    sobol = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(0))
    return np.asarray(norm.ppf(sobol.random(TRIED_DRAWS)))
