"""The search loop: determinism, resumption, failures and storage trouble."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
import torch
from scipy.spatial.distance import pdist
from sqlalchemy import event

import boirl
from boirl.errors import BoirlError, InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.experiments.gridworld_efficiency import run_trial
from boirl.files import read_arrays
from boirl.interrupts import Terminated
from boirl.search.acquisitions import ACQUISITIONS
from boirl.search.initial import HARD_CANDIDATES
from boirl.search.leases import LEASE, Lease
from boirl.search.sampler import PURPOSE, pending_thetas
from boirl.search.storage import open_study
from boirl.search.study import Study
from boirl.surrogate import Observations

START = (-1.5, 6.0, 1.0)


@pytest.fixture(scope="module")
def problem():
    return boirl.load_problem("gridworld")


@pytest.fixture(scope="module")
def uninterrupted(problem):
    return boirl.explore(problem, evaluations=9, seed=5, initial=[START])


def test_two_runs_with_one_seed_agree(problem, uninterrupted):
    again = boirl.explore(problem, evaluations=9, seed=5, initial=[START])
    np.testing.assert_array_equal(again.thetas, uninterrupted.thetas)
    np.testing.assert_array_equal(again.nll, uninterrupted.nll)


def test_another_seed_searches_elsewhere(problem, uninterrupted):
    other = boirl.explore(problem, evaluations=4, seed=6, initial=[START])
    assert not np.array_equal(other.thetas[1:], uninterrupted.thetas[1:4])


def test_initial_points_come_first_and_count(problem, uninterrupted):
    assert len(uninterrupted) == 9
    np.testing.assert_array_equal(uninterrupted.thetas[0], START)
    np.testing.assert_allclose(uninterrupted.nll[0], problem.evaluate(START).nll, rtol=1e-12)


def test_a_stopped_search_resumes_where_it_was(problem, uninterrupted, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    options: dict[str, Any] = {"seed": 5, "initial": [START], "storage": storage}
    boirl.explore(problem, evaluations=5, **options)
    resumed = boirl.explore(problem, evaluations=9, **options)
    np.testing.assert_array_equal(resumed.thetas, uninterrupted.thetas)


def test_a_finished_search_is_not_run_again(problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    boirl.explore(problem, evaluations=3, seed=5, storage=storage)
    study = Study(problem, seed=5, storage=storage)
    assert len(study.run(evaluations=2)) == 3


def test_an_interrupted_evaluation_is_taken_up_again(problem, uninterrupted, monkeypatch):
    study = Study(problem, seed=5, initial=[START])
    evaluate = type(problem).evaluate
    calls = []

    def interrupted(self, theta, seed, report):
        calls.append(theta)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return evaluate(self, theta, seed, report)

    monkeypatch.setattr(type(problem), "evaluate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study.run(evaluations=9)
    assert len(study.trials) == 3
    np.testing.assert_array_equal(study.run(evaluations=9).thetas, uninterrupted.thetas)


SLOW_SEARCH = """
import sys, time, boirl
problem = boirl.load_problem("gridworld")
evaluate = type(problem).evaluate
def slow(self, theta, seed=None, report=None):
    time.sleep(0.2)
    return evaluate(self, theta, seed)
