"""The search: settings, proposals, storage and the loop, on top of Optuna."""

from boirl.search.acquisitions import ACQUISITIONS, Acquisition, Proposal
from boirl.search.explore import explore
from boirl.search.lookahead import two_step
from boirl.search.questions import Question
from boirl.search.sampler import RewardSampler
from boirl.search.settings import SearchSettings
from boirl.search.study import Study

__all__ = [
    "ACQUISITIONS",
    "Acquisition",
    "Proposal",
    "Question",
    "RewardSampler",
    "SearchSettings",
    "Study",
    "explore",
    "two_step",
]
