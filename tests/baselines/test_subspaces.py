"""Searches in subspaces: rounds go on from the best, in other directions."""

import numpy as np
import pytest

from boirl import baselines
from boirl.domains.terrain.problem import build_terrain
from boirl.errors import InvalidInputError


@pytest.fixture(scope="module")
def problem():
    return build_terrain(n_terrains=6, side=4, n_demonstrations=10)


@pytest.mark.parametrize("directions", ["coordinates", "linear"])
def test_rounds_go_on_from_the_best(problem, directions):
    method = baselines.get("subspaces", directions=directions, dimension=2, round_size=4)
    run = method.run(problem, 8, seed=1000)
    rounds = [one.facts["round"] for one in run.evaluations]
    assert rounds == [1] * 4 + [2] * 4
    best = int(run.nll[:4].argmin())
    np.testing.assert_allclose(run.thetas[4], run.thetas[best], atol=1e-12)
    assert run.nll[4] == pytest.approx(run.nll[best])
    if directions == "coordinates":
        moved = np.abs(run.thetas[:4] - run.thetas[0]) > 1e-9
        assert moved.any(axis=0).sum() == 2
    for one in run.evaluations:
        assert problem.nll(one.theta) == pytest.approx(one.nll)
        assert one.gradient is None


def test_wrong_settings_and_problems_are_named(problem):
    with pytest.raises(InvalidInputError, match="expected 'coordinates' or 'linear'"):
        baselines.get("subspaces", directions="up")
    with pytest.raises(InvalidInputError, match="round_size is 1; expected at least 2"):
        baselines.get("subspaces", round_size=1)

    with pytest.raises(InvalidInputError, match="has 6 parameters and subspaces have 6; use a"):
        baselines.get("subspaces", dimension=6).run(problem, 1)

    class Other:
        name = "elsewhere"

    with pytest.raises(InvalidInputError, match=r"'elsewhere' is a Other; use a search"):
        baselines.get("subspaces").run(Other(), 1)
