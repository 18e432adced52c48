"""What every projection is: a BoTorch input transform from theta to a latent space."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import torch
from botorch.models.transforms.input import InputTransform
from torch import Tensor
from torch.quasirandom import SobolEngine

from boirl.errors import InvalidInputError, SaturationWarning
from boirl.types import Box, FloatArray

BOX_POINTS = 1024
"""Of a Sobol sequence, that stand for the box."""

SAME_NATS = 0.05
"""Rewards between which all log-probabilities of a projection together differ by less look alike to
it: no odds change by more than one in twenty."""

PROJECTED_AT_ONCE = 2048
"""Thetas that are projected at once, for the memory that many roll-outs take."""


class Projection(InputTransform):
    """`transform(theta[... x d]) -> z[... x K]`: differentiable, float64, no policy is solved.

    Attributes:
        dimension: `K`.
    """

    dimension: int

    def __init__(self) -> None:
        super().__init__()
        self.transform_on_train = True
        self.transform_on_eval = True
        self.transform_on_fantasize = True
        self._last: tuple[Tensor, Tensor] | None = None
        self._many: tuple[Tensor, Tensor] | None = None

    def transform(self, X: Any) -> Tensor:
        """Project thetas `... x d` to `... x K`; the same once more, as in a fit, costs nothing."""
        theta = torch.as_tensor(X, dtype=torch.float64)
        if theta.requires_grad:
            return self.project(theta)
        if self._last is None or not torch.equal(self._last[0], theta):
            self._last = theta.clone(), self.project(theta)
        return self._last[1]

    def project_many(self, theta: Tensor) -> Tensor:
        """`project`, without slopes, for `n x d` thetas that may well be asked for again.

        Measures of a search look at the same ones after every few evaluations.
        """
        if self._many is None or not torch.equal(self._many[0], theta):
            with torch.no_grad():
                parts = [self.project(part) for part in theta.split(PROJECTED_AT_ONCE)]
            self._many = theta.clone(), torch.cat(parts)
        return self._many[1]

    @abstractmethod
    def project(self, theta: Tensor) -> Tensor:
        """`transform` for a float64 tensor."""

    def compress(self, latent: Tensor) -> Tensor:
        """Latent points `... x K` on a scale that opens up where good rewards lie.

        Increasing in each coordinate. By default nothing changes.
        """
        return latent

    def likeliest(self, box: Box) -> FloatArray | None:
        """The theta that is the most likely by what it projects, in the unit cube, `d`.

        None where a projection has no opinion.
        """
        return None

    def fingerprint(self) -> str:
        """Changes when anything changes, apart from the reward family, that a projection is of."""
        return ""

    def range_over(self, box: Box) -> Tensor:
        """Smallest and largest value of each coordinate over the box, `2 x K`."""
        latent = self._over(box)
        if not torch.isfinite(latent).all():
            raise InvalidInputError(
                "the projection is not finite all over the box of rewards; check that the reward "
                "family is finite there"
            )
        return torch.stack([latent.min(dim=0).values, latent.max(dim=0).values])

    def blind_share(self, box: Box) -> float:
        """The share of the box over which rewards look alike: like the median one."""
        latent = self._over(box)
        distances = (latent - latent.median(dim=0).values).abs().sum(dim=1)
        return float((distances < SAME_NATS).double().mean())

    def is_saturated(self, box: Box) -> bool:
        """Whether rewards look alike over most of the box."""
        return self.blind_share(box) > 0.5

    def warn_if_saturated(self, box: Box) -> bool:
        """Warn, and return True, where rewards look alike over most of the box."""
        saturated = self.is_saturated(box)
        if saturated:
            warnings.warn(
                f"the projection is saturated: over {self.blind_share(box):.0%} of the box all "
                "rewards look alike to it, because the roll-outs are all much worse, or much "
                "better, than the demonstrations. Use rollouts='solved', or roll-outs of better "
                "policies: rollout_policies=[problem.policy(theta), ...]",
                SaturationWarning,
                stacklevel=5,
            )
        return saturated

    def _over(self, box: Box) -> Tensor:
        """The projection at a fixed Sobol sequence and the far corner of the diagonal, so that it
        is the same for every run on the same problem."""
        unit = SobolEngine(box.dimension, scramble=False).draw(BOX_POINTS, dtype=torch.float64)
        unit = torch.cat([unit, torch.ones(1, box.dimension, dtype=torch.float64)])
        return self.project_many(torch.tensor(box.low) + torch.tensor(box.high - box.low) * unit)
