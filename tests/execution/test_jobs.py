"""Whatever goes wrong with an evaluation is in its outcome."""

import asyncio
import re

import numpy as np
import pytest

from boirl.errors import SolverError
from boirl.evaluation import Evaluation
from boirl.execution.jobs import carry_out, reason_of
from boirl.types import silent
from tests.execution.conftest import job


def test_an_evaluation_that_succeeds_is_the_outcome(problem):
    outcome = carry_out(problem, job(), silent, "me")
    assert (outcome.worker, outcome.fault) == ("me", None)
    assert outcome.evaluation.nll == problem.evaluate((0.5, 1.0)).nll
    assert outcome.evaluation.seed == 7


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (-1.5, r"raised ZeroDivisionError: the motor caught fire \(conftest.py, line \d+\)"),
        (-1.25, "raised SystemExit: 3"),
        (-1.0, "the NLL is nan; expected a finite number"),
    ],
)
def test_what_goes_wrong_is_a_fault_of_one_line(misbehaving, first, reason):
    outcome = carry_out(misbehaving, job(first=first), silent, "me")
    assert re.search(reason, outcome.fault)
    assert "\n" not in outcome.fault
    assert ("ZeroDivisionError" in outcome.trace) == (first == -1.5)


def test_a_solver_that_finds_nothing_is_no_fault(problem, monkeypatch):
    def fail(self, *given):
        raise SolverError("it did not converge")

    monkeypatch.setattr(type(problem), "_evaluate", fail)
    outcome = carry_out(problem, job(), silent, "me")
    assert outcome.fault is None
    assert outcome.evaluation.failure == "it did not converge"


def test_interrupts_are_not_swallowed(problem, monkeypatch):
    def press(self, *given):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(problem), "evaluate", press)
    with pytest.raises(KeyboardInterrupt):
        carry_out(problem, job(), silent, "me")


def test_errors_of_boirl_speak_for_themselves():
    assert reason_of(SolverError("it did not converge")) == "it did not converge"


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (3.0, "returned a float; expected a boirl.Evaluation"),
        (None, "returned a NoneType"),
        (Evaluation((0.0, 0.0), 3.0), r"evaluated theta \(0.0, 0.0\); expected \(0.5, 1.0\)"),
        (Evaluation((0.5, 1.0), 3.0, nll_se=float("nan")), "nll_se of the evaluation is nan"),
        (Evaluation((0.5, 1.0), 3.0, nll_se=-1.0), "nll_se of the evaluation is -1.0"),
        (Evaluation((0.5, 1.0), 3.0, facts={"who": object()}), "facts hold a object"),
        (Evaluation((0.5, 1.0), 3.0, gradient=np.ones(3)), r"has shape \(3,\); expected 2"),
        (Evaluation((0.5, 1.0), 3.0, log_likelihoods=np.ones(99)), r"has shape \(99,\)"),
    ],
)
def test_what_a_study_could_not_store_is_a_fault(problem, monkeypatch, returned, reason):
    monkeypatch.setattr(type(problem), "evaluate", lambda *given: returned)
    outcome = carry_out(problem, job(), silent, "me")
    assert outcome.evaluation is None
    assert re.search(reason, outcome.fault)


def test_errors_that_are_no_exceptions_are_faults_too(problem, monkeypatch):
    def cancel(self, *given):
        raise asyncio.CancelledError

    monkeypatch.setattr(type(problem), "evaluate", cancel)
    assert "raised CancelledError" in carry_out(problem, job(), silent, "me").fault


def test_an_error_that_cannot_say_what_it_is_is_a_fault_too(problem, monkeypatch):
    class SilentError(Exception):
        def __str__(self):
            raise ValueError("no words")

    def fail(self, *given):
        raise SilentError

    monkeypatch.setattr(type(problem), "evaluate", fail)
    outcome = carry_out(problem, job(), silent, "me")
    assert "raised SilentError: (without a message that can be read)" in outcome.fault
