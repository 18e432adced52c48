"""The command line as a person uses it."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import boirl


def run(*arguments, cwd=None):
    command = [sys.executable, "-c", "from boirl.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)


def test_version_problems_and_help():
    assert run("--version").stdout == f"boirl {boirl.__version__}\n"
    listed = run("problems").stdout
    assert "gridworld2d" in listed
    helped = run("run", "--help").stdout
    for option in ("--kernel", "--evaluations", "--seed", "--storage", "--out"):
        assert option in helped


def test_a_run_writes_results_pictures_and_resumes(tmp_path):
    arguments = ("run", "gridworld", "--kernel", "rho-rbf", "--seed", "0")
    arguments += ("--storage", "sqlite:///search.db", "--out", "results")
    first = run(*arguments, "--evaluations", "5", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "best NLL" in first.stdout
    again = run(*arguments, "--evaluations", "8", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "resuming: 5 of 8" in again.stderr
    found = boirl.RewardSet.load(tmp_path / "results" / "rewards.npz")
    expected = boirl.explore(boirl.load_problem("gridworld"), evaluations=8, seed=0)
    np.testing.assert_array_equal(found.thetas, expected.thetas)
    for picture in ("landscape", "latent", "convergence"):
        assert (tmp_path / "results" / f"{picture}.png").stat().st_size > 10_000
    shown = run("show", "results/rewards.npz", cwd=tmp_path)
    assert shown.stdout == str(found) + "\n"


def test_another_method_runs_and_resumes(tmp_path):
    arguments = ("run", "gridworld", "--method", "maxent", "--setting", "steps=20", "--out", "kept")
    first = run(*arguments, "--iterations", "8", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    again = run(*arguments, "--iterations", "12", cwd=tmp_path)
    assert "resuming from kept/maxent.run" in again.stderr
    assert "12 iterations, 12 policy optimisations" in again.stdout
    assert (tmp_path / "kept" / "maxent.png").stat().st_size > 10_000
    assert "maxent" in run("methods").stdout


def test_ctrl_c_says_how_to_resume(tmp_path):
    command = [sys.executable, "-c", "from boirl.cli import main; main()", "run", "gridworld"]
    command += ["--evaluations", "5000", "--storage", f"sqlite:///{tmp_path}/search.db"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    file = Path(tmp_path / "search.db")
    deadline = time.monotonic() + 120
    while not (file.exists() and file.stat().st_size > 100_000):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again to resume" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "gridworld", "--kernel", "rbff"), "there is no kernel 'rbff'"),
        (("run", "gridwrld"), "there is no problem 'gridwrld'"),
        (
            ("run", "gridworld", "--demonstrations", "no.npz"),
            "there is no file 'no.npz' with demonstrations",
        ),
        (("run", "gridworld", "--initial", "9,0,0"), "steepness = 9"),
        (("run", "gridworld", "--initial", "a,b"), "numbers with commas"),
        (("run", "gridworld", "--bellman", "min"), "bellman is 'min'"),
        (("run", "gridworld", "--method", "brl"), "there is no baseline 'brl'"),
        (("run", "gridworld", "--method", "tpe", "--kernel", "rbf"), "--kernel belongs to"),
        (("run", "gridworld", "--iterations", "5"), "belong to --method"),
        (("run", "gridworld", "--method", "maxent", "--setting", "steps"), "expected name=value"),
        (("run", "gridworld", "--method", "maxent", "--setting", "depth=1"), "no setting depth"),
        (("evaluate", "gridworld", "1,2"), "expected 3 numbers"),
        (("show", "no.npz"), "there is no file 'no.npz'"),
        (("experiment", "table-9", "--out", "x"), "there is no experiment 'table-9'"),
    ],
)
def test_wrong_input_is_one_clear_line_and_exit_code_2(arguments, message, tmp_path):
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["run", "experiment"])
def test_a_place_that_cannot_be_written_is_told_before_the_search(command, tmp_path):
    (tmp_path / "taken").write_text("a file")
    name = "gridworld" if command == "run" else "gridworld-efficiency"
    result = run(command, name, "--evaluations", "3", "--out", "taken", cwd=tmp_path)
    assert result.returncode == 2
    assert "'taken' could not be written" in result.stderr
    assert "Traceback" not in result.stderr


def test_evaluate_prints_nll_and_esor():
    problem = boirl.load_problem("gridworld", bellman="logsumexp")
    result = run("evaluate", "gridworld", "1.25,5,0", "--bellman", "logsumexp")
    assert f"{problem.evaluate(problem.truth).nll:.6f}" in result.stdout
    assert f"{problem.esor(problem.truth):.6f}" in result.stdout


def test_demonstrations_may_come_from_a_file(tmp_path):
    other = boirl.load_problem("gridworld", seed=9)
    other.demonstrations.save(tmp_path / "mine.npz")
    result = run("evaluate", "gridworld", "1,2,3", "--demonstrations", tmp_path / "mine.npz")
    assert f"{other.evaluate((1, 2, 3)).nll:.6f}" in result.stdout


def test_the_experiment_writes_its_numbers(tmp_path):
    options = ("--trials", "1", "--evaluations", "4", "--out", "results")
    result = run("experiment", "gridworld-efficiency", *options, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    rows = json.loads((tmp_path / "results" / "trials.json").read_text())
    assert [row["method"] for row in rows] == ["rho-rbf", "rbf", "matern", "random"]
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert [line["method"] for line in summary] == ["rho-rbf", "rbf", "matern", "random"]
