"""Likelihood-ratio tests between two nested reward families."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scipy.stats import chi2

from boirl.errors import InvalidInputError
from boirl.estimation.nesting import contains, different_setting, same_demonstrations

if TYPE_CHECKING:
    from boirl.estimation.estimate import Estimate

SLACK = 1e-4
"""Log-likelihood by which the larger family may fall short of the smaller one: what two descents
leave to gain."""


class LikelihoodRatioTest(NamedTuple):
    """Whether the further parameters of the larger of two families explain more than chance does.

    Attributes:
        statistic: Twice the difference of the log-likelihoods.
        degrees_of_freedom: Further parameters that the demonstrations determine.
        p_value: Probability of a statistic at least as large if the smaller family is right, by the
            chi-squared distribution that it has with many demonstrations.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float

    def __str__(self) -> str:
        return (
            f"chi-squared({self.degrees_of_freedom}) = {self.statistic:.4f}, p = {self.p_value:.4g}"
        )


def likelihood_ratio_test(larger: Estimate, smaller: Estimate) -> LikelihoodRatioTest:
    """Test the smaller family against the larger one.

    Raises:
        InvalidInputError: The families are not nested, as far as can be told.
    """
    names = f"{larger.problem.name!r} and {smaller.problem.name!r}"
    if not same_demonstrations(larger.problem, smaller.problem):
        raise InvalidInputError(
            f"the estimates of {names} are from different demonstrations "
            f"({larger.problem.demonstrations!r} and {smaller.problem.demonstrations!r}); expected "
            "the same: estimate both from them"
        )
    differs = different_setting(larger.problem, smaller.problem)
    if differs is not None:
        raise InvalidInputError(
            f"the models of {names} are not nested: {differs}; expected them to differ in the "
            "reward family alone (AIC, BIC and held-out likelihoods compare any two)"
        )
    if len(larger.theta) <= len(smaller.theta):
        raise InvalidInputError(
            f"the larger family has {len(larger.theta)} parameters and the smaller one "
            f"{len(smaller.theta)}; expected more: call larger.likelihood_ratio_test(smaller)"
        )
    if contains(larger.problem, smaller.problem) is False:
        raise InvalidInputError(
            f"the family with the parameters {', '.join(larger.names)} does not contain the one "
            f"with {', '.join(smaller.names)}; expected nested families (AIC, BIC and held-out "
            "likelihoods compare any two)"
        )
    gain = larger.log_likelihood - smaller.log_likelihood
    if gain < -SLACK:
        raise InvalidInputError(
            f"the larger family has the log-likelihood {larger.log_likelihood:.6g} and the smaller "
            f"one {smaller.log_likelihood:.6g}; expected no less: either it does not contain the "
            "smaller one within its bounds, or its descents missed the optimum (estimate it with "
            "more starts, or with initial=...)"
        )
    freedom = larger.n_determined - smaller.n_determined
    if freedom < 1:
        raise InvalidInputError(
            f"the demonstrations determine {larger.n_determined} directions of the larger family "
            f"and {smaller.n_determined} of the smaller one; expected more: the further parameters "
            "change nothing that was observed, and there is nothing to test"
        )
    statistic = max(0.0, 2.0 * gain)
    return LikelihoodRatioTest(statistic, freedom, float(chi2.sf(statistic, freedom)))
