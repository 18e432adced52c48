"""What comes out: evaluations, the rewards that explain the demonstrations, and files of them."""

from boirl.results.files import RESULT_FILE, load_result, result_file, save_result
from boirl.results.findings import Finding, Health
from boirl.results.groups import RewardGroup, limit_above
from boirl.results.inference import ParameterSummary
from boirl.results.result import RESULT_KINDS, Result
from boirl.results.reward_set import RewardSet
from boirl.results.verified import VerifiedRewards

__all__ = [
    "RESULT_FILE",
    "RESULT_KINDS",
    "Finding",
    "Health",
    "ParameterSummary",
    "Result",
    "RewardGroup",
    "RewardSet",
    "VerifiedRewards",
    "limit_above",
    "load_result",
    "result_file",
    "save_result",
]
