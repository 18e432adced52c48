"""Demonstrations of which only the number is known."""

import pytest

from boirl.errors import InvalidInputError
from boirl.federation.elsewhere import DemonstrationsElsewhere


def test_they_can_be_counted_and_nothing_else():
    away = DemonstrationsElsewhere(7, ("here", "there"))
    assert len(away) == 7
    assert repr(away) == "DemonstrationsElsewhere(7 trajectories at here, there)"
    for look in (lambda: away.states, lambda: away.lengths, away.to_dict):
        with pytest.raises(InvalidInputError, match=r"stay at their sites \(here, there\)"):
            look()
