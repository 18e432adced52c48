"""Projections of demonstrations that stay where they are: what a search asks of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from boirl.projections.base import Projection


class ProjectsElsewhere(ABC):
    """A problem whose demonstrations are not at hand, so that it builds the projection itself."""

    @abstractmethod
    def build_projection(
        self,
        name: str,
        n_demonstrations: int,
        n_rollouts: int,
        rng: np.random.Generator,
        drop: Sequence[str],
    ) -> Projection:
        """The projection on demonstrations and roll-outs that are drawn where they are.

        Args:
            name: Of the projection.
            n_demonstrations: `K`, or all where there are fewer.
            n_rollouts: Of the uniform policy, for each demonstration.
            rng: All randomness comes from here.
            drop: Names of fixed parameters that the projection takes for 0.
        """


class GrowsElsewhere(Projection):
    """A projection whose roll-outs are not at hand."""

    @abstractmethod
    def grown(
        self,
        thetas: Sequence[tuple[float, ...]],
        n_rollouts: int,
        rngs: Sequence[np.random.Generator],
    ) -> Projection:
        """This projection with roll-outs of the policies of thetas beside those that it has.

        Args:
            thetas: Rewards that were evaluated.
            n_rollouts: Roll-outs of each policy for each demonstration.
            rngs: One for each theta.
        """
