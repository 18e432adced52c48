"""The answer of a search: every reward that explains the demonstrations, not just the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.stats import qmc

from boirl.constraints import NO_CONSTRAINTS, Constraints
from boirl.constraints.quantities import Quantity
from boirl.constraints.region import constrain
from boirl.errors import BoirlError, InvalidInputError
from boirl.estimation.profile import ProfileInterval
from boirl.evaluation import Evaluation
from boirl.files import prefixed, without_prefix
from boirl.lazy import load
from boirl.priors import UNIFORM, LogDensity, Prior, as_prior, prior_from_facts
from boirl.problem import Problem
from boirl.problem.preferences import Preferences
from boirl.results.feasible import infeasible_groups, no_solution
from boirl.results.findings import Health
from boirl.results.groups import RewardGroup
from boirl.results.health import examine, mark_unsearched
from boirl.results.inference import ParameterSummary, sample_rewards, summarise_parameters
from boirl.results.notebook import search_html
from boirl.results.posterior_export import arviz_data, total_log_likelihood
from boirl.results.profiles import expected_interval
from boirl.results.report import describe
from boirl.results.result import RESULT_KINDS, Result
from boirl.results.summary import search_facts
from boirl.results.verified import VERIFY_EVALUATIONS, VerifiedRewards, verify_rewards
from boirl.surrogate import FittedSurrogate, Observations, Surrogate
from boirl.surrogate.saved import surrogate_from_parts, surrogate_parts
from boirl.types import FloatArray, IntArray

VOLUME_POINTS = 2048
SAMPLES = 1000
SAMPLE_STREAM = 5


@dataclass(frozen=True, eq=False, repr=False)
class RewardSet(Result):
    """All evaluations of a search and what the surrogate makes of them.

    Attributes:
        surrogate: Kernel and projection of the search.
        settings: The settings of the search, by name.
        prior: What was believed of theta beforehand.
        preferences: Comparisons that count beside the demonstrations, in all NLLs.
        constraints: What a solution must be like.
    """

    surrogate: Surrogate
    settings: Mapping[str, Any]
    prior: Prior = UNIFORM
    preferences: Preferences | None = None
    constraints: Constraints = NO_CONSTRAINTS

    kind: ClassVar[str] = "search"

    @property
    def title(self) -> str:
        return f"search with {self.settings.get('kernel', self.surrogate.kernel.name)}"

    @cached_property
    def feasible(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.constraints.feasible(self.evaluations, self.problem.box)
        return found

    def _no_solution(self) -> str:
        return no_solution(self)

    def infeasible_groups(
        self, tolerance: float = 0.10, distance: float | None = None, absolute: bool = False
    ) -> list[RewardGroup]:
        """Rewards that explain the demonstrations as well and break a constraint, by behaviour.

        Arguments as of `groups`; the tolerance is that of the best solution.
        """
        return infeasible_groups(self, tolerance, distance, absolute)

    @property
    def expected_best_index(self) -> int:
        """Number of the evaluation that is most likely to be the best.

        Under noise, the evaluation with the lowest NLL may have been lucky. Where evaluations are
        noisy, by their standard errors or by what the surrogate learned, this is the one with the
        lowest predicted NLL; elsewhere the one with the lowest NLL.
        """
        return int(self._seen.numbers[self.fitted.best_index])

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

    def sample(self, n: int = SAMPLES, seed: int = 0, possible: bool = False) -> FloatArray:
        """Draw thetas, `n x d`, from the posterior over rewards; see `boirl.results.inference`.

        Args:
            n: Samples.
            seed: Of the samples.
            possible: Whether to draw them from all landscapes that the evaluations leave possible,
                not from the expected ones: where these differ, the search is not at its end.
        """
        if n < 1:
            raise InvalidInputError(f"n is {n}; expected at least one sample")
        if not self.feasible.any() and np.isfinite(self.nll).any():
            raise BoirlError(self._no_solution())
        key = (n, seed, possible)
        if key not in self._drawn:
            rng = np.random.default_rng([seed, 0, SAMPLE_STREAM])
            count = len(self.problem.demonstrations)
            self._drawn[key] = sample_rewards(self.fitted, count, n, rng, self.prior, possible)
        return self._drawn[key].copy()

    @cached_property
    def _drawn(self) -> dict[tuple[int, int, bool], FloatArray]:
        """Samples by what was asked for: health and summary look at the same ones."""
        return {}

    def parameter_summary(self, n: int = SAMPLES, seed: int = 0) -> list[ParameterSummary]:
        """Which parameters the demonstrations pin down, which they leave free, and of which the
        search does not know enough to tell.

        Args:
            n: Samples of the posterior over rewards that it is estimated from.
            seed: Of the samples.
        """
        summary = summarise_parameters(self.sample(n, seed), self.problem.box)
        return mark_unsearched(self, self.sample(n, seed, possible=True), summary)

    def profile_interval(self, name: str, level: float = 0.95) -> ProfileInterval:
        """The values of a parameter that a likelihood-ratio test does not reject at a level, by the
        NLL that the search expects: nothing is solved. `boirl.maximum_likelihood` is exact."""
        return expected_interval(self.fitted, name, level)

    @cached_property
    def _seen(self) -> Observations:
        """What the Gaussian process is fitted to."""
        return Observations.of(self.evaluations).thinned(self.problem.box)

    @cached_property
    def fitted(self) -> FittedSurrogate:
        """The Gaussian process, fitted to all evaluations, or to those that tell most of them."""
        seen = self._seen
        fitted = self.surrogate.fit(
            seen.thetas,
            seen.nll,
            nll_se=seen.nll_se,
            gradients=seen.gradients,
            failed=seen.failed,
        )
        known = [self.evaluations[number] for number in seen.numbers]
        return constrain(fitted, self.surrogate, self.constraints, known)

    def group_volumes(self, groups: Sequence[IntArray], limit: float) -> list[float]:
        """The share of the box that belongs to each group.

        Thetas all over the box whose predicted NLL is within the limit belong to the group of the
        evaluation that is nearest to them in the latent space, where what behaves alike lies
        together. Where an evaluation is more likely than not to fail or to break a constraint,
        there are no solutions.
        """
        box = self.problem.box
        unit = qmc.Sobol(box.dimension, rng=np.random.default_rng(0)).random(VOLUME_POINTS)
        thetas = box.from_unit(unit)
        mean, _ = self.predict_nll(thetas)
        members = thetas[(mean <= limit) & self.fitted.feasibility.is_likely(unit)]
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

    def questions(
        self, n: int = 3, kind: Literal["start", "comparison"] = "start", **options: Any
    ) -> list[Any]:
        """What to ask next, the most informative question first.

        Args:
            n: How many.
            kind: `"start"`: a start from which to ask for a demonstration; see
                `boirl.decisions.ask`. `"comparison"`: two trajectories, of which to ask for the
                better one; see `boirl.decisions.ask_comparisons`.
            **options: Of these functions.

        Returns:
            Questions, each with its `start` and the expected `information` in nats.
        """
        # Decisions are a layer above results, so they are found by name.
        homes = {"start": "questions:ask", "comparison": "comparisons:ask_comparisons"}
        if kind not in homes:
            raise InvalidInputError(f"kind is {kind!r}; expected 'start' or 'comparison'")
        asked: list[Any] = load(f"boirl.decisions.{homes[kind]}")(self, n, **options)
        return asked

    def policy(self, index: int | None = None, **options: Any) -> Any:
        """The policy behind an evaluation, or one policy for the whole set.

        Args:
            index: Number of an evaluation; see `Result.policy`.
            **options: Without a number: `risk="mean"` for the policy that is best on average over
                the posterior, `"worst"` for the best in the worst case, or a level between 0 (the
                mean) and 1 (the worst); and the others of `boirl.decisions.act`.

        Returns:
            A policy. With `risk`, a `boirl.decisions.Decision`: it can be used as a policy, and
            has its regrets under each group of rewards beside those of the single best reward.
        """
        if index is not None:
            if options:
                raise InvalidInputError(
                    f"the number of an evaluation is given together with {sorted(options)}; "
                    "expected one of them"
                )
            return super().policy(index)
        if not options:
            raise InvalidInputError(
                "neither the number of an evaluation nor a risk is given; expected for instance "
                "found.policy(found.best_index) or found.policy(risk='worst')"
            )
        return load("boirl.decisions.acting:act")(self, **options)

    def transfer(
        self, other: Problem[Any], quantities: Sequence[Quantity] = (), **options: Any
    ) -> Any:
        """The rewards in a changed environment: what they would do there, with intervals.

        Args:
            other: The changed problem, with the same parameters of the reward.
            quantities: What to measure, such as `boirl.constraints.Reach([7])`.
            **options: Of `boirl.decisions.transfer`.

        Returns:
            A `boirl.decisions.Transfer`.
        """
        return load("boirl.decisions.transfer:transfer")(self, other, quantities, **options)

    def with_prior(self, prior: Prior | LogDensity | None) -> Self:
        """The same search, read under another prior over theta; see `boirl.priors`."""
        return replace(self, prior=as_prior(prior, self.problem.box))

    @cached_property
    def truth(self) -> Evaluation | None:
        known = super().truth
        if known is None or self.preferences is None:
            return known
        return self.preferences.scored(self.problem, known)

    def log_prior(self, thetas: FloatArray) -> FloatArray:
        """Log density of the prior, up to a constant, at thetas `n x d`: `n`."""
        return self.prior.log_prior(thetas)

    def __str__(self) -> str:
        return describe(self, VERIFY_EVALUATIONS)

    def to_dict(self) -> dict[str, Any]:
        """Everything that a program may want to know, ready for JSON."""
        return search_facts(self)

    def to_arviz(self, n: int = 1000, seed: int = 0) -> Any:
        """Samples of the posterior over rewards as an ArviZ `InferenceData`.

        Its `sample_stats` hold the predicted log-likelihood of all demonstrations, `lp`.

        Args:
            n: Samples.
            seed: Of the samples.
        """
        samples = self.sample(n, seed)
        nll, _ = self.predict_nll(samples)
        lp = total_log_likelihood(self, nll)
        return arviz_data(samples, self.problem.box, self.problem.name, lp)

    def _repr_html_(self) -> str:
        return search_html(self)

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = surrogate_parts(self.surrogate)
        prior = self.prior.facts(self.problem.box)
        if self.preferences is not None:
            arrays = {**arrays, **prefixed("preferences", self.preferences.to_dict())}
        constraints = self.constraints.facts()
        own = {"settings": dict(self.settings), "prior": prior, "constraints": constraints}
        return {**own, "surrogate": facts}, arrays

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
        compared = without_prefix("preferences", arrays)
        preferences = Preferences.from_dict(compared) if compared else None
        constraints = Constraints.from_facts(facts.get("constraints", []))
        return cls(problem, evaluations, surrogate, settings, prior, preferences, constraints)


RESULT_KINDS.register(RewardSet.kind, RewardSet)
