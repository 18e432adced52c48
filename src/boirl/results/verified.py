"""A verified answer: samples of the posterior over rewards by exact NLLs, not by the surrogate.

The surrogate says where to look; each theta is then evaluated and weighted by what it is worth
exactly, `exp(-N NLL) prior / proposal`. The weights say themselves how far to trust them.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from boirl.errors import InvalidInputError, SolverError
from boirl.files import damage_reported, read_arrays, write_arrays
from boirl.problem import Problem
from boirl.results.feasible import exact_nll
from boirl.results.findings import Finding, Health
from boirl.results.importance import effective_size, importance_sample, smooth_tail
from boirl.results.inference import ParameterSummary, summarise_parameters
from boirl.results.report import parameter_lines
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import Box, FloatArray

if TYPE_CHECKING:
    from boirl.results.reward_set import RewardSet

VERIFY_EVALUATIONS = 2000
LEAST_EVALUATIONS = 50
LEAST_EFFECTIVE = 156
"""With so many effective samples, the standard error of the 2.5 % beyond an interval is half of
that: `4 * 0.975 / 0.025`."""

HEAVIEST_TAIL = 0.7
"""Shape of the weights' tail up to which estimates by importance are reliable (Vehtari et al.)."""

GUESSES = 1000
VERIFY_STREAM = 6
FORMAT = 1


