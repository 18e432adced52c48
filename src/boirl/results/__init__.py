"""What comes out: evaluations, the rewards that explain the demonstrations, and files of them."""

from boirl.results.files import load_result, save_result
from boirl.results.groups import RewardGroup, limit_above
from boirl.results.inference import ParameterSummary
from boirl.results.result import RESULT_KINDS, Result
from boirl.results.reward_set import RewardSet

__all__ = [
    "RESULT_KINDS",
    "ParameterSummary",
    "Result",
    "RewardGroup",
    "RewardSet",
    "limit_above",
    "load_result",
    "save_result",
]
