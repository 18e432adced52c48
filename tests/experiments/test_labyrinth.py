"""What mice want: methods side by side, errors by stretch, and trials that are kept."""

import json
from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.demonstrations import Demonstrations
from boirl.domains.labyrinth.made_up import TRUTH, make_up_recordings
from boirl.domains.labyrinth.problem import labyrinth_problem
from boirl.errors import InvalidInputError
from boirl.experiments import labyrinth, run_experiment

OPTIONS = {
    "methods": ["uniform", "markov", "six"],
    "seeds": [1000, 1001],
    "discounts": [0.9],
    "made_up_stretches": 12,
}


def test_methods_are_measured_on_stretches_they_have_not_seen(tmp_path, monkeypatch):
    lines = run_experiment("labyrinth", tmp_path, OPTIONS)
    methods = [(line["method"], line["gamma"]) for line in lines]
    assert methods == [("uniform", "-"), ("markov", "-"), ("six", "0.9")]
    uniform, markov, *six = json.loads((tmp_path / "summary.json").read_text())
    assert uniform["held_out_bits"] == pytest.approx(np.log2(3.0))
    for row in (markov, *six):
        assert row["held_out_bits"] < uniform["held_out_bits"]
        assert set(row["held_out_by_seed"]) == {"1000", "1001"}
    assert six[0]["names"][0] == "water"
    assert len(six[0]["clustered_errors"]) == 6
    assert (tmp_path / "labyrinth.png").stat().st_size > 10_000
    trials = json.loads((tmp_path / "trials.json").read_text())
    assert len(trials) == 6
    assert all(row["stretches"] + row["held_out_stretches"] == 12 for row in trials)
    monkeypatch.setattr(labyrinth, "bits_per_decision", None)
    assert run_experiment("labyrinth", tmp_path, OPTIONS) == lines


def test_without_rewards_there_is_no_map(tmp_path):
    run_experiment("labyrinth", tmp_path, {**OPTIONS, "methods": ["uniform"]})
    assert not (tmp_path / "labyrinth.png").exists()


def test_an_unknown_method_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match="no method seven; expected some of uniform"):
        run_experiment("labyrinth", tmp_path, {**OPTIONS, "methods": ["seven"]})


def test_errors_by_stretch_are_the_usual_ones_where_the_model_holds():
    recordings = make_up_recordings(n_stretches=150, n_steps=40, seed=1000)
    problem = labyrinth_problem(recordings, gamma=0.97, family="six")
    reward = problem.reward.fix(home=TRUTH[1], end=TRUTH[2], depth=TRUTH[3], back=TRUTH[4])
    estimate = boirl.maximum_likelihood(replace(problem, reward=reward), starts=1)
    errors = estimate.robust_standard_errors()
    np.testing.assert_allclose(errors, estimate.standard_errors, rtol=0.35)


def test_errors_by_stretch_grow_where_animals_differ():
    problem = labyrinth_problem(make_up_recordings(n_stretches=2), family="five")
    tastes = [[3.0, 0.0, 0.0, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0, -1.0]]
    drawn = [problem.demonstrate(theta, 40, seed=1000, horizon=60) for theta in tastes]
    mixed = problem.with_demonstrations(Demonstrations.from_trajectories([*drawn[0], *drawn[1]]))
    estimate = boirl.maximum_likelihood(mixed, starts=1)
    ratio = estimate.robust_standard_errors() / estimate.standard_errors
    assert ratio[0] > 1.3
