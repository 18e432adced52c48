"""Constraints on behaviour."""

import pytest

from boirl.constraints import Measured, custom, expects, reaches
from boirl.constraints.behaviour import BehaviourConstraint
from boirl.errors import CodeNeededError, InvalidInputError


def test_limits_hold_on_their_side():
    (most,) = reaches([3], at_most=0.2)
    (least,) = reaches([3], at_least=0.2)
    for value, holds in ((0.1, True), (0.2, True), (0.3, False)):
        assert most.holds(Measured(value)) is holds
        assert least.holds(Measured(value)) is (not holds or value == 0.2)
    assert most.margin(0.1) == pytest.approx(0.1)


def test_an_estimate_has_to_be_on_the_safe_side():
    (most,) = reaches([3], at_most=0.2)
    assert most.holds(Measured(0.15, 0.02))
    assert not most.holds(Measured(0.19, 0.02))


def test_words_name_value_and_limit():
    (one,) = expects(None, at_most=12.0)
    assert one.describe(Measured(13.5, 0.2)) == "steps: 13.5 ± 0.2, expected <= 12"
    (two,) = custom(lambda *given: 1.0, at_least=0.9, name="success")
    assert two.describe(Measured(0.5)) == "success: 0.5, expected >= 0.9"
    assert [each.name for each in reaches([1], 0.9, 0.1)] == [
        "reaching state 1",
        "reaching state 1 (at least)",
    ]


def test_what_is_missing_is_named():
    with pytest.raises(InvalidInputError, match="neither at_most nor at_least"):
        reaches([3])
    with pytest.raises(CodeNeededError, match="came from a file"):
        BehaviourConstraint(None, 0.5, True, "success").measure(None, None)


def test_a_probability_is_at_most_1():
    for limits in ({"at_most": 5}, {"at_least": -0.1}):
        with pytest.raises(InvalidInputError, match="expected a probability from 0 to 1"):
            reaches([1], **limits)


def test_a_limit_is_a_number():
    with pytest.raises(InvalidInputError, match="expected a number"):
        reaches([1], at_most="x")
