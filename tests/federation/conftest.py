"""A small problem, and its demonstrations at two sites."""

import pytest

from boirl.federation import FederatedProblem
from boirl.federation.problem import without_demonstrations

SIZES = (3, 4)


@pytest.fixture
def whole(random_problem):
    """Seven demonstrations in one place."""
    return random_problem(5001, bellman="logsumexp", count=sum(SIZES))


@pytest.fixture
def parts(whole):
    """The problems of two sites, each with its own demonstrations."""
    shown = whole.demonstrations
    return [
        whole.with_demonstrations(shown.subset(rows)) for rows in (range(3), range(3, len(shown)))
    ]


@pytest.fixture
def known(whole):
    """What the coordinator knows."""
    return without_demonstrations(whole)


@pytest.fixture
def federation(whole):
    return FederatedProblem.split(whole, SIZES)