type(problem).evaluate = slow
boirl.explore(problem, evaluations=6, seed=5, initial=[(-1.5, 6.0, 1.0)], storage=sys.argv[1])
"""


@pytest.mark.parametrize("finished", [1, 3])
def test_a_killed_process_loses_at_most_the_evaluation_in_flight(
    problem, uninterrupted, tmp_path, finished
):
    file = tmp_path / "search.db"
    storage = f"sqlite:///{file}"
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SLOW_SEARCH, storage])
    deadline = time.monotonic() + 120
    while _count_finished(file) < finished:
        assert process.poll() is None, "the search ended before it was killed"
        assert time.monotonic() < deadline, "the search made no progress"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = _count_finished(file)
    assert kept >= finished
    study = Study(problem, seed=5, initial=[START], storage=storage)
    assert len(study.trials) == kept
    resumed = study.run(evaluations=6)
    np.testing.assert_array_equal(resumed.thetas, uninterrupted.thetas[:6])
    np.testing.assert_array_equal(resumed.nll, uninterrupted.nll[:6])
    assert all(trial.state.is_finished() for trial in study.optuna_study.trials)


def _count_finished(file: Path) -> int:
    if not file.exists():
        return 0
    try:
        with sqlite3.connect(file) as database:
            query = "SELECT COUNT(*) FROM trials WHERE state = 'COMPLETE'"
            return int(database.execute(query).fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_an_evaluation_of_a_living_process_is_left_alone(problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    study = Study(problem, seed=5, storage=storage)
    lease = study.questions.leases.new()

    def leave_behind(left: Lease) -> int:
        study.database.create({LEASE: left.record()})
        return len(study.optuna_study.trials) - 1

    number = leave_behind(replace(lease, owner="theirs", place="elsewhere"))
    assert study.ask().number == number + 1
    # Process 1 lives, but did not start then.
    gone = leave_behind(replace(lease, owner="theirs", pid=1, started="long ago"))
    assert study.ask().number == gone
    # Nobody knows of a process elsewhere but by its deadline.
    gone = leave_behind(replace(lease, owner="theirs", place="elsewhere", deadline=1.0))
    assert study.ask().number == gone


def test_running_evaluations_are_pending_and_push_the_next_one_away(problem):
    study = Study(problem, seed=5, initial=[START])
    for _ in range(4):
        question = study.ask()
        study.tell(question, problem.evaluate(question.theta))
    first, second = study.ask(), study.ask()
    assert len(pending_thetas(study.optuna_study.trials, problem.box)) == 2
    assert not np.allclose(first.theta, second.theta, atol=1e-3)


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_many_may_be_asked_for_at_once(problem, acquisition):
    study = Study(problem, seed=5, initial=[START], acquisition=acquisition)
    study.run(evaluations=2)
    asked = [problem.box.to_unit(np.array(study.ask().theta)) for _ in range(4)]
    assert pdist(asked).min() > 1e-3


def test_ask_and_tell_with_numbers(problem):
    study = Study(problem, seed=0)
    question = study.ask()
    study.tell(question, 12.5)
    assert study.result().best_nll == 12.5
    with pytest.raises(InvalidInputError, match="evaluation 0 was"):
        study.tell(question, 12.5)


def test_a_failed_evaluation_is_kept_with_its_reason_and_survived(problem, monkeypatch):
    evaluate = type(problem).evaluate

    def sometimes(self, theta, seed=None, report=None):
        if theta[1] > 0:
            return Evaluation(tuple(theta), float("nan"), failure="the motor caught fire")
        return evaluate(self, theta, seed)

    monkeypatch.setattr(type(problem), "evaluate", sometimes)
    found = boirl.explore(problem, evaluations=10, seed=1)
    failed = np.isnan(found.nll)
    assert failed.any()
    assert not failed.all()
    assert {found.failures[i] for i in np.flatnonzero(failed)} == {"the motor caught fire"}
    assert np.isfinite(found.predict_nll(found.thetas)[0]).all()
    assert len(np.unique(found.thetas, axis=0)) == 10


def test_standard_errors_reach_the_surrogate_and_the_result(problem):
    study = Study(problem, seed=5, n_initial=3)
    reported = [0.5, 0.0, 0.7, 0.9]
    for error in reported:
        question = study.ask()
        study.tell(
            question, Evaluation(question.theta, problem.evaluate(question.theta).nll, error)
        )
    assert study.result().nll_se.tolist() == reported
    assert study.result().fitted.noisy
    assert Observations.of(study.evaluations).nll_se.tolist() == reported


def test_standard_errors_change_what_is_proposed(problem):
    proposals = []
    for error in (0.0, 20.0):
        study = Study(problem, seed=5, n_initial=5, rollouts="uniform")
        for _ in range(5):
            question = study.ask()
            nll = problem.evaluate(question.theta).nll
            study.tell(question, Evaluation(question.theta, nll, error))
        proposals.append(study.ask().theta)
    assert proposals[0] != proposals[1]


def test_a_failed_evaluation_has_no_nll_to_learn_from(problem):
    study = Study(problem, seed=5, n_initial=3)
    for outcome in (
        (30.0, 0.5, None),
        (np.nan, np.nan, "the motor caught fire"),
        (40.0, 0.5, None),
    ):
        nll, error, failure = outcome
        question = study.ask()
        study.tell(question, Evaluation(question.theta, nll, error, failure=failure))
    seen = Observations.of(study.evaluations)
    assert seen.nll.tolist() == [30.0, 40.0]
    assert len(seen.failed) == 1
    study.ask()


@pytest.mark.parametrize("wrong", [np.nan, -1.0])
def test_an_impossible_standard_error_is_refused(problem, wrong):
    study = Study(problem, seed=5, n_initial=1)
    question = study.ask()

    def tell_and_go_on():
        study.tell(question, Evaluation(question.theta, 30.0, wrong))
        study.ask()

    with pytest.raises(InvalidInputError, match=r"nll_se .*expected a finite number"):
        tell_and_go_on()


def test_a_diverged_solver_is_a_failed_evaluation():
    mdp = boirl.TabularMDP.from_next_states(np.array([[0, 1], [1, 0]]), gamma=1.0)
    reward = boirl.LinearReward(np.array([[1.0], [0.5]]), {"weight": (0.5, 1.0)})
    demonstrations = boirl.Demonstrations.from_arrays([[0, 1]], [[1, 0]])
    problem = boirl.TabularProblem(mdp, reward, demonstrations)
    with pytest.raises(BoirlError, match=r"none of 3 evaluations succeeded.*did not converge"):
        boirl.explore(problem, evaluations=3, kernel="rbf")


def test_a_non_finite_nll_is_a_failure(problem):
    study = Study(problem, seed=0)
    study.tell(study.ask(), float("inf"))
    study.tell(study.ask(), 3.0)
    found = study.result()
    assert "expected a finite number" in found.failures[0]
    assert found.best_index == 1


def test_another_search_in_the_same_storage_is_refused(problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    Study(problem, seed=5, storage=storage, initial=[START])
    with pytest.raises(InvalidInputError, match="kernel was 'rho-matern', now 'rbf'"):
        Study(problem, seed=5, storage=storage, initial=[START], kernel="rbf")
    other = boirl.load_problem("gridworld", bellman="logsumexp")
    with pytest.raises(InvalidInputError, match="made with other problem"):
        Study(other, seed=5, storage=storage, initial=[START])
    with pytest.raises(InvalidInputError, match="initial thetas"):
        Study(problem, seed=5, storage=storage, initial=[(1.0, 1.0, 1.0)])
    Study(other, seed=5, storage=storage, initial=[START], name="second")


def test_a_corrupt_storage_is_reported_in_one_line(problem, tmp_path):
    file = tmp_path / "search.db"
    file.write_text("this is not a database, and never was one " * 50)
    with pytest.raises(StorageError, match="not a database") as caught:
        Study(problem, storage=f"sqlite:///{file}")
    assert "\n" not in str(caught.value)


def test_a_full_disk_loses_no_finished_evaluation(problem, tmp_path):
    file = tmp_path / "search.db"
    options: dict[str, Any] = {"seed": 5, "initial": [START], "storage": f"sqlite:///{file}"}
    study = Study(problem, **options)
    study.run(evaluations=3)
    engine = study.optuna_study._storage._backend.engine  # type: ignore[attr-defined]

    @event.listens_for(engine, "connect")
    def limit(connection, record):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    engine.dispose()
    with pytest.raises(StorageError, match="full"):
        study.run(evaluations=400)
    event.remove(engine, "connect", limit)
    engine.dispose()
    kept = len(Study(problem, **options).trials)
    assert kept >= 3
    assert len(Study(problem, **options).run(evaluations=kept + 1)) == kept + 1


def test_wrong_arguments_name_what_is_expected(problem, tmp_path):
    with pytest.raises(InvalidInputError, match="no kernel 'rbff'; expected one of rho-matern"):
        boirl.explore(problem, kernel="rbff")
    with pytest.raises(InvalidInputError, match="no acquisition 'ucb'"):
        boirl.explore(problem, acquisition="ucb")
    with pytest.raises(InvalidInputError, match="no projection 'pca'"):
        boirl.explore(problem, projection="pca")
    with pytest.raises(InvalidInputError, match="no setting colour"):
        boirl.explore(problem, colour="red")  # type: ignore[call-arg]
    with pytest.raises(InvalidInputError, match="evaluations is 0"):
        boirl.explore(problem, evaluations=0)
    with pytest.raises(InvalidInputError, match="seed is -1"):
        boirl.explore(problem, seed=-1)
    with pytest.raises(InvalidInputError, match="steepness = 9"):
        boirl.explore(problem, initial=[(9, 0, 0)])
    with pytest.raises(InvalidInputError, match="sqlite:///"):
        boirl.explore(problem, storage="search.db")
    with pytest.raises(InvalidInputError, match="does not exist"):
        boirl.explore(problem, storage=f"sqlite:///{tmp_path}/nowhere/search.db")


def test_the_study_is_an_ordinary_optuna_study(problem):
    study = Study(problem, seed=5, initial=[START])
    found = study.run(evaluations=6)
    assert isinstance(study.optuna_study, optuna.Study)
    assert study.optuna_study.best_value == found.best_nll
    purposes = [trial.system_attrs[PURPOSE] for trial in study.optuna_study.trials]
    assert purposes[0] == "initial"
    assert "initial" not in purposes[1:]


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "rbf"},
        {"kernel": "matern"},
        {"kernel": "matern", "smoothness": 2.5},
        {"kernel": "rho-rbf", "projection": "rho"},
        {"kernel": "rho-rbf", "linear": False},
        {"kernel": "rbf", "linear": True},
        {"acquisition": "log-ei"},
        {"acquisition": "random"},
    ],
)
def test_every_kernel_and_acquisition_searches(problem, options):
    found = boirl.explore(problem, evaluations=6, seed=2, **options)
    assert np.isfinite(found.nll).all()
    mean, sd = found.predict_nll(found.thetas)
    assert np.isfinite(mean).all()
    assert (sd > 0).all()


def test_hard_thetas_are_found_once_for_a_study(problem, tmp_path, monkeypatch):
    asked = []
    nll_batch = type(problem).nll_batch

    def counted(self, thetas):
        asked.append(len(thetas))
        return nll_batch(self, thetas)

    monkeypatch.setattr(type(problem), "nll_batch", counted)
    options: dict[str, Any] = {
        "seed": 1005,
        "initial": "hard",
        "storage": f"sqlite:///{tmp_path}/search.db",
    }
    first = boirl.explore(problem, 2, **options)
    assert asked == [HARD_CANDIDATES]
    resumed = boirl.explore(problem, 3, **options)
    assert asked == [HARD_CANDIDATES]
    np.testing.assert_array_equal(resumed.thetas[:2], first.thetas)
    assert first.nll[0] == pytest.approx(problem.nll_batch(first.thetas[:1])[0])
    with pytest.raises(InvalidInputError, match="initial thetas"):
        Study(problem, n_initial=2, **options)


def test_a_reward_that_does_not_depend_on_theta_is_refused(problem):
    nothing = boirl.LinearReward(np.zeros((problem.mdp.n_states, 1)), {"weight": (0.0, 1.0)})
    blind = boirl.TabularProblem(problem.mdp, nothing, problem.demonstrations)
    with pytest.raises(InvalidInputError, match=r"does not depend on theta.*\(weight\)"):
        Study(blind)


def test_rollouts_may_come_from_given_policies(problem):
    policies = [problem.policy(problem.truth), problem.policy(START)]
    study = Study(problem, seed=0, rollout_policies=policies)
    projection = study.sampler.surrogate.projection
    assert {len(one) for one in projection.rollouts} == {2 * 5}


def test_other_rollout_policies_are_another_search(problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    Study(problem, storage=storage, rollout_policies=[problem.policy(problem.truth)])
    with pytest.raises(InvalidInputError, match="made with other roll-outs"):
        Study(problem, storage=storage)


def test_two_studies_in_one_process_ask_different_questions(problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    one, other = (Study(problem, storage=storage) for _ in range(2))
    questions = [one.ask(), other.ask()]
    assert questions[0].number != questions[1].number
    one.tell(questions[0], 3.0)
    other.tell(questions[1], 4.0)
    assert len(one.trials) == 2


def test_a_tell_that_could_not_be_stored_may_be_repeated(problem, monkeypatch):
    study = Study(problem)
    question = study.ask()

    def locked(*arguments, **options):
        raise sqlite3.OperationalError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr("boirl.search.transactions._MemoryTransaction.end", locked)
        with pytest.raises(StorageError, match="locked"):
            study.tell(question, 3.0)
    study.tell(question, 3.0)
    assert study.result().best_nll == 3.0


def test_a_reward_that_is_not_finite_somewhere_is_a_failed_evaluation():
    def reward(theta, transitions):
        heights = torch.tensor([0.0, 1.0], dtype=torch.float64)[transitions.states]
        return torch.log(theta[:, :1]) * heights

    mdp = boirl.TabularMDP.from_next_states(np.array([[0, 1], [1, 0]]), gamma=0.9)
    family = boirl.CallableReward(reward, {"weight": (-1.0, 2.0)})
    demonstrations = boirl.Demonstrations.from_arrays([[0, 1]], [[1, 0]])
    problem = boirl.TabularProblem(mdp, family, demonstrations)
    found = boirl.explore(problem, evaluations=6, kernel="rbf", initial=[[-0.5], [1.5]])
    assert "not finite" in found.failures[0]
    assert np.isnan(problem.nll_batch([[-0.5], [1.5]])).tolist() == [True, False]
    with pytest.raises(InvalidInputError, match="projection is not finite"):
        boirl.explore(problem, evaluations=3)


def test_numpy_numbers_are_as_good_as_any(tmp_path):
    problem = boirl.load_problem("gridworld2d", seed=np.int64(4))
    found = boirl.explore(problem, evaluations=4, seed=np.int64(1))
    found.save(tmp_path / "rewards.npz")
    assert boirl.RewardSet.load(tmp_path / "rewards.npz").best_nll == found.best_nll


def test_a_search_beats_random_search_from_hard_starts(problem):
    """A small version of `boirl experiment gridworld-efficiency`."""
    trials = [run_trial(problem, "rho-matern", seed, evaluations=20) for seed in range(1020, 1022)]
    random = [run_trial(problem, "random", seed, evaluations=20) for seed in range(1020, 1022)]
    reached = [trial["evaluations_to_expert"] for trial in trials]
    assert None not in reached
    assert np.mean(reached) <= 8
    assert max(trial["rmse"] for trial in trials) < 0.6
    assert min(trial["rmse"] for trial in random) > 3


@pytest.mark.long
def test_the_claims_about_gridworld_hold(problem):
    trials = [run_trial(problem, "rho-rbf", seed, evaluations=40) for seed in range(1000, 1010)]
    reached = [trial["evaluations_to_expert"] for trial in trials]
    assert None not in reached
    assert np.mean(reached) <= 4.5
    assert np.mean([trial["rmse"] for trial in trials]) <= 0.6


def test_an_interrupted_proposal_is_taken_up_again(problem, uninterrupted, monkeypatch):
    study = Study(problem, seed=5, initial=[START])
    study.run(evaluations=3)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(study.sampler, "acquisition", interrupted)
        with pytest.raises(KeyboardInterrupt):
            study.run(evaluations=9)
    np.testing.assert_array_equal(study.run(evaluations=9).thetas, uninterrupted.thetas)


def test_an_evaluation_of_another_theta_is_refused(gridworld):
    study = Study(gridworld, seed=1005)
    question = study.ask()
    with pytest.raises(InvalidInputError, match="expected that of the question"):
        study.tell(question, gridworld.evaluate(gridworld.truth))


def test_an_error_while_an_evaluation_is_recorded_leaves_it_to_the_next_run(gridworld, monkeypatch):
    options: dict[str, Any] = {"seed": 1005, "initial": [START]}
    whole = Study(gridworld, **options).run(4)
    study = Study(gridworld, **options)
    study.run(2)
    monkeypatch.setattr(study.records, "attributes", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        study.run(3)
    monkeypatch.undo()
    np.testing.assert_array_equal(study.run(4).thetas, whole.thetas)


def test_a_prior_belongs_to_the_study(tmp_path):
    problem = boirl.load_problem("gridworld2d")
    storage = f"sqlite:///{tmp_path}/search.db"
    prior = boirl.NormalPrior([1.0, 5.0], [0.1, 1.0])
    study = Study(problem, storage=storage, seed=1000, prior=prior)
    found = study.run(3)
    assert found.prior is prior
    again = Study(problem, storage=storage, seed=1000, prior=boirl.NormalPrior([1, 5], [0.1, 1]))
    assert len(again.trials) == 3
    with pytest.raises(InvalidInputError, match="was made with other prior: kind was 'normal'"):
        Study(problem, storage=storage, seed=1000)
    assert boirl.explore(problem, evaluations=2, seed=1000).prior.is_uniform


def test_a_prior_draws_proposals_to_what_it_takes_for_probable(gridworld):
    believed = gridworld.box.from_unit(np.array([[0.6, 0.9, 0.2]]))[0]
    width = 0.05 * (gridworld.box.high - gridworld.box.low)
    distances = []
    for prior in (None, boirl.NormalPrior(believed, width)):
        found = boirl.explore(gridworld, evaluations=16, seed=1000, prior=prior)
        units = gridworld.box.to_unit(found.thetas)
        distances.append(np.linalg.norm(units - [0.6, 0.9, 0.2], axis=1).mean())
    assert distances[1] < 0.9 * distances[0]


def test_messages_do_not_name_the_password_of_the_storage(monkeypatch, tmp_path):
    problem = boirl.load_problem("gridworld2d")
    database = f"sqlite:///{tmp_path}/search.db"
    monkeypatch.setattr(
        "boirl.search.study.open_study", lambda storage, name: open_study(database, name)
    )
    secret = "postgresql://user:s3cret@host/db"
    study = Study(problem, storage=secret, seed=1000, artifacts=tmp_path)
    study.run(2).save(tmp_path / "found.npz")
    assert study.storage_name == "postgresql://user:***@host/db"
    assert "s3cret" not in repr(study)
    with pytest.raises(InvalidInputError, match=r"in postgresql://user:\*\*\*@host/db was made"):
        Study(problem, storage=secret, seed=1001, artifacts=tmp_path)
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"s3cret" not in file.read_bytes()
    for array in read_arrays(tmp_path / "found.npz", "a result").values():
        assert "s3cret" not in str(array)


def test_sigterm_while_the_answer_is_computed_is_an_interrupt(problem, monkeypatch):
    study = Study(problem, seed=5, kernel="rbf", acquisition="random")
    monkeypatch.setattr(study, "result", lambda: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(Terminated):
        study.run(2)
    assert len(study.trials) == 2
