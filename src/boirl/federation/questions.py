"""What a site is asked, and what it answers."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from boirl.demonstrations import Demonstrations
from boirl.federation.privacy import PrivacyTerms
from boirl.types import FloatArray


@dataclass(frozen=True)
class SiteFacts:
    """What everybody may know of a site.

    Attributes:
        name: As in messages.
        n_demonstrations: How many it holds.
        identity: Changes when the problem or the demonstrations do; with privacy, with the terms
            alone.
        terms: The promise of privacy; None for exact answers.
    """

    name: str
    n_demonstrations: int
    identity: str
    terms: PrivacyTerms | None = None


@dataclass(frozen=True, eq=False)
class SiteSums:
    """What the demonstrations of a site say about one theta, in sums over all of them.

    Attributes:
        nll: Sum of their negative log-likelihoods; NaN where theta has no policy.
        gradient: Derivative of `nll` by theta, `d`; None where there is none, and with privacy.
        sd: Standard deviation of the noise in `nll`.
        failure: Why theta has no policy.
    """

    nll: float
    gradient: FloatArray | None = None
    sd: float = 0.0
    failure: str | None = None


@dataclass(frozen=True)
class Draw:
    """Roll-outs of one policy, drawn at a site for some of its demonstrations, one after the other.

    Attributes:
        indices: Numbers of the demonstrations.
        n: Roll-outs for each.
        theta: Whose policy; None for the uniform one.
        state: Of the random numbers, before.
    """

    indices: tuple[int, ...]
    n: int
    theta: tuple[float, ...] | None
    state: Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """The rows of a projection that belong to a site.

    Attributes:
        indices: Numbers of its demonstrations, one per row.
        draws: What they are compared with.
        drop: Names of fixed parameters that the projection takes for 0.
    """

    indices: tuple[int, ...]
    draws: tuple[Draw, ...]
    drop: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """A name for it."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:32]


class Site(ABC):
    """Holds demonstrations that do not travel, and answers questions about them."""

    is_remote = False
    """Whether answers take time that others can use."""

    @abstractmethod
    def facts(self) -> SiteFacts:
        """What everybody may know."""

    @abstractmethod
    def check(self, reference: Demonstrations) -> str:
        """Fingerprint of the problem of the site with other demonstrations, known to both sides."""

    @abstractmethod
    def sums(self, theta: tuple[float, ...]) -> SiteSums:
        """Likelihood and gradient: one policy optimisation at the site."""

    @abstractmethod
    def draw(self, draw: Draw) -> dict[str, Any]:
        """Draw roll-outs, which stay at the site; the state of the random numbers afterwards."""

    @abstractmethod
    def project(
        self, part: Part, thetas: FloatArray, slopes: bool
    ) -> tuple[FloatArray, FloatArray | None]:
        """Rows of the projection at thetas `n x d`, and derivatives; see `RhoPart`."""

    @abstractmethod
    def behaviour(self, thetas: FloatArray) -> tuple[int, FloatArray]:
        """Number of demonstrated steps, and total variation between the policies of thetas `n x d`,
        summed over them, `n x n`."""
