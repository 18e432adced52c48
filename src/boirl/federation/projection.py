"""The rho-projection of demonstrations at several sites."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from boirl.federation.questions import Draw, Part, Site
from boirl.projections.elsewhere import GrowsElsewhere
from boirl.projections.rho import ReturnShares
from boirl.types import FloatArray, IntArray

Place = tuple[int, int]
"""Number of a site, and of a demonstration there."""

T = TypeVar("T")


class FederatedLogRho(ReturnShares, GrowsElsewhere):
    """`log rho_k(theta)` for `K` demonstrations, each computed at the site that holds it.

    `rho_k` compares demonstration `k` with roll-outs from its own start, so that a site can
    compute its rows alone. Demonstrations are chosen, and roll-outs drawn, as for
    `boirl.projections.LogRho` on all demonstrations together: one stream of random numbers is
    handed from site to site in the order of the rows.

    Args:
        sites: Hold the demonstrations.
        places: Where the demonstration of each row is, `K`.
        draws: Roll-outs, by site and in order.
        drop: Names of fixed parameters that the projection takes for 0.
        compares_policies: As of `LogRho`.
    """

    name = "log-rho"

    def __init__(
        self,
        sites: Sequence[Site],
        places: Sequence[Place],
        draws: Sequence[Sequence[Draw]],
        drop: Sequence[str] = (),
        compares_policies: bool = False,
    ) -> None:
        super().__init__(compares_policies)
        self.sites = tuple(sites)
        self.places = tuple(places)
        self.draws = tuple(tuple(own) for own in draws)
        self.drop = tuple(drop)
        self.dimension = len(self.places)
        rows = [
            [row for row, (site, _) in enumerate(self.places) if site == number]
            for number in range(len(self.sites))
        ]
        self._asked = [
            (site, np.array(own), self._part(own, number))
            for number, (site, own) in enumerate(zip(self.sites, rows, strict=True))
            if own
        ]
        self._drawn: dict[str, list[list[Draw]]] = {}

    def _part(self, rows: Sequence[int], number: int) -> Part:
        indices = tuple(self.places[row][1] for row in rows)
        return Part(indices, self.draws[number], self.drop)

    @classmethod
    def drawn(
        cls,
        sites: Sequence[Site],
        places: Sequence[Place],
        n_rollouts: int,
        rng: np.random.Generator,
        drop: Sequence[str] = (),
    ) -> FederatedLogRho:
        """With roll-outs of the uniform policy."""
        return cls(sites, places, draw_rollouts(sites, places, n_rollouts, None, rng), drop)

    def grown(
        self,
        thetas: Sequence[tuple[float, ...]],
        n_rollouts: int,
        rngs: Sequence[np.random.Generator],
    ) -> FederatedLogRho:
        draws = [list(own) for own in self.draws]
        for theta, rng in zip(thetas, rngs, strict=True):
            key = json.dumps([theta, n_rollouts, rng.bit_generator.state])
            if key not in self._drawn:
                more = draw_rollouts(self.sites, self.places, n_rollouts, theta, rng)
                self._drawn[key] = more
            for own, more_of_it in zip(draws, self._drawn[key], strict=True):
                own += more_of_it
        return FederatedLogRho(self.sites, self.places, draws, self.drop, compares_policies=True)

    def fingerprint(self) -> str:
        facts = [site.facts() for site in self.sites]
        drawn = [[asdict(draw) for draw in own] for own in self.draws]
        record = json.dumps([[one.identity for one in facts], self.places, drawn, self.drop])
        return hashlib.sha256(record.encode()).hexdigest()[:16]

    def project(self, theta: Tensor) -> Tensor:
        rows = theta.reshape(-1, theta.shape[-1])
        found: Tensor = _AtSites.apply(rows, self)
        return found.reshape(*theta.shape[:-1], self.dimension)

    def values(self, thetas: FloatArray, slopes: bool) -> tuple[FloatArray, FloatArray | None]:
        """Values `n x K` at thetas `n x d`, and derivatives by theta, `n x K x d`, if asked for."""

        def ask(one: tuple[Site, IntArray, Part]) -> tuple[FloatArray, FloatArray | None]:
            site, _, part = one
            return site.project(part, thetas, slopes)

        remote = any(site.is_remote for site, _, _ in self._asked)
        answers = ask_all(ask, self._asked, remote)
        values = np.empty((len(thetas), self.dimension))
        derivatives = np.empty((*values.shape, thetas.shape[1]))
        known = slopes
        for (_, rows, _), (own, rises) in zip(self._asked, answers, strict=True):
            values[:, rows] = own
            if rises is None:
                known = False
            elif known:
                derivatives[:, rows] = rises
        return values, derivatives if known else None


class _AtSites(torch.autograd.Function):
    """Values of a projection that others compute, with the derivatives that they give.

    The backward pass is itself differentiable by the weights that come in, which is how Jacobians
    are read off (`boirl.surrogate.latent.jacobians`).
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, projection: FederatedLogRho) -> Tensor:
        values, slopes = projection.values(rows.detach().numpy(), ctx.needs_input_grad[0])
        if slopes is not None:
            ctx.save_for_backward(torch.tensor(slopes))
        found = torch.tensor(values)
        if slopes is None:
            ctx.mark_non_differentiable(found)
        return found

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor, None]:
        (slopes,) = ctx.saved_tensors
        return (given[0].unsqueeze(-1) * slopes).sum(dim=1), None


def draw_rollouts(
    sites: Sequence[Site],
    places: Sequence[Place],
    n: int,
    theta: tuple[float, ...] | None,
    rng: np.random.Generator,
) -> list[list[Draw]]:
    """Have roll-outs drawn at the sites, by site; as `sample_rollouts` draws them for all.

    Args:
        sites: Hold the demonstrations.
        places: Where the demonstrations are, in the order of their rows.
        n: Roll-outs for each.
        theta: Whose policy; None for the uniform one.
        rng: Handed from site to site, and left in its last state.
    """
    drawn: list[list[Draw]] = [[] for _ in sites]
    for number, run in groupby(places, key=lambda place: place[0]):
        indices = tuple(index for _, index in run)
        draw = Draw(indices, n, theta, dict(rng.bit_generator.state))
        rng.bit_generator.state = sites[number].draw(draw)
        drawn[number].append(draw)
    return drawn


def ask_all(question: Callable[[Any], T], asked: Sequence[Any], at_once: bool) -> list[T]:
    """What everybody answers; at once where waiting is most of it."""
    if not at_once or len(asked) < 2:
        return [question(one) for one in asked]
    with ThreadPoolExecutor(len(asked)) as threads:
        return list(threads.map(question, asked))
