"""`boirl run`: a search, or a baseline."""

import os
import pickle
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import boirl
from boirl.baselines import Baseline, BaselineRun
from boirl.baselines.random_search import RandomSearch
from boirl.cache import CACHE_VARIABLE
from boirl.search.storage import open_study
from boirl.search.study import Study

PICTURES = ("landscape", "latent", "convergence")


def test_a_run_writes_results_and_pictures_and_resumes(command, boirl_process, tmp_path):
    arguments = ("run", "gridworld2d", "--kernel", "rho-matern", "--seed", "1000")
    first = boirl_process(
        *arguments, "--storage", "sqlite:///search.db", "--evaluations", "4", cwd=tmp_path
    )
    assert first.returncode == 0, first.stderr
    assert "best NLL" in first.stdout
    # The same study, from another process and another folder.
    kept = ("--storage", f"sqlite:///{tmp_path}/search.db", "--out", tmp_path / "results")
    code, out, errors = command(*arguments, *kept, "--evaluations", "7")
    assert code == 0, errors
    assert "resuming: 4 of 7" in errors
    found = boirl.RewardSet.load(tmp_path / "results" / "rewards.npz")
    expected = boirl.explore(boirl.load_problem("gridworld2d"), evaluations=7, seed=1000)
    np.testing.assert_array_equal(found.thetas, expected.thetas)
    assert out.startswith(str(found))
    for picture in PICTURES:
        assert (tmp_path / "results" / f"{picture}.png").stat().st_size > 10_000
    code, out, errors = command(*arguments, *kept[:2], "--evaluations", "7")
    assert "nothing to do: 7 evaluations are in sqlite" in errors
    assert out == f"{found}\n"


def test_the_password_of_a_storage_is_not_printed(command, tmp_path, monkeypatch):
    database = f"sqlite:///{tmp_path}/search.db"
    monkeypatch.setattr(
        "boirl.search.study.open_study", lambda storage, name: open_study(database, name)
    )
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    arguments = ("run", "gridworld2d", "--storage", "postgresql://user:s3cret@host/db")
    for evaluations, message in ((2, ""), (3, "resuming: 2 of 3"), (3, "nothing to do: 3")):
        code, out, errors = command(*arguments, "--evaluations", evaluations)
        assert code == 0, errors
        assert message in errors
        assert "s3cret" not in out + errors
    assert "are in postgresql://user:***@host/db" in errors


def test_a_pickle_in_place_of_a_checkpoint_is_refused_and_not_opened(command, tmp_path):
    class Malicious:
        def __reduce__(self):
            return Path.touch, (tmp_path / "executed",)

    (tmp_path / "maxent.run").write_bytes(pickle.dumps(Malicious()))
    code, out, errors = command("run", "gridworld", "--method", "maxent", "--out", tmp_path)
    assert (code, out) == (2, "")
    assert "maxent.run' is a pickle" in errors
    assert "delete it to begin again" in errors
    assert not (tmp_path / "executed").exists()


def test_an_answer_is_verified(command, tmp_path):
    arguments = ("run", "gridworld2d", "--evaluations", "6", "--seed", "1000", "--verify")
    code, out, errors = command(*arguments, "--verify-evaluations", "300", "--out", tmp_path)
    assert code == 0, errors
    verified = boirl.VerifiedRewards.load(tmp_path / "verified.npz")
    assert verified.evaluations == 300
    assert str(verified) in out
    assert f"verified: {tmp_path / 'verified.npz'}" in errors


def test_options_reach_the_search(command, tmp_path):
    options = ["--acquisition", "random", "--projection", "rho", "--bellman", "logsumexp"]
    options += ["--initial", "1,2", "--initial", "0.5,3", "--study", "mine"]
    database = f"sqlite:///{tmp_path}/search.db"
    code, _, errors = command(
        "run", "gridworld2d", "--evaluations", 3, *options, "--storage", database
    )
    assert code == 0, errors
    problem = boirl.load_problem("gridworld2d", bellman="logsumexp")
    study = Study(
        problem,
        acquisition="random",
        projection="rho",
        initial=[[1.0, 2.0], [0.5, 3.0]],
        name="mine",
        storage=database,
    )
    assert [one.theta for one in study.evaluations[:2]] == [(1.0, 2.0), (0.5, 3.0)]
    assert len(study.trials) == 3


