"""The paper's numbers."""

from boirl.experiments.published import WALKS, published


def test_rows_find_their_number():
    assert published("gridworld", "rho-rbf") == (0.7, 16.0, 15.6)
    assert published("gridworld", "rho-rbf, as published") == published("gridworld", "rho-rbf")
    assert published("borlange wide", "gcl") == published("borlange narrow", "gcl")
    assert published("gridworld", WALKS).mean == 630.5
    assert published("gridworld", "birl") is None
    assert published("maze", "gcl").mean is None
    assert published("gridworld", "random") is None
