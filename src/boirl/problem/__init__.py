"""What is to be explained: an environment, a reward family, demonstrations and a solver."""

from boirl.problem.base import Problem
from boirl.problem.catalogue import PROBLEMS, ProblemEntry, load_problem
from boirl.problem.endings import check_ends
from boirl.problem.sources import load_source
from boirl.problem.tabular import TabularProblem

__all__ = [
    "PROBLEMS",
    "Problem",
    "ProblemEntry",
    "TabularProblem",
    "check_ends",
    "load_problem",
    "load_source",
]
