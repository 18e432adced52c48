"""Problems that nobody tuned for, each with its exact answer, to measure searches on."""

from boirl.experiments.suite.catalogue import GENERATORS, suite_problem
from boirl.experiments.suite.comparison import EXPERIMENT

__all__ = ["EXPERIMENT", "GENERATORS", "suite_problem"]
