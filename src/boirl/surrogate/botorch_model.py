"""A surrogate as a BoTorch model, so that BoTorch's acquisition functions work on it."""

from __future__ import annotations

from typing import Any

import torch
from botorch.models.model import Model
from botorch.posteriors import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from torch import Tensor

from boirl.surrogate.fitted import FittedSurrogate


class MarginalModel(Model):
    """The NLL at points of the unit cube, as a posterior of BoTorch.

    Components are merged into one Gaussian with their mean and covariance.
    """

    def __init__(self, surrogate: FittedSurrogate) -> None:
        super().__init__()
        self.surrogate = surrogate

    @property
    def num_outputs(self) -> int:
        return 1

    @property
    def batch_shape(self) -> torch.Size:
        return torch.Size()

    def posterior(
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: Any = False,
        posterior_transform: Any = None,
    ) -> Any:
        """The joint posterior of `... x q` points, `... x q x d`."""
        mean, covariance = zip(
            *[self.surrogate.joint(points) for points in X.reshape(-1, *X.shape[-2:])], strict=True
        )
        joint = MultivariateNormal(
            torch.stack(mean).reshape(X.shape[:-1]),
            torch.stack(covariance).reshape(*X.shape[:-1], X.shape[-2]),
        )
        found = GPyTorchPosterior(joint)
        return found if posterior_transform is None else posterior_transform(found)
