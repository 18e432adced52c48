"""Changed environments by name of what changes."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import boirl
from boirl.decisions.changed import changed_problem
from boirl.errors import InvalidInputError


def test_states_close_and_starts_move(junction):
    other: Any = changed_problem(junction, closed=[5], start=2)
    assert other.mdp.start[2] == 1.0
    assert not (other.mdp.next_states[4] == 5).any()
    assert not other.has_demonstrations
    assert other.steps == junction.steps


def test_several_states_to_start_from_are_equally_likely(junction):
    other: Any = changed_problem(junction, start=[1, 3])
    np.testing.assert_allclose(other.mdp.start[[1, 3]], 0.5)


def test_a_town_closes_links():
    town = boirl.load_problem("road-network", n_links=40, n_demonstrations=2)
    link = int(town.network.turns[0, 1])
    other: Any = changed_problem(town, closed=[link])
    onto = other.mdp.transition.tocoo()
    inside = other.network.turns[:, 1] == link
    shut = np.append(inside, np.zeros(other.mdp.n_states - len(inside), dtype=bool))
    assert not (shut[onto.col] & ~shut[onto.row // other.mdp.n_actions]).any()
    assert other.box.names == town.box.names


def test_what_cannot_change_is_refused(junction):
    with pytest.raises(InvalidInputError, match="expected states from 0"):
        changed_problem(junction, start=99)
    with pytest.raises(InvalidInputError, match="no destination to change"):
        changed_problem(junction, destination=1)
    elsewhere: Any = SimpleNamespace(name="elsewhere")
    with pytest.raises(InvalidInputError, match="'elsewhere' is a SimpleNamespace; expected one"):
        changed_problem(elsewhere, closed=[1])
    same: Any = changed_problem(junction)
    assert np.array_equal(same.mdp.start, junction.mdp.start)
