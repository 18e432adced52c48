"""The loop: nobody idle, nothing lost, nothing twice, whatever goes wrong."""

import os
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from boirl.errors import BoirlError, BoirlWarning, InvalidInputError
from boirl.evaluation import Evaluation
from boirl.execution import Outcome, Workers
from boirl.search.database import TOLD
from boirl.search.driver import FAULTS, TRACE
from boirl.search.leases import LEASE
from boirl.search.progress import SearchProgress
from boirl.search.questions import MOST_DEATHS
from boirl.search.sampler import KNOWN, search_space
from boirl.search.study import Study

OPTIONS: dict[str, Any] = {"seed": 3, "kernel": "rbf", "acquisition": "random"}
"""What is proposed does not matter here, so that it is drawn at random, which is quick."""


@pytest.fixture
def problem(random_problem):
    return random_problem(1000)


@pytest.fixture
def evaluate_as(problem, monkeypatch):
    """Replace evaluations by a function of theta and of the calls before."""
    evaluate, calls = type(problem).evaluate, []

    def replace_by(function):
        def evaluate_as(self, theta, seed=None, report=None):
            calls.append(tuple(theta))
            found = function(tuple(theta), len(calls) - 1)
            return evaluate(self, theta, seed) if found is None else found

        monkeypatch.setattr(type(problem), "evaluate", evaluate_as)
        return calls

    return replace_by


def test_one_worker_searches_as_none_does(problem):
    options: dict[str, Any] = {"seed": 3, "kernel": "rbf", "acquisition": "log-ei"}
    alone = Study(problem, **options).run(5)
    found = Study(problem, **options).run(5, timeout=60.0)
    np.testing.assert_array_equal(found.thetas, alone.thetas)


