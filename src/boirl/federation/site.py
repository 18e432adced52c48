"""A site in this process, or what a server answers for."""

from __future__ import annotations

import json
import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError, SiteError
from boirl.evaluation import Evaluation
from boirl.federation.privacy import Ledger
from boirl.federation.questions import Draw, Part, Site, SiteFacts, SiteSums
from boirl.federation.rho_part import RhoPart
from boirl.problem import TabularProblem
from boirl.problem.base import Problem
from boirl.projections import sample_rollouts
from boirl.types import FloatArray

KEPT_EVALUATIONS, KEPT_DRAWS, KEPT_PARTS = 64, 1024, 4
"""What a site remembers, so that it computes little twice; all of it can be had again."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class LocalSite(Site):
    """A site in this process, or what a server answers for.

    Args:
        problem: Dynamics, reward family and solver, with the demonstrations of this site.
        name: As in messages.
        ledger: Terms of privacy and their record; None for exact answers.
    """

    def __init__(
        self, problem: Problem[Any], name: str = "site", ledger: Ledger | None = None
    ) -> None:
        if not isinstance(problem, TabularProblem):
            raise InvalidInputError(
                f"problem {problem.name!r} is a {type(problem).__name__}; a federation needs known "
                "dynamics, those of a TabularProblem: policies that are learned differ from site "
                "to site"
            )
        count = len(problem.demonstrations)
        if ledger is not None and ledger.terms.delta >= 1.0 / count:
            raise InvalidInputError(
                f"delta is {ledger.terms.delta:g} for {count} trajectories; expected less than one "
                "in their number, or giving one of them away would count as private"
            )
        self.problem = problem
        self.name = name
        self.ledger = ledger
        self._lock = threading.RLock()
        self._evaluations: OrderedDict[tuple[float, ...], Evaluation] = OrderedDict()
        self._draws: OrderedDict[str, tuple[list[Demonstrations], dict[str, Any]]] = OrderedDict()
        self._parts: OrderedDict[str, RhoPart] = OrderedDict()

    def facts(self) -> SiteFacts:
        terms = None if self.ledger is None else self.ledger.terms
        identity = self.problem.fingerprint() if terms is None else f"{self.name}: {terms}"
        return SiteFacts(self.name, len(self.problem.demonstrations), identity, terms)

    def check(self, reference: Demonstrations) -> str:
        return self.problem.with_demonstrations(reference).fingerprint()

    def sums(self, theta: tuple[float, ...]) -> SiteSums:
        count = len(self.problem.demonstrations)
        with self._lock:
            evaluation = self._evaluate(theta)
            if self.ledger is not None:
                return self._noisy_sums(evaluation, self.ledger)
        if not evaluation.ok:
            return SiteSums(math.nan, failure=evaluation.failure)
        assert evaluation.log_likelihoods is not None
        gradient = None if evaluation.gradient is None else count * evaluation.gradient
        return SiteSums(-math.fsum(evaluation.log_likelihoods), gradient)

    def _noisy_sums(self, evaluation: Evaluation, ledger: Ledger) -> SiteSums:
        """Whether theta has a policy is no secret, as demonstrations have no part in it; that the
        NLL is infinite would be."""
        if evaluation.log_likelihoods is None:
            return SiteSums(math.nan, failure=evaluation.failure)
        nll = np.nan_to_num(-evaluation.log_likelihoods, nan=np.inf)
        return SiteSums(ledger.noisy_sum(evaluation.theta, nll), sd=ledger.terms.sigma)

    def draw(self, draw: Draw) -> dict[str, Any]:
        with self._lock:
            return self._rollouts(draw)[1]

    def project(
        self, part: Part, thetas: FloatArray, slopes: bool
    ) -> tuple[FloatArray, FloatArray | None]:
        with self._lock:
            built = remember(self._parts, part.key, KEPT_PARTS, lambda: self._build(part))
            return built(self.problem.box.check(thetas), slopes)

    def behaviour(self, thetas: FloatArray) -> tuple[int, FloatArray]:
        self._refuse_if_private("how policies differ along single demonstrations")
        with self._lock:
            policies = [self._policy(tuple(row)) for row in thetas.tolist()]
            steps = int(self.problem.demonstrations.lengths.sum())
            return steps, steps * self.problem.behaviour_distances(policies)

    def _evaluate(self, theta: tuple[float, ...]) -> Evaluation:
        return remember(
            self._evaluations, theta, KEPT_EVALUATIONS, lambda: self.problem.evaluate(theta)
        )

    def _policy(self, theta: tuple[float, ...]) -> Any:
        evaluation = self._evaluate(theta)
        evaluation.raise_if_failed()
        return self.problem.policy_of(evaluation)

    def _rollouts(self, draw: Draw) -> tuple[list[Demonstrations], dict[str, Any]]:
        self._refuse_if_private("the rho-projection, which compares single demonstrations")
        key = json.dumps(asdict(draw))
        return remember(self._draws, key, KEPT_DRAWS, lambda: self._roll_out(draw))

    def _roll_out(self, draw: Draw) -> tuple[list[Demonstrations], dict[str, Any]]:
        chosen = self._chosen(draw.indices)
        rng = np.random.Generator(np.random.PCG64())
        try:
            rng.bit_generator.state = dict(draw.state)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise InvalidInputError(
                f"the state of the random numbers cannot be used ({error}); expected that of PCG64"
            ) from None
        policies = () if draw.theta is None else [self._policy(draw.theta)]
        rollouts = sample_rollouts(self.problem, chosen, draw.n, rng, policies)
        return rollouts, dict(rng.bit_generator.state)

    def _chosen(self, indices: tuple[int, ...]) -> Demonstrations:
        shown = self.problem.demonstrations
        if not indices or not all(0 <= index < len(shown) for index in indices):
            raise InvalidInputError(
                f"demonstrations {indices} are asked for; expected numbers below {len(shown)}"
            )
        return shown.subset(np.array(indices))

    def _build(self, part: Part) -> RhoPart:
        sets = {index: [self._chosen((index,))] for index in part.indices}
        for draw in part.draws:
            for index, rollouts in zip(draw.indices, self._rollouts(draw)[0], strict=True):
                if index not in sets:
                    raise InvalidInputError(
                        f"there are roll-outs for demonstration {index}, which has no row"
                    )
                sets[index].append(rollouts)
        reward = self.problem.reward.fix(**dict.fromkeys(part.drop, 0.0))
        together = [Demonstrations.concatenate(sets[index]) for index in part.indices]
        return RhoPart(self.problem, reward, together)

    def _refuse_if_private(self, what: str) -> None:
        if self.ledger is not None:
            raise SiteError(
                f"site {self.name!r} answers with privacy, and the sensitivity of {what}, has no "
                "bound; search with kernel='matern' or kernel='rbf', or give the coordinator's "
                "problem demonstrations that are public"
            )


def remember(
    known: OrderedDict[Key, Value], key: Key, most: int, make: Callable[[], Value]
) -> Value:
    """The value of a key, made where it is not known; the oldest ones are forgotten."""
    if key not in known:
        known[key] = make()
        while len(known) > most:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]
