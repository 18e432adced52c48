"""From a reward to the policy that is good for it."""

from boirl.policies.bellman import Bellman, TabularSolver, ValueSolution
from boirl.policies.tabular import TabularPolicy, expected_return

__all__ = ["Bellman", "TabularPolicy", "TabularSolver", "ValueSolution", "expected_return"]