def test_another_method_runs_and_resumes(command, tmp_path):
    kept = tmp_path / "kept"
    arguments = ("run", "gridworld", "--method", "maxent", "--setting", "steps=20", "--out", kept)
    code, _, errors = command(*arguments, "--evaluations", "8")
    assert code == 0, errors
    code, out, errors = command(*arguments, "--evaluations", "12")
    assert f"resuming from {kept / 'maxent.run'}" in errors
    assert "12 evaluations, 12 policy optimisations" in out
    assert (kept / "maxent.png").stat().st_size > 10_000
    assert len((kept / "maxent.csv").read_text().splitlines()) == 13
    run = BaselineRun.load(kept / "maxent.npz")
    assert (run.method, len(run)) == ("maxent", 12)
    assert out.startswith(str(run).splitlines()[0])


def test_a_method_has_a_usual_number_of_evaluations(command, monkeypatch):
    asked = []

    def run(self, problem, evaluations, *rest):
        asked.append(evaluations)
        raise KeyboardInterrupt

    monkeypatch.setattr(Baseline, "run", run)
    assert command("run", "gridworld", "--method", "random")[0] == 130
    assert command("run", "gridworld", "--method", "random", "--evaluations", "3")[0] == 130
    assert asked == [100, 3]


def test_an_interrupted_method_says_how_to_go_on(command, monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    advance, calls = RandomSearch.advance, []

    def interrupted(self, *given):
        calls.append(1)
        if len(calls) % 3 == 0:
            os.kill(os.getpid(), signal.SIGTERM)
        return advance(self, *given)

    monkeypatch.setattr(RandomSearch, "advance", interrupted)
    arguments = ("run", "gridworld", "--method", "random", "--evaluations", 4)
    code, _, errors = command(*arguments)
    assert code == 130
    (kept,) = (tmp_path / "cache" / "interrupted").glob("*/random.run")
    assert f"--out{kept.parent}" in "".join(errors.split())
    # It goes on with the fourth evaluation.
    code, _, errors = command(*arguments, "--out", kept.parent)
    assert (code, len(calls)) == (0, 4)
    code, _, errors = command(*arguments[:-1], 9, "--out", kept.parent)
    assert code == 130
    assert "interrupted; resume with: boirl" in " ".join(errors.split())


def test_an_interrupted_search_keeps_what_it_has(command, monkeypatch, tmp_path):
    whole = Study.run

    def run(self, evaluations, **options):
        whole(self, 2)
        raise KeyboardInterrupt

    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    with monkeypatch.context() as patch:
        patch.setattr(Study, "run", run)
        code, out, errors = command("run", "gridworld2d", "--out", tmp_path / "out")
        assert (code, out) == (130, "")
        assert f"the rewards so far are in {tmp_path / 'out' / 'rewards.npz'}" in errors
        assert len(boirl.load_result(tmp_path / "out" / "rewards.npz")) == 2
        _, _, errors = command("run", "gridworld2d")
    assert f"interrupted after 2 evaluations; they are in sqlite:///{tmp_path}/cache" in errors
    # The command that is printed resumes.
    resume = shlex.split(errors.split("resume with: ")[1])
    code, _, errors = command(*resume[1:], "--evaluations", 3)
    assert code == 0, errors
    assert "resuming: 2 of 3" in errors


def test_a_request_to_end_says_how_to_resume(tmp_path):
    command = [sys.executable, "-c", "from boirl.cli import main; main()", "run", "gridworld"]
    command += ["--evaluations", "5000", "--storage", f"sqlite:///{tmp_path}/search.db"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # Arrays of evaluations are beside the database: the search has begun once there are some.
    folder = Path(tmp_path / "search.artifacts")
    deadline = time.monotonic() + 120
    while not (folder.exists() and len(list(folder.iterdir())) >= 3):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 143
    assert f"resume with: boirl {shlex.join(command[3:])}" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gridworld", "--kernel", "rbff"), "there is no kernel 'rbff'"),
        (("gridwrld",), "there is no problem 'gridwrld'"),
        (("gridworld", "--demonstrations", "no.npz"), "there is no file 'no.npz' with demonstr"),
        (("gridworld", "--initial", "9,0,0"), "steepness = 9"),
        (("gridworld", "--initial", "a,b"), "numbers with commas"),
        (("gridworld", "--bellman", "min"), "bellman is 'min'"),
        (("gridworld", "--acquisition", "luck"), "there is no acquisition 'luck'"),
        (("gridworld", "--projection", "theta"), "there is no projection 'theta'"),
        (("gridworld", "--evaluations", "0"), "evaluations is 0; expected at least 1"),
        (("gridworld", "--method", "brl"), "there is no baseline 'brl'"),
        (("gridworld", "--method", "tpe", "--kernel", "rbf"), "--kernel belongs to"),
        (("gridworld", "--method", "tpe", "--exact"), "--exact belongs to"),
        (("gridworld", "--method", "tpe", "--evaluations", "0"), "evaluations is 0"),
        (("gridworld", "--method", "tpe", "--verify-evaluations", "60"), "--verify-evaluations be"),
        (("gridworld", "--verify", "--verify-evaluations", "9"), "are 9; expected at least 50"),
        (("gridworld", "--setting", "steps=5"), "belongs to --method"),
        (("gridworld", "--method", "maxent", "--setting", "steps"), "expected name=value"),
        (("gridworld", "--method", "maxent", "--setting", "depth=1"), "no setting depth"),
    ],
)
def test_wrong_input_is_one_clear_line_and_exit_code_2(command, arguments, message):
    code, out, errors = command("run", *arguments)
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1