def test_workers_share_the_evaluations(problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    study = Study(problem, storage=storage, **OPTIONS)
    found = study.run(7, workers=2)
    assert len(found) == 7
    assert len(np.unique(found.thetas, axis=0)) == 7
    trials = study.optuna_study.trials
    assert sorted(trial.user_attrs[TOLD] for trial in trials) == list(range(7))
    assert max(len(trial.system_attrs[KNOWN]["running"]) for trial in trials) == 1
    reopened = Study(problem, storage=storage, **OPTIONS)
    np.testing.assert_array_equal([one.nll for one in reopened.evaluations], found.nll)


def test_several_drivers_share_one_study(problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    studies = [Study(problem, storage=storage, **OPTIONS) for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(lambda study: study.run(12), studies))
    assert {len(one) for one in found} == {12}
    assert len(np.unique(found[0].thetas, axis=0)) == 12


def test_a_fault_is_tried_again_and_then_forgotten(problem, evaluate_as):
    def fail_once(theta, call):
        if call == 1:
            raise ZeroDivisionError("the motor caught fire")

    calls = evaluate_as(fail_once)
    found = Study(problem, **OPTIONS).run(4)
    assert len(calls) == 5
    assert calls[1] == calls[2]
    assert np.isfinite(found.nll).all()
    (fault,) = found.evaluations[1].facts[FAULTS]
    assert "ZeroDivisionError: the motor caught fire" in fault
    assert "[this process]" in fault


@pytest.mark.parametrize("retries", [0, 2])
def test_a_fault_that_stays_is_recorded_with_its_reason(problem, evaluate_as, retries, tmp_path):
    def fail_for_one(theta, call):
        if theta[0] == 0.5:
            raise ZeroDivisionError("the motor caught fire")

    calls = evaluate_as(fail_for_one)
    options = {**OPTIONS, "initial": [[0.1, 0.1], [0.5, 0.5]]}
    storage = f"sqlite:///{tmp_path}/search.db"
    found = Study(problem, storage=storage, **options).run(4, retries=retries)
    assert len(calls) == 4 + retries
    failed = Study(problem, storage=storage, **options).evaluations[1]
    assert "ZeroDivisionError: the motor caught fire" in failed.failure
    assert len(failed.facts[FAULTS]) == 1 + retries
    assert "fail_for_one" in failed.facts[TRACE]
    assert np.isnan(found.nll).tolist() == [False, True, False, False]


def test_a_killed_or_hanging_process_is_replaced_and_the_search_goes_on(problem, evaluate_as):
    def misbehave(theta, call):
        if theta[0] == 0.5:
            os.kill(os.getpid(), signal.SIGKILL)
        if theta[0] == 0.75:
            time.sleep(60)

    evaluate_as(misbehave)
    study = Study(problem, initial=[[0.1, 0.1], [0.5, 0.5], [0.75, 0.5]], **OPTIONS)
    found = study.run(5, workers=2, timeout=1.0, retries=1)
    reasons = [one.failure for one in found.evaluations]
    assert reasons[0] is None
    assert "was killed (SIGKILL)" in reasons[1]
    assert "time limit of 1 s (2 attempts)" in reasons[2]
    assert reasons[3:] == [None, None]
    assert len(found.evaluations[1].facts[FAULTS]) == 2


def test_an_nll_that_is_no_number_is_tried_again(problem, evaluate_as):
    calls = evaluate_as(lambda theta, call: Evaluation(theta, np.nan) if call in (0, 3) else None)
    found = Study(problem, **OPTIONS).run(3)
    assert np.isfinite(found.nll).all()
    assert len(calls) == 5


def test_code_that_never_works_stops_the_search_with_its_error(problem, evaluate_as):
    def broken(theta, call):
        raise TypeError("no such thing")

    evaluate_as(broken)
    study = Study(problem, **OPTIONS)
    with pytest.raises(BoirlError, match=r"the first 3 evaluations failed.*TypeError: no such"):
        study.run(50)
    assert len(study.trials) == 3


class Slow(Workers):
    """Two workers that answer when they are told to, and keep what they were given."""

    def __init__(self, problem):
        super().__init__()
        self.problem = problem
        self.most = 0
        self.idled = 0
        self.forgotten = []
        self.closed = False

    def idle(self):
        return 2 - len(self.running)

    def submit(self, job):
        name = self._begin(job, f"slow {len(self.running)}")
        self.most = max(self.most, len(self.running))
        return name

    def wait(self, seconds):
        if seconds == 0.0 or not self.running:
            return []
        self.idled += self.idle()
        number = min(self.running)
        job = self.running.pop(number).job
        evaluation = replace(self.problem.evaluate(job.theta, job.seed), seconds=1e-6)
        return [Outcome(job, "slow", evaluation)]

    def forget(self, job):
        self.forgotten.append(job.number)

    def close(self):
        self.closed = True


def test_no_worker_is_idle_while_there_is_work_and_proposals_are_made_ahead(problem, monkeypatch):
    crew = Slow(problem)
    monkeypatch.setattr("boirl.search.study.make_workers", lambda *_: crew)
    study = Study(problem, **OPTIONS)
    study.run(8)
    assert crew.most == 2
    # Only when the last evaluation has begun has anybody nothing to do.
    assert crew.idled <= 1
    assert crew.forgotten == list(range(8))
    assert crew.closed
    pending = [len(trial.system_attrs[KNOWN]["running"]) for trial in study.optuna_study.trials]
    assert max(pending) > 2 - 1


def test_what_has_ended_when_a_search_is_interrupted_is_kept(problem, monkeypatch, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    crew = Slow(problem)
    monkeypatch.setattr("boirl.search.study.make_workers", lambda *_: crew)
    monkeypatch.setattr(crew, "drain", lambda: Slow.wait(crew, 1.0))

    def press(seconds):
        if seconds > 0.0:
            raise KeyboardInterrupt
        return []

    monkeypatch.setattr(crew, "wait", press)
    study = Study(problem, storage=storage, **OPTIONS)
    with pytest.raises(KeyboardInterrupt):
        study.run(8)
    assert len(study.trials) == 1
    assert crew.closed
    # The other one is free, for anybody.
    assert Study(problem, storage=storage, **OPTIONS).ask().number == 1


def test_after_a_change_of_machines_a_search_waits_for_the_lease_and_resumes_exactly(
    problem, tmp_path
):
    expected = Study(problem, **OPTIONS).run(4).thetas
    storage = f"sqlite:///{tmp_path}/search.db"
    study = Study(problem, storage=storage, **OPTIONS)
    study.run(2)
    theta = Study(problem, storage=storage, **OPTIONS).questions._sampler.propose(
        2, study.database.trials()
    )[0]
    lease = study.questions.leases.new()
    elsewhere = replace(lease, owner="theirs", place="elsewhere", deadline=time.time() + 1.0)
    trial_id = study.database.create({LEASE: elsewhere.record()})
    params = dict(zip(problem.box.names, theta.tolist(), strict=True))
    study.database.propose(trial_id, params, search_space(problem.box), {})
    with pytest.warns(BoirlWarning, match=r"evaluation 2 belongs to .*, which may be gone"):
        found = study.run(4)
    np.testing.assert_array_equal(found.thetas, expected)


def test_a_machine_that_shows_signs_of_life_is_not_waited_for(problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    study = Study(problem, storage=storage, **OPTIONS)
    lease = replace(study.questions.leases.new(), owner="theirs", place="elsewhere")
    trial_id = study.database.create({LEASE: lease.record()})

    def renew():
        renewed = replace(lease, deadline=lease.deadline + 1.0).record()
        study.database.replace(trial_id, LEASE, lease.record(), renewed)

    threading.Timer(0.5, renew).start()
    # It takes the place of an evaluation until it ends.
    threading.Timer(2.0, lambda: study.database.finish(trial_id, None, {}, {})).start()
    began = time.monotonic()
    with pytest.warns(BoirlWarning, match="which may be gone"):
        assert len(study.run(2)) == 2
    assert time.monotonic() - began < 30


def test_wrong_numbers_are_refused(problem):
    with pytest.raises(InvalidInputError, match="retries is -1; expected 0 or more"):
        Study(problem, **OPTIONS).run(3, retries=-1)
    with pytest.raises(InvalidInputError, match="workers is 0"):
        Study(problem, **OPTIONS).run(3, workers=0)


class Named(Slow):
    """Two workers with names, the first of which fails at what it is given first."""

    def __init__(self, problem):
        super().__init__(problem)
        self.given = []

    def _free(self):
        busy = {one.worker for one in self.running.values()}
        return [name for name in ("first", "second") if name not in busy]

    def has_another_than(self, worker):
        return any(name != worker for name in self._free())

    def submit(self, job):
        free = self._free()
        name = next((one for one in free if one != job.avoid), free[0])
        self.given.append((job.number, job.attempt, name))
        return self._begin(job, name)

    def wait(self, seconds):
        if not self.running:
            return []
        # The first one answers first.
        running = min(self.running.values(), key=lambda one: (one.worker, one.job.number))
        del self.running[running.job.number]
        if len(self.given) <= 2:
            return [Outcome(running.job, running.worker, fault="it fell over")]
        return [Outcome(running.job, running.worker, self.problem.evaluate(running.job.theta))]


def test_another_attempt_is_made_elsewhere_and_nobody_waits_for_it(problem, monkeypatch):
    crew = Named(problem)
    monkeypatch.setattr("boirl.search.study.make_workers", lambda *_: crew)
    found = Study(problem, **OPTIONS).run(6)
    failed = {number: name for number, attempt, name in crew.given if attempt == 0}
    again = [(number, name) for number, attempt, name in crew.given if attempt == 1]
    assert len(again) == 1
    assert all(failed[number] != name for number, name in again)
    assert len(found) == 6


def test_a_lone_worker_makes_the_other_attempt_itself(problem, monkeypatch):
    crew = Named(problem)
    monkeypatch.setattr(crew, "_free", lambda: [] if crew.running else ["first"])
    monkeypatch.setattr(crew, "idle", lambda: len(crew._free()))
    monkeypatch.setattr("boirl.search.study.make_workers", lambda *_: crew)
    assert len(Study(problem, **OPTIONS).run(4)) == 4


def test_what_was_asked_for_by_hand_and_never_told_is_evaluated(problem):
    study = Study(problem, **OPTIONS)
    question = study.ask()
    found = study.run(3)
    assert len(found) == 3
    assert found.evaluations[0].theta == question.theta
    with pytest.raises(InvalidInputError, match="was reported before"):
        study.tell(question, 1.0)


def test_a_second_interrupt_while_it_stops_leaves_nothing_leased(problem, monkeypatch, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    crew = Slow(problem)
    monkeypatch.setattr("boirl.search.study.make_workers", lambda *_: crew)

    def press(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(crew, "wait", press)
    study = Study(problem, storage=storage, **OPTIONS)
    with pytest.raises(KeyboardInterrupt):
        study.run(8)
    assert crew.closed
    assert not study.questions.leases.held
    assert study.ask().number == 0


def test_a_theta_that_breaks_every_executor_is_given_up(problem, evaluate_as):
    def die(theta, call):
        if theta[0] == 0.5:
            raise BrokenExecutor("a process died")

    class Broken(ThreadPoolExecutor):
        """As a pool of processes of which one has died."""

        def submit(self, function, /, *given, **options):
            future = super().submit(function, *given, **options)
            outcome = future.result()
            if outcome is not None and "BrokenExecutor" in str(outcome.fault):
                failed: Any = Future()
                failed.set_exception(BrokenExecutor("a process died"))
                return failed
            return future

    evaluate_as(die)
    study = Study(problem, initial=[[0.1, 0.1], [0.5, 0.5]], **OPTIONS)
    for _ in range(MOST_DEATHS):
        with Broken(1) as executor, pytest.raises(BoirlError, match="no longer works"):
            study.run(4, executor=executor)
    with Broken(1) as executor:
        found = study.run(4, executor=executor)
    assert [one.ok for one in found.evaluations] == [True, False, True, True]
    assert f"died, {MOST_DEATHS} times; it was given up" in found.evaluations[1].failure


def test_the_best_that_is_shown_is_that_under_the_demonstrations_of_now(problem, monkeypatch):
    study = Study(problem, **OPTIONS)
    study.run(2)
    study.add_demonstrations(problem.demonstrations.subset([0]))
    shown = []
    monkeypatch.setattr(
        SearchProgress, "advance", lambda bar, nll, resumed=False: shown.append(nll)
    )
    found = study.run(3)
    assert shown == [one.nll for one in found.evaluations]