@dataclass(frozen=True, eq=False, repr=False)
class VerifiedRewards:
    """Rewards with exact NLLs and exact weights.

    Attributes:
        name: Of the problem.
        box: The rewards under consideration.
        n_demonstrations: How many demonstrations an NLL is the mean of.
        searched_nll: The lowest NLL of the search that was verified.
        thetas: `n x d`.
        nll: Exact, `n`; NaN where the solver failed.
        weights: Of the posterior, `n`; they sum to 1, and are 0 where the solver failed.
        effective_sample_size: How many unweighted samples are worth as much.
        tail_shape: Of the largest weights (Pareto `k`).
    """

    name: str
    box: Box
    n_demonstrations: int
    searched_nll: float
    thetas: FloatArray
    nll: FloatArray
    weights: FloatArray
    effective_sample_size: float
    tail_shape: float

    @property
    def evaluations(self) -> int:
        """Policy optimisations that it took."""
        return len(self.thetas)

    @property
    def best(self) -> FloatArray:
        """The theta with the lowest NLL, `d`."""
        return self.thetas[int(np.nanargmin(self.nll))]

    @property
    def best_nll(self) -> float:
        return float(np.nanmin(self.nll))

    def samples(self, n: int = 1000, seed: int = 0) -> FloatArray:
        """Draw thetas, `n x d`, by their weights; each was evaluated."""
        if n < 1:
            raise InvalidInputError(f"n is {n}; expected at least one sample")
        rng = np.random.default_rng([seed, 0, VERIFY_STREAM])
        # Systematic: a weight of w gets n w samples, but for rounding.
        ticks = (rng.random() + np.arange(n)) / n
        chosen = np.searchsorted(np.cumsum(self.weights), ticks * self.weights.sum())
        return self.thetas[rng.permutation(np.minimum(chosen, len(self.thetas) - 1))]

    def to_dict(self) -> dict[str, Any]:
        """Everything that a program may want to know, ready for JSON."""
        from boirl.results.summary import verified_facts

        return verified_facts(self)

    def to_arviz(self, n: int = 1000, seed: int = 0) -> Any:
        """Exact samples of the posterior over rewards as an ArviZ `InferenceData`."""
        from boirl.results.posterior_export import arviz_data

        return arviz_data(self.samples(n, seed), self.box, self.name)

    def parameter_summary(self) -> list[ParameterSummary]:
        """Which parameters the demonstrations pin down, and which they leave free."""
        return summarise_parameters(self.samples(max(1000, self.evaluations)), self.box)

    @cached_property
    def _health(self) -> Health:
        return Health([self._check_weights(), self._check_best(), *self._check_failures()])

    def health(self) -> Health:
        """How far to trust it: one finding per check, those that need attention first."""
        return self._health

    def _check_weights(self) -> Finding:
        size, k = self.effective_sample_size, self.tail_shape
        data = {"effective_sample_size": size, "tail_shape": k}
        text = f"{size:.0f} effective samples of {self.evaluations} evaluations, tail shape {k:.2f}"
        # A heavy tail does no harm as long as no weight in it is that of many others.
        light = k <= HEAVIEST_TAIL or float(self.weights.max()) <= 1.0 / LEAST_EFFECTIVE
        if size >= LEAST_EFFECTIVE and light:
            return Finding("weights", False, text, data)
        text += (
            f" (expected at least {LEAST_EFFECTIVE} and at most {HEAVIEST_TAIL}); verify with more "
            "evaluations, or search longer first"
        )
        return Finding("weights", True, text, data)

    def _check_best(self) -> Finding:
        gain = self.searched_nll - self.best_nll
        tolerance = likelihood_ratio_tolerance(self.n_demonstrations, self.box.dimension)
        data = {"gain": gain, "tolerance": tolerance}
        if gain <= tolerance:
            text = "nothing was found that is better beyond the likelihood-ratio tolerance"
            return Finding("better reward", False, text, data)
        text = (
            f"a reward with an NLL {gain:.3g} below the best of the search was found, "
            f"{gain / tolerance:.1f} times the likelihood-ratio tolerance: the search had not "
            "ended; continue it from verified.best"
        )
        return Finding("better reward", True, text, data)

    def _check_failures(self) -> list[Finding]:
        failed = int(np.isnan(self.nll).sum())
        if not failed:
            return []
        text = (
            f"the solver failed for {failed} of {self.evaluations} thetas, or they break a "
            "constraint; these have no weight"
        )
        return [Finding("failed evaluations", False, text, {"count": failed})]

    def __repr__(self) -> str:
        return (
            f"VerifiedRewards({self.name!r}, {self.evaluations} evaluations, "
            f"{self.effective_sample_size:.0f} effective samples)"
        )

    def __str__(self) -> str:
        lines = [
            f"{self.name}: verified by {self.evaluations} exact evaluations, worth "
            f"{self.effective_sample_size:.0f} samples of the posterior; best NLL "
            f"{self.best_nll:.4f}"
        ]
        attention = self.health().attention
        if attention:
            lines += ["needs attention:", *(f"  ! {one}" for one in attention)]
        lines.append("what is known of each parameter (95 % interval, median):")
        return "\n".join([*lines, *parameter_lines(self.parameter_summary())])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one `.npz` file; an older file stays whole if that fails."""
        facts = {
            "format": FORMAT,
            "name": self.name,
            "names": list(self.box.names),
            "n_demonstrations": self.n_demonstrations,
            "searched_nll": self.searched_nll,
            "effective_sample_size": self.effective_sample_size,
            "tail_shape": self.tail_shape,
        }
        arrays: dict[str, Any] = {"verified": np.array(json.dumps(facts))}
        arrays |= {"low": self.box.low, "high": self.box.high, "thetas": self.thetas}
        write_arrays(path, arrays | {"nll": self.nll, "weights": self.weights})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> VerifiedRewards:
        """Read what `save` wrote."""
        arrays = read_arrays(path, "a verified answer")
        if "verified" not in arrays:
            raise InvalidInputError(
                f"{os.fspath(path)!r} holds {sorted(arrays)}; expected a file that "
                "VerifiedRewards.save wrote"
            )
        with damage_reported(path, "a verified answer"):
            facts = json.loads(str(arrays["verified"]))
            return cls(
                facts["name"],
                Box(tuple(facts["names"]), arrays["low"], arrays["high"]),
                facts["n_demonstrations"],
                facts["searched_nll"],
                arrays["thetas"],
                arrays["nll"],
                arrays["weights"],
                facts["effective_sample_size"],
                facts["tail_shape"],
            )


def check_verifiable(problem: Problem[Any], evaluations: int) -> None:
    """Refuse to verify where that cannot be done."""
    if problem.is_model_free:
        raise InvalidInputError(
            f"the policies of problem {problem.name!r} are learned, so that its NLLs are not exact "
            "and it cannot be verified; expected known dynamics"
        )
    if evaluations < LEAST_EVALUATIONS:
        raise InvalidInputError(
            f"the evaluations to verify by are {evaluations}; expected at least "
            f"{LEAST_EVALUATIONS}, as each is one weighted sample"
        )


def verify_rewards(found: RewardSet, evaluations: int, seed: int) -> VerifiedRewards:
    """See `RewardSet.verify`."""
    problem = found.problem
    check_verifiable(problem, evaluations)
    box, n = problem.box, len(problem.demonstrations)
    batches: list[FloatArray] = []

    def log_density(unit: FloatArray) -> FloatArray:
        thetas = box.from_unit(unit)
        nll = exact_nll(found, thetas)
        batches.append(nll)
        values = -n * (nll - found.best_nll) + found.log_prior(thetas)
        return np.where(np.isnan(values), -np.inf, values)

    rng = np.random.default_rng([seed, 1, VERIFY_STREAM])
    guess = box.to_unit(found.sample(GUESSES, seed))
    drawn = importance_sample(log_density, guess, evaluations, rng)
    if not np.isfinite(drawn.log_weights).any():
        raise SolverError(
            f"none of {evaluations} thetas has a policy and a prior above 0; expected some: run "
            "more evaluations of the search first"
        )
    smoothed, k = smooth_tail(drawn.log_weights)
    weights = np.exp(smoothed - smoothed.max())
    return VerifiedRewards(
        problem.name,
        box,
        n,
        found.best_nll,
        box.from_unit(drawn.points),
        np.concatenate(batches),
        weights / weights.sum(),
        effective_size(smoothed),
        k,
    )
