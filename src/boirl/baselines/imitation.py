"""What imitation by a discriminator is made of, whatever policies are: a policy that improves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np


class Imitator(ABC):
    """A policy, and the odds that tell its steps from those demonstrated."""

    @abstractmethod
    def policy(self) -> Any:
        """The policy as it is now; improving does not change what was returned."""

    @abstractmethod
    def improve(self, rng: np.random.Generator) -> tuple[int, dict[str, float]]:
        """Roll out, and improve policy and odds; steps in the environment, and facts."""

    @abstractmethod
    def pack(self) -> dict[str, Any]:
        """All that changes, as numbers, arrays, lists and dictionaries."""

    @abstractmethod
    def unpack(self, packed: dict[str, Any]) -> None:
        """Go on from what `pack` returned."""
