"""Constraints as text."""

import pytest

import boirl
from boirl.cli.constraining import parse_constraint, parse_constraints, states_at
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


def test_links_are_places_of_many_states():
    town = boirl.load_problem("road-network", n_links=40, n_demonstrations=2)
    link = int(town.network.turns[5, 1])
    (reach,) = parse_constraint(f"reach {link} <= 0.05", town)
    assert {town.state_name(state) for state in reach.quantity.where} == {f"link {link}"}
    assert reach.name == f"reaching {link}"
    with pytest.raises(InvalidInputError, match="there is no link 9999"):
        states_at([9999], town)
    assert states_at([3], None) == [3]


@pytest.mark.parametrize("text", ["time", "time < 3", "reach x <= 1", "3 <= time", "time <= e", ""])
def test_other_texts_are_refused(text):
    with pytest.raises(InvalidInputError, match="expected"):
        parse_constraint(text)
