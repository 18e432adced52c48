"""The routes to a Fetch-Reach policy, compared in small with solvers that need no training."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from boirl.experiments import EXPERIMENTS, fetch_solvers
from tests.experiments.pulled_maze import Pull, pulled_maze

pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")

SOLVERS = {"replay": Pull(), "sac": Pull(jitter=0.05)}
THETAS = ((0.1, 0.0), (-0.2, 0.1))


def refuse(*arguments):
    raise AssertionError("run again")


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(fetch_solvers, "load_problem", lambda name, tiny: pulled_maze())
    monkeypatch.setattr(fetch_solvers, "ROUTES", tuple(SOLVERS))
    monkeypatch.setattr(fetch_solvers, "THETAS", THETAS)
    monkeypatch.setattr(fetch_solvers, "route", lambda name, tiny: SOLVERS[name])
    monkeypatch.setattr(fetch_solvers, "action_model_of", lambda solver: None)
    rates = {"sample": 0.4, "mode": 0.9}
    monkeypatch.setattr(
        fetch_solvers,
        "success_rate",
        lambda policy, episodes, act: SimpleNamespace(at_end=rates[act]),
    )


def test_every_route_has_a_line_for_every_reward(small, tmp_path, monkeypatch):
    done = []
    found = fetch_solvers.run(tmp_path, (0, 1), lambda *one: done.append(one))
    assert done[-1] == (8, 8)
    assert [(tuple(row["theta"]), row["solver"]) for row in found] == [
        (theta, solver) for theta in THETAS for solver in SOLVERS
    ]
    assert json.loads((tmp_path / "summary.json").read_text()) == found
    rows = json.loads((tmp_path / "trials.json").read_text())
    for line in found:
        own = [
            row for row in rows if (row["theta"], row["solver"]) == (line["theta"], line["solver"])
        ]
        assert line["runs"] == len(own) == 2
        assert line["nll"] == pytest.approx(np.mean([row["nll"] for row in own]))
        assert (line["success"], line["success_of_mode"]) == (0.4, 0.9)
        assert line["seconds"] > 0.0
    columns = EXPERIMENTS["fetch-solvers"].columns
    first = {head: show(found[0]) for head, show in columns.items()}
    assert (first["threshold, penalty"], first["success"]) == ("0.1, 0", "40%")
    # What is finished is not learned again.
    monkeypatch.setattr(fetch_solvers, "run_one", refuse)
    assert fetch_solvers.run(tmp_path, (0, 1)) == found


def test_a_run_is_a_single_training_of_its_route(small):
    problem = pulled_maze()
    row = fetch_solvers.run_one(problem, "sac", THETAS[0], seed=3)
    other = pulled_maze(SOLVERS["sac"])
    assert row["nll"] == other.learn(THETAS[0], 3)[0].nll
    assert row["settings"] == repr(SOLVERS["sac"])
    assert row["problem"] == problem.fingerprint()


def test_other_settings_of_a_route_are_other_trials(small, tmp_path, monkeypatch):
    fetch_solvers.run(tmp_path, (0,))
    changed = {**SOLVERS, "sac": Pull(jitter=0.1)}
    monkeypatch.setattr(fetch_solvers, "route", lambda name, tiny: changed[name])
    fetch_solvers.run(tmp_path, (0,))
    settings = [row["settings"] for row in json.loads((tmp_path / "trials.json").read_text())]
    assert settings.count(repr(SOLVERS["replay"])) == 2
    assert settings.count(repr(SOLVERS["sac"])) == settings.count(repr(changed["sac"])) == 2
