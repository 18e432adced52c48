"""What is asked for, and what is refused."""

import pytest

from boirl.errors import InvalidInputError
from boirl.reproduction.plan import Plan, command, not_run


def test_defaults_give_way_to_what_is_asked_for():
    assert Plan().seeds_or(range(3)) == (0, 1, 2)
    assert Plan(quick=True).seeds_or(range(3)) == (1000,)
    assert Plan(quick=True, seeds=(7,)).seeds_or(range(3)) == (7,)
    assert Plan(environments=("maze",)).of(("fetch", "maze")) == ("maze",)
    assert Plan(quick=True).evaluations(100) < Plan().evaluations(100) == 100


def test_wrong_names_are_refused():
    with pytest.raises(InvalidInputError, match="there is no environment mars; expected some of"):
        Plan(environments=("mars",))
    with pytest.raises(InvalidInputError, match="there are no seeds"):
        Plan(seeds=())
    with pytest.raises(InvalidInputError, match="no protocol loose; expected some of paper, exact"):
        Plan(protocols=("loose",))


def test_commands_can_be_pasted():
    assert command("figure1") == "`boirl reproduce figure1`"
    found = command("table1", "borlange wide", "exact", ["rbf", "rbf, as published"])
    assert "--environment 'borlange wide' --protocol exact --method rbf --method 'rbf," in found
    assert not_run("figure6", "maze") == "Not run: `boirl reproduce figure6 --environment maze`."


def test_the_posterior_of_the_first_search_is_drawn():
    assert [seed for seed in range(3) if Plan().is_drawn(seed)] == [0]
    assert Plan(seeds=(7, 8)).is_drawn(7)
    assert not Plan(seeds=(7, 8)).is_drawn(8)
    assert Plan(quick=True).is_drawn(1000)
