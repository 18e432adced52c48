"""What a reward, or the behaviour that it leads to, must be like to count as a solution.

boirl.explore(
    problem,
    constraints=[
        boirl.constraints.bounds(time=(-3, 0)),
        boirl.constraints.linear({"time": 1, "left": -2}, at_most=0),
        boirl.constraints.reaches([14], at_most=0.05),
        boirl.constraints.expects(steps, at_most=12.5),
    ],
)
"""

from boirl.constraints.behaviour import BehaviourConstraint, custom, expects, reaches
from boirl.constraints.collection import NO_CONSTRAINTS, Constraints
from boirl.constraints.quantities import ExpectedTotal, Function, Measured, Quantity, Reach
from boirl.constraints.theta import LinearConstraint, bounds, linear

__all__ = [
    "NO_CONSTRAINTS",
    "BehaviourConstraint",
    "Constraints",
    "ExpectedTotal",
    "Function",
    "LinearConstraint",
    "Measured",
    "Quantity",
    "Reach",
    "bounds",
    "custom",
    "expects",
    "linear",
    "reaches",
]
