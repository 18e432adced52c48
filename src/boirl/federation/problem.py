"""A problem whose demonstrations are at several sites."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError, SolverError
from boirl.evaluation import Evaluation, PolicyArrays
from boirl.federation.elsewhere import DemonstrationsElsewhere
from boirl.federation.projection import FederatedLogRho, ask_all
from boirl.federation.questions import Site, SiteSums
from boirl.federation.site import LocalSite
from boirl.policies import TabularPolicy
from boirl.problem import Problem, TabularProblem
from boirl.projections import (
    PROJECTIONS,
    Projection,
    choose_demonstrations,
    sample_rollouts,
)
from boirl.projections.elsewhere import ProjectsElsewhere
from boirl.rewards import Transitions
from boirl.types import Difference, FloatArray, Report

NLL_BITS, GRADIENT_BITS = 36, 30
"""Binary digits of a mean that do not depend on the order of a sum, with many to spare: the others
are rounded away, or a search would follow them elsewhere (docs/federation.md)."""


@dataclass(frozen=True, eq=False)
class PolicyOfTheta(TabularPolicy):
    """A policy that remembers the theta it is of, so that sites can make it themselves."""

    theta: tuple[float, ...] = ()


class FederatedProblem(Problem[TabularPolicy], ProjectsElsewhere):
    """One problem, several sites with demonstrations that do not travel.

    An evaluation asks every site for the sums over its own demonstrations and adds them up: the
    NLL, and its gradient, of all demonstrations together. `explore`, `Study` and results take it
    as any other problem.

    Args:
        problem: Dynamics, reward family and solver, which all sites have as well. Demonstrations
            that it holds are taken for public: the projection is built on them, and not on those
            of the sites; they do not count in the likelihood.
        sites: Hold the demonstrations to explain.
    """

    tells_where: ClassVar[bool] = False

    def __init__(self, problem: Problem[Any], sites: Sequence[Site]) -> None:
        if not isinstance(problem, TabularProblem):
            raise InvalidInputError(
                f"problem {problem.name!r} is a {type(problem).__name__}; a federation needs known "
                "dynamics, those of a TabularProblem"
            )
        if not sites:
            raise InvalidInputError("there are no sites; expected at least one")
        self.problem = problem
        self.sites = tuple(sites)
        self.facts = [site.facts() for site in sites]
        names = [one.name for one in self.facts]
        if len(set(names)) < len(names):
            raise InvalidInputError(f"the sites are called {names}; expected different names")
        first = np.array([problem.mdp.start.argmax()])
        self._reference = problem.roll_out(None, first, 1, np.random.default_rng(0))
        own = problem.with_demonstrations(self._reference).fingerprint()
        for site, name in zip(sites, names, strict=True):
            if site.check(self._reference) != own:
                raise InvalidInputError(
                    f"site {name!r} has another problem than {problem.name!r}: dynamics, reward "
                    "family or solver differ; start it with the same"
                )
        self.name = problem.name
        self.reward = problem.reward
        self.truth = problem.truth
        self.recipe = None
        self.demonstrations = DemonstrationsElsewhere(
            sum(one.n_demonstrations for one in self.facts), tuple(names)
        )

    @classmethod
    def split(cls, problem: TabularProblem, sizes: Sequence[int]) -> FederatedProblem:
        """The demonstrations of a problem, at sites in this process: the first so many at the
        first, and so on. With a single size, all at one site: what a federation is compared with.
        """
        ends = np.cumsum(sizes)
        if len(sizes) == 0 or min(sizes) < 1 or ends[-1] != len(problem.demonstrations):
            raise InvalidInputError(
                f"the sizes are {list(sizes)}; expected numbers that sum to the "
                f"{len(problem.demonstrations)} demonstrations"
            )
        sites = [
            LocalSite(
                problem.with_demonstrations(
                    problem.demonstrations.subset(np.arange(end - size, end))
                ),
                f"site-{number}",
            )
            for number, (end, size) in enumerate(zip(ends.tolist(), sizes, strict=True))
        ]
        return cls(without_demonstrations(problem), sites)

    @property
    def gamma(self) -> float:
        return self.problem.gamma

    @property
    def has_demonstrations(self) -> bool:
        return True

    @property
    def is_private(self) -> bool:
        """Whether some site answers with noise."""
        return any(one.terms is not None for one in self.facts)

    def _evaluate(self, theta: FloatArray, seed: int | None, report: Report) -> Evaluation:
        chosen = tuple(theta.tolist())
        sums = ask_all(lambda site: site.sums(chosen), self.sites, self._remote)
        for one, facts in zip(sums, self.facts, strict=True):
            if one.failure is not None:
                raise SolverError(f"site {facts.name!r}: {one.failure}")
        return self._pooled(chosen, sums)

    def _pooled(self, theta: tuple[float, ...], sums: Sequence[SiteSums]) -> Evaluation:
        """The evaluation that sums of all sites add up to."""
        count, box = len(self.demonstrations), self.box
        nll = math.fsum(one.nll for one in sums) / count
        gradients = [one.gradient for one in sums if one.gradient is not None]
        gradient = None
        if len(gradients) == len(sums):
            by_unit = np.sum(gradients, axis=0) / count * (box.high - box.low)
            gradient = _rounded(by_unit, nll, GRADIENT_BITS) / (box.high - box.low)
        noise = math.sqrt(math.fsum(one.sd**2 for one in sums)) / count
        rounded = float(_rounded(np.array(nll), nll, NLL_BITS))
        return Evaluation(theta, rounded, nll_se=noise, gradient=gradient, n_policies=len(sums))

    @property
    def _remote(self) -> bool:
        return any(site.is_remote for site in self.sites)

    def build_projection(
        self,
        name: str,
        n_demonstrations: int,
        n_rollouts: int,
        rng: np.random.Generator,
        drop: Sequence[str],
    ) -> Projection:
        if self.problem.has_demonstrations:
            chosen = choose_demonstrations(self.problem.demonstrations, n_demonstrations, rng)
            rollouts = sample_rollouts(self.problem, chosen, n_rollouts, rng)
            reward = self.reward.fix(**dict.fromkeys(drop, 0.0))
            return PROJECTIONS[name](self.problem, chosen, rollouts, reward)
        if name != FederatedLogRho.name:
            raise InvalidInputError(
                f"the projection is {name!r}; a federation has {FederatedLogRho.name!r} alone"
            )
        places = [
            (number, index)
            for number, facts in enumerate(self.facts)
            for index in range(facts.n_demonstrations)
        ]
        order = rng.permutation(len(places))[:n_demonstrations]
        return FederatedLogRho.drawn(
            self.sites, [places[one] for one in order.tolist()], n_rollouts, rng, drop
        )

    def nll_batch(self, thetas: ArrayLike) -> FloatArray:
        return np.array([self.evaluate(row).nll for row in self.box.check(thetas)])

    def nll(self, theta: ArrayLike) -> float:
        evaluation = self.evaluate(theta)
        evaluation.raise_if_failed()
        return evaluation.nll

    def policy(self, theta: ArrayLike) -> PolicyOfTheta:
        chosen = self.box.check_one(theta)
        return _with_theta(self.problem.policy(chosen), tuple(chosen.tolist()))

    def compact_policy(self, policy: TabularPolicy) -> PolicyArrays:
        return self.problem.compact_policy(policy)

    def _restore_policy(self, arrays: PolicyArrays, evaluation: Evaluation) -> PolicyOfTheta:
        return _with_theta(self.problem._restore_policy(arrays, evaluation), evaluation.theta)

    def behaviour_distances(self, policies: Sequence[TabularPolicy]) -> FloatArray:
        """As of the problem, where the demonstrations of all sites went."""
        thetas = np.array(
            [policy.theta for policy in policies if isinstance(policy, PolicyOfTheta)]
        )
        if len(thetas) < len(policies):
            raise InvalidInputError(
                "some policy is of no theta of the family; a federation compares policies of thetas"
            )
        answers = ask_all(lambda site: site.behaviour(thetas), self.sites, self._remote)
        steps = sum(one for one, _ in answers)
        return np.asarray(sum(matrix for _, matrix in answers)) / steps

    def most_different(self, one: TabularPolicy, other: TabularPolicy, n: int) -> list[Difference]:
        raise InvalidInputError(
            "where two policies differ most along the demonstrations would say where these went; "
            "they stay at their sites"
        )

    def with_demonstrations(self, demonstrations: Demonstrations) -> TabularProblem:
        """The problem with demonstrations at hand; the sites have no part in it."""
        return self.problem.with_demonstrations(demonstrations)

    def complete(self, demonstrations: Demonstrations) -> Demonstrations:
        return self.problem.complete(demonstrations)

    def roll_out(
        self, policy: TabularPolicy | None, starts: Any, horizon: int, rng: np.random.Generator
    ) -> Demonstrations:
        return self.problem.roll_out(policy, starts, horizon, rng)

    def demonstrate(
        self, theta: ArrayLike, count: int, seed: int, horizon: int | None = None
    ) -> Demonstrations:
        return self.problem.demonstrate(theta, count, seed, horizon)

    def true_return(self, policy: TabularPolicy) -> float:
        """As of the problem: from its own starts, not from those of the demonstrations."""
        return self.problem.true_return(policy)

    def probed_transitions(self) -> Transitions:
        return self.problem.probed_transitions()

    def fingerprint(self) -> str:
        public = self.problem.with_demonstrations(self._reference).fingerprint()
        sites = [[one.name, one.n_demonstrations, one.identity] for one in self.facts]
        return hashlib.sha256(json.dumps([public, sites]).encode()).hexdigest()[:16]

    def _sizes(self) -> list[str]:
        return [*self.problem._sizes(), f"{len(self.sites)} sites"]


def without_demonstrations(problem: TabularProblem) -> TabularProblem:
    """The same problem, with nothing to explain yet."""
    return replace(problem, demonstrations=cast(Demonstrations, None))


def _rounded(values: FloatArray, scale: float, bits: int) -> FloatArray:
    """Values to so many binary digits of a scale, or of 1 where that is more."""
    step = 2.0 ** (math.ceil(math.log2(max(1.0, abs(scale)))) - bits)
    return np.round(values / step) * step


def _with_theta(policy: TabularPolicy, theta: tuple[float, ...]) -> PolicyOfTheta:
    return PolicyOfTheta(policy.log_probabilities, policy.values, policy.facts, theta)
