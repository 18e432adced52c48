"""Small versions of the experiments on shaped and on many parameters."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments import many_parameters, run_experiment, shaping
from boirl.experiments.trials import show_after, times
from boirl.problems import load_problem

FEW = {"n_terrains": 3, "side": 4, "n_demonstrations": 20}


def test_times_are_of_the_trials_that_got_there():
    assert times([2, None, 4]) == {"reached": 2 / 3, "after_mean": 3.0, "after_sd": 1.0}
    assert show_after(times([2, None, 4])) == "3.0 ± 1.0"
    assert show_after(times([None])) == "-"


def test_shaping_costs_the_canonical_projection_nothing(tmp_path):
    methods = ("canonical", "canonical, no shaping")
    rows = shaping.run(tmp_path, methods, seeds=(20,), evaluations=8)
    shaped, plain = rows
    assert shaped["reached"] == plain["reached"] == 1.0
    assert abs(shaped["after_mean"] - plain["after_mean"]) <= 2.0
    assert shaped["moved"] < 1e-9
    with pytest.raises(InvalidInputError, match="there is no method nosuch"):
        shaping.run(tmp_path, ("nosuch",))


def test_the_optimum_is_below_the_truth_and_every_search(tmp_path, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    problem = load_problem("terrain", **FEW)
    lowest = many_parameters.optimum(problem)
    assert lowest <= problem.nll(problem.truth) + 1e-9
    rows = many_parameters.run(
        tmp_path / "out", ("rho-rbf", "random"), (0,), evaluations=12, problem_options=FEW
    )
    assert [row["method"] for row in rows] == ["rho-rbf", "random"]
    assert all(row["above_worst"] >= -1e-6 for row in rows)
    assert rows[0]["above_mean"] <= rows[1]["above_mean"]


def test_terrain_has_a_parameter_a_kind():
    problem = load_problem("terrain")
    assert problem.box.dimension == 20
    assert np.isfinite(problem.nll(problem.truth))


def test_the_command_line_knows_them(tmp_path):
    with pytest.raises(InvalidInputError, match=r"expected one of .*many-parameters, shaping"):
        run_experiment("nosuch", tmp_path, {})