def test_iterations_are_an_option_of_the_past(command):
    code, _, errors = command("run", "gridworld", "--method", "maxent", "--iterations", "5")
    assert code == 2
    assert "--iterations" in errors


def test_a_place_that_cannot_be_written_is_reported_before_the_search(
    command, tmp_path, monkeypatch
):
    monkeypatch.setattr(Study, "run", None)
    (tmp_path / "taken").write_text("a file")
    code, _, errors = command("run", "gridworld", "--out", tmp_path / "taken")
    assert code == 2
    assert "taken' could not be written" in errors


@pytest.mark.parametrize("option", [("--bellman", "max"), ("--data", "."), ("--box", "wide")])
@pytest.mark.parametrize("name", ["point-mass-maze", "fetch-reach"])
def test_options_of_other_problems_are_refused_before_learning(command, name, option):
    pytest.importorskip("gymnasium")
    code, out, errors = command("run", name, *option)
    assert (code, out) == (2, "")
    taken = option[0].removeprefix("--")
    assert f"problem '{name}' takes no option {taken}; expected some of seed" in errors
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.usefixtures("small_maze")
def test_a_run_in_the_maze_keeps_rewards_policies_and_pictures(command, tmp_path, monkeypatch):
    code, out, errors = command("run", "point-mass-maze", "--evaluations", 2, "--out", tmp_path)
    assert code == 0, errors
    assert "2 evaluations" in out
    for picture in (*PICTURES, "paths"):
        assert (tmp_path / f"{picture}.png").stat().st_size > 10_000
    found = boirl.RewardSet.load(tmp_path / "rewards.npz")
    assert np.isfinite(found.nll).all()
    monkeypatch.setattr("boirl.policies.ppo.VectorPPO.solve_all", None)
    again = [found.problem.rescore(one) for one in found.evaluations]
    np.testing.assert_allclose([one.nll for one in again], found.nll)
