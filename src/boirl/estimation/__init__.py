"""Maximum likelihood by exact gradients."""

from boirl.estimation.estimate import Estimate, maximum_likelihood
from boirl.estimation.information import FlatDirection
from boirl.estimation.profile import ProfileInterval

__all__ = ["Estimate", "FlatDirection", "ProfileInterval", "maximum_likelihood"]
