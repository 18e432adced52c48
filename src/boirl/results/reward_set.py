"""The answer of a search: every reward that explains the demonstrations, not just the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.stats import qmc

from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.priors import UNIFORM, LogDensity, Prior, as_prior, prior_from_facts
from boirl.problem import Problem
from boirl.results.findings import Health
from boirl.results.health import examine, mark_unsearched
from boirl.results.inference import ParameterSummary, sample_rewards, summarise_parameters
from boirl.results.report import describe
from boirl.results.result import RESULT_KINDS, Result
from boirl.results.verified import VERIFY_EVALUATIONS, VerifiedRewards, verify_rewards
from boirl.surrogate import FittedSurrogate, Observations, Surrogate
from boirl.surrogate.saved import surrogate_from_parts, surrogate_parts
from boirl.types import FloatArray, IntArray

VOLUME_POINTS = 2048
SAMPLE_STREAM = 5


@dataclass(frozen=True, eq=False, repr=False)
class RewardSet(Result):
    """All evaluations of a search and what the surrogate makes of them.

    Attributes:
        surrogate: Kernel and projection of the search.
        settings: The settings of the search, by name.
        prior: What was believed of theta beforehand.
    """

    surrogate: Surrogate
    settings: Mapping[str, Any]
    prior: Prior = UNIFORM

    kind: ClassVar[str] = "search"

    @property
    def title(self) -> str:
        return f"search with {self.settings.get('kernel', self.surrogate.kernel.name)}"

    @property
    def expected_best_index(self) -> int:
        """Number of the evaluation that is most likely to be the best.

        Under noise, the evaluation with the lowest NLL may have been lucky. Where evaluations are
        noisy, by their standard errors or by what the surrogate learned, this is the one with the
        lowest predicted NLL; elsewhere the one with the lowest NLL.
        """
        return int(np.flatnonzero(~np.isnan(self.nll))[self.fitted.best_index])

    @property
    def expected_best(self) -> FloatArray:
        """The theta of `expected_best_index`, `d`."""
        return self.thetas[self.expected_best_index]

    def predict_nll(self, theta: ArrayLike, observed: bool = False) -> tuple[Any, Any]:
        """Mean and standard deviation of the NLL at one theta, or at each of `n x d`.

        Args:
            theta: Where.
            observed: Whether the standard deviation is that of an evaluation, its noise included.
        """
        mean, sd = self.fitted.posterior(self.problem.box.check(theta), observed)
        return (float(mean[0]), float(sd[0])) if np.ndim(theta) <= 1 else (mean, sd)

    def sample(self, n: int = 1000, seed: int = 0, possible: bool = False) -> FloatArray:
        """Draw thetas, `n x d`, from the posterior over rewards; see `boirl.results.inference`.

        Args:
            n: Samples.
            seed: Of the samples.
            possible: Whether to draw them from all landscapes that the evaluations leave possible,
                not from the expected ones: where these differ, the search is not at its end.
        """
        if n < 1:
            raise InvalidInputError(f"n is {n}; expected at least one sample")
        rng = np.random.default_rng([seed, 0, SAMPLE_STREAM])
        count = len(self.problem.demonstrations)
        return sample_rewards(self.fitted, count, n, rng, self.prior, possible)

    def parameter_summary(self, n: int = 1000, seed: int = 0) -> list[ParameterSummary]:
        """Which parameters the demonstrations pin down, which they leave free, and of which the
        search does not know enough to tell.

        Args:
            n: Samples of the posterior over rewards that it is estimated from.
            seed: Of the samples.
        """
        summary = summarise_parameters(self.sample(n, seed), self.problem.box)
        return mark_unsearched(self, self.sample(n, seed, possible=True), summary)

    @cached_property
    def fitted(self) -> FittedSurrogate:
        """The Gaussian process, fitted to all evaluations."""
        seen = Observations.of(self.evaluations)
        return self.surrogate.fit(
            seen.thetas,
            seen.nll,
            nll_se=seen.nll_se,
            gradients=seen.gradients,
            failed=seen.failed,
        )

    def group_volumes(self, groups: Sequence[IntArray], limit: float) -> list[float]:
        """The share of the box that belongs to each group.

        Thetas all over the box whose predicted NLL is within the limit belong to the group of the
        evaluation that is nearest to them in the latent space, where what behaves alike lies
        together.
        """
        box = self.problem.box
        unit = qmc.Sobol(box.dimension, rng=np.random.default_rng(0)).random(VOLUME_POINTS)
        thetas = box.from_unit(unit)
        mean, _ = self.predict_nll(thetas)
        members = thetas[mean <= limit]
        if len(members) == 0:
            return [0.0] * len(groups)
        owners = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        known = self.fitted.latent(self.thetas[np.concatenate(groups)])
        nearest = cdist(self.fitted.latent(members), known).argmin(axis=1)
        counts = np.bincount(owners[nearest], minlength=len(groups))
        return (counts / VOLUME_POINTS).tolist()

    def health(self) -> Health:
        """How far to trust the answer: one finding per check, those that need attention first.

        From what was evaluated alone; nothing is solved. See `boirl.results.health`.
        """
        return self._health

    @cached_property
    def _health(self) -> Health:
        return examine(self)

    def verify(self, evaluations: int = VERIFY_EVALUATIONS, seed: int = 0) -> VerifiedRewards:
        """Turn samples of the surrogate into exact ones, by exact NLLs.

        For problems whose evaluations are cheap; see `boirl.results.verified`.

        Args:
            evaluations: Policy optimisations that it may take.
            seed: Of everything random.
        """
        return verify_rewards(self, evaluations, seed)

    def with_prior(self, prior: Prior | LogDensity | None) -> Self:
        """The same search, read under another prior over theta; see `boirl.priors`."""
        return replace(self, prior=as_prior(prior, self.problem.box))

    def log_prior(self, thetas: FloatArray) -> FloatArray:
        """Log density of the prior, up to a constant, at thetas `n x d`: `n`."""
        return self.prior.log_prior(thetas)

    def __str__(self) -> str:
        return describe(self, VERIFY_EVALUATIONS)

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = surrogate_parts(self.surrogate)
        prior = self.prior.facts(self.problem.box)
        return {"settings": dict(self.settings), "surrogate": facts, "prior": prior}, arrays

    @classmethod
    def from_parts(
        cls,
        problem: Problem[Any],
        evaluations: tuple[Evaluation, ...],
        facts: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
    ) -> Self:
        surrogate = surrogate_from_parts(problem, facts["surrogate"], arrays)
        # JSON has no tuples.
        settings = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in facts["settings"].items()
        }
        prior = prior_from_facts(facts.get("prior", {"kind": "uniform"}))
        return cls(problem, evaluations, surrogate, settings, prior)


RESULT_KINDS.register(RewardSet.kind, RewardSet)
