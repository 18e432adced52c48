"""Constraints as text."""

import pytest

from boirl.cli.constraining import parse_constraint, parse_constraints
from boirl.errors import InvalidInputError


def test_texts_become_constraints():
    (reach,) = parse_constraint("reach 14,15 <= 0.05")
    assert (reach.limit, reach.at_most) == (0.05, True)
    assert reach.quantity.where.tolist() == [14, 15]
    (steps,) = parse_constraint("steps >= 3")
    assert (steps.limit, steps.at_most) == (3.0, False)
    (linear,) = parse_constraint("time - 2 left + 0.5*u-turn <= -1")
    assert linear.weights == {"time": 1.0, "left": -2.0, "u-turn": 0.5}
    assert linear.limit == -1.0
    assert parse_constraints(None) == []
    assert len(parse_constraints(["steps <= 3", "time >= -1"])) == 2


@pytest.mark.parametrize("text", ["time", "time < 3", "reach x <= 1", "3 <= time", "time <= e", ""])
def test_other_texts_are_refused(text):
    with pytest.raises(InvalidInputError, match="expected"):
        parse_constraint(text)
