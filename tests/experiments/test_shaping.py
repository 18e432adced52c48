"""A small version of the experiment on shaped rewards."""

import json

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments import EXPERIMENTS, shaping


def test_shaping_costs_the_canonical_projection_nothing(tmp_path, monkeypatch):
    methods = ("canonical", "canonical, no shaping")
    rows = shaping.run(tmp_path, methods, seeds=(1000,), evaluations=8)
    shaped, plain = rows
    assert shaped["reached"] == plain["reached"] == 1.0
    assert abs(shaped["after_mean"] - plain["after_mean"]) <= 2.0
    assert shaped["moved"] < 1e-9
    assert json.loads((tmp_path / "summary.json").read_text()) == rows
    for show in EXPERIMENTS["shaping"].columns.values():
        assert all(show(row) for row in rows)
    # What is finished is not run again.
    monkeypatch.setattr(shaping, "explore", None)
    assert shaping.run(tmp_path, methods, seeds=(1000,), evaluations=8) == rows


def test_shaping_leaves_the_policy_as_it_is(gridworld):
    problem = shaping.shaped_gridworld()
    assert problem.box.dimension == gridworld.box.dimension + shaping.POTENTIALS
    plain = np.array(gridworld.truth)
    shaped = np.concatenate([plain, np.linspace(-1.5, 1.5, shaping.POTENTIALS)])
    np.testing.assert_allclose(
        problem.policy(shaped).log_probabilities,
        gridworld.policy(plain).log_probabilities,
        atol=1e-6,
    )
    assert problem.nll(problem.truth) == pytest.approx(gridworld.nll(gridworld.truth), abs=1e-8)


def test_the_other_projection_sees_the_end_of_trajectories():
    problem = shaping.shaped_gridworld()
    assert shaping.movement(problem, "canonical") < 1e-9
    assert shaping.movement(problem, "log-rho") > 1e-3


def test_unknown_searches_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no method nosuch"):
        shaping.run(tmp_path, ("nosuch",))
    assert list(tmp_path.iterdir()) == []
