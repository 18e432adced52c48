"""What travels: JSON that is checked on arrival."""

import numpy as np
import pytest

from boirl.errors import BoirlError
from boirl.federation.messages import (
    decode,
    demonstrations_message,
    encode,
    facts_message,
    read_demonstrations,
    read_facts,
    read_numbers,
    read_sums,
    sums_message,
)


def test_sums_and_facts_arrive_to_the_last_bit(federation):
    for site in federation.sites:
        facts = site.facts()
        assert read_facts(decode(encode(facts_message(facts)))) == facts
        sums = site.sums((0.1, 0.2))
        again = read_sums(decode(encode(sums_message(sums))), 2)
        assert encode(sums_message(again)) == encode(sums_message(sums))


def test_demonstrations_of_a_reference_arrive(whole):
    again = read_demonstrations(decode(encode(demonstrations_message(whole.demonstrations))))
    np.testing.assert_array_equal(again.states, whole.demonstrations.states)


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"a": NaN}', b"\xff", b'{"a": 1'])
def test_what_is_no_message_is_refused(content):
    with pytest.raises((BoirlError, ValueError)):
        decode(content)


@pytest.mark.parametrize("value", [[1.0], "12", [[1.0, 2.0]], [1.0, None]])
def test_numbers_of_another_shape_are_refused(value):
    with pytest.raises((BoirlError, ValueError, TypeError)):
        read_numbers(value, "theta", (2,))
