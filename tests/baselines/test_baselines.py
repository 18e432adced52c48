"""Baselines by name."""

import pytest

from boirl import baselines
from boirl.baselines.maxent import MaxEnt
from boirl.errors import InvalidInputError


def test_a_baseline_is_made_by_name_with_its_settings():
    assert baselines.get("maxent") == MaxEnt()
    assert baselines.get("maxent", steps=7) == MaxEnt(steps=7)


def test_all_are_listed_in_the_order_of_the_documentation():
    expected = ["random", "tpe", "subspaces", "maxent", "deep-maxent", "gp-irl", "cr-irl"]
    expected += ["birl", "gcl", "airl", "gail"]
    assert list(baselines.BASELINES) == expected


def test_unknown_names_are_refused_and_the_known_ones_listed():
    with pytest.raises(InvalidInputError, match="no baseline 'brl'; expected one of random, tpe"):
        baselines.get("brl")


def test_unknown_settings_are_refused_and_the_known_ones_listed():
    with pytest.raises(InvalidInputError, match="maxent has no setting depth; expected some of st"):
        baselines.get("maxent", depth=3)
    with pytest.raises(InvalidInputError, match=r"random has no setting depth; .*\(it has none\)"):
        baselines.get("random", depth=3)
