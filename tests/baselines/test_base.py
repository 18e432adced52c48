"""What the loop around all baselines does: callbacks, breaks and failures."""

import os
import signal
import threading
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from boirl import baselines
from boirl.baselines.base import Baseline
from boirl.errors import BoirlError, InvalidInputError, SolverError
from boirl.evaluation import Evaluation


@dataclass(frozen=True)
class Scripted(Baseline):
    """Returns prepared NLLs; None stands for a failure."""

    nlls: tuple

    name: ClassVar[str] = "scripted"
    summary: ClassVar[str] = "prepared NLLs"
    default_evaluations: ClassVar[int] = 3

    def check(self, problem):
        if problem.name == "wrong":
            raise InvalidInputError("scripted does not apply")

    def begin(self, problem, seed):
        return list(self.nlls)

    def advance(self, problem, state, report):
        nll = state.pop(0)
        theta = problem.truth
        if nll is None:
            return Evaluation(theta, np.nan, failure="no values")
        report(0.5, "half of it")
        return Evaluation(theta, nll, policies=({"values": np.full(3, nll)},), seconds=1e9)


def collect(into):
    return lambda evaluation, number: into.append((evaluation, number))


@pytest.fixture
def random():
    return baselines.get("random")


def test_evaluations_are_reported_in_order_with_their_numbers(gridworld):
    seen: list[Any] = []
    run = Scripted((5.0, None, 4.0)).run(gridworld, 3, callback=collect(seen))
    assert [number for _, number in seen] == [0, 1, 2]
    assert [one.nll for one, _ in seen] == pytest.approx([5.0, np.nan, 4.0], nan_ok=True)
    np.testing.assert_array_equal(run.nll, [5.0, np.nan, 4.0])
    assert run.failures == (None, "no values", None)
    assert run.best_index == 2


def test_policies_are_kept_of_those_that_improved_and_reported_of_all(gridworld):
    seen: list[Any] = []
    nlls = (5.0, 6.0, None, 5.0, 4.0)
    run = Scripted(nlls).run(gridworld, 5, callback=collect(seen))
    assert [len(one.policies) for one, _ in seen] == [1, 1, 0, 1, 1]
    assert [len(one.policies) for one in run.evaluations] == [1, 0, 0, 0, 1]


def test_what_improved_is_remembered_over_a_break(gridworld, tmp_path):
    method, path = Scripted((5.0, 6.0, 5.5, 4.0)), tmp_path / "kept.run"
    method.run(gridworld, 2, checkpoint=path)
    resumed = method.run(gridworld, 4, checkpoint=path)
    assert [len(one.policies) for one in resumed.evaluations] == [1, 0, 0, 1]


def test_seconds_are_those_of_the_whole_iteration(gridworld):
    run = Scripted((5.0, 6.0)).run(gridworld, 2)
    assert (run.seconds > 0.0).all()
    assert run.seconds.sum() < 10.0


def test_progress_is_passed_on(gridworld):
    seen = []
    Scripted((5.0,)).run(gridworld, 1, report=lambda *one: seen.append(one))
    assert seen == [(0.5, "half of it")]


def test_there_is_a_usual_number_of_evaluations(gridworld):
    assert len(Scripted((5.0,) * 9).run(gridworld)) == 3


def test_a_callback_may_end_a_run(gridworld, random):
    run = random.run(gridworld, 50, 0, callback=lambda one, number: number == 2)
    assert len(run) == 3


def test_only_true_ends_a_run(gridworld, random):
    assert len(random.run(gridworld, 4, 0, callback=lambda one, number: 1)) == 4


def test_too_few_evaluations_are_refused(gridworld, random):
    for number in (0, -3):
        with pytest.raises(InvalidInputError, match=f"evaluations is {number}; expected at least"):
            random.run(gridworld, number)


def test_problems_that_do_not_fit_are_refused_before_anything_else(tmp_path):
    class Wrong:
        name = "wrong"

    with pytest.raises(InvalidInputError, match="scripted does not apply"):
        Scripted((5.0,)).run(Wrong(), 0, checkpoint=tmp_path / "kept.run")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_waits_for_the_iteration_and_keeps_it(gridworld, random, tmp_path):
    path = tmp_path / "kept.run"

    def press(one, number):
        if number == 2:
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    with pytest.raises(KeyboardInterrupt):
        random.run(gridworld, 50, 0, press, path)
    seen: list[Any] = []
    run = random.run(gridworld, 4, 0, collect(seen), path)
    assert [number for _, number in seen] == [0, 1, 2, 3]
    np.testing.assert_array_equal(run.nll, random.run(gridworld, 4, 0).nll)


def test_an_error_in_an_iteration_keeps_what_was_saved(gridworld, random, tmp_path, monkeypatch):
    monkeypatch.setattr("boirl.baselines.base.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    path = tmp_path / "kept.run"

    def fail(one, number):
        if number == 2:
            raise OSError("something broke")

    with pytest.raises(OSError, match="something broke"):
        random.run(gridworld, 50, 0, fail, path)
    seen: list[Any] = []
    random.run(gridworld, 3, 0, collect(seen), path)
    assert len(seen) == 3


@pytest.mark.parametrize("name", ["random", "tpe", "maxent", "birl"])
def test_runs_without_any_policy_have_no_best(random_problem, monkeypatch, name):
    problem = random_problem(0)

    def fail(*arguments, **options):
        raise SolverError("no values")

    monkeypatch.setattr(type(problem), "_evaluate", fail)
    monkeypatch.setattr(
        type(problem), "nll_batch", lambda self, thetas: np.full(len(thetas), np.nan)
    )
    run = baselines.get(name).run(problem, 3)
    assert np.isnan(run.nll).all()
    reason = "the NLL is nan" if name == "birl" else "no values"
    with pytest.raises(BoirlError, match=f"none of 3 evaluations succeeded; {reason}"):
        run.best  # noqa: B018
    assert "all failed" in repr(run)


def test_a_run_that_its_callback_ended_stays_ended_when_it_is_resumed(gridworld, tmp_path):
    def enough(evaluation, number):
        return number == 2

    for _ in range(2):
        run = baselines.get("random").run(gridworld, 6, 1000, enough, tmp_path / "random.run")
        assert len(run) == 3
