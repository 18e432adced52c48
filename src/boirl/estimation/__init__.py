"""Maximum likelihood by exact gradients, and how estimates are judged and compared."""

from boirl.estimation.comparison import ComparedModel, Comparison, compare
from boirl.estimation.cross_validation import CrossValidation, cross_validate
from boirl.estimation.estimate import Estimate, maximum_likelihood
from boirl.estimation.information import FlatDirection
from boirl.estimation.likelihood_ratio import LikelihoodRatioTest
from boirl.estimation.profile import ProfileInterval

__all__ = [
    "ComparedModel",
    "Comparison",
    "CrossValidation",
    "Estimate",
    "FlatDirection",
    "LikelihoodRatioTest",
    "ProfileInterval",
    "compare",
    "cross_validate",
    "maximum_likelihood",
]
