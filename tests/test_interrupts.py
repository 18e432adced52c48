"""An interrupt that something swallows still stops a search."""

import os
import signal
import threading
from contextlib import suppress

import pytest

import boirl
from boirl.interrupts import deferred_interrupts, remembered_interrupts


def interrupt_and_lose_it():
    with suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_a_lost_interrupt_is_raised_again():
    before = signal.getsignal(signal.SIGINT)
    with remembered_interrupts() as raise_if_interrupted:
        raise_if_interrupted()
        interrupt_and_lose_it()
        with pytest.raises(KeyboardInterrupt):
            raise_if_interrupted()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("context", [remembered_interrupts, deferred_interrupts])
def test_other_threads_leave_signals_alone(context):
    seen = []

    def work():
        with context() as check:
            seen.append(signal.getsignal(signal.SIGINT))
            assert not check()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def test_a_search_stops_after_the_evaluation_in_which_an_interrupt_was_lost(monkeypatch):
    problem = boirl.load_problem("gridworld")
    evaluate = type(problem).evaluate

    def evaluate_and_lose_an_interrupt(self, theta, seed, report):
        interrupt_and_lose_it()
        return evaluate(self, theta, seed, report)

    monkeypatch.setattr(type(problem), "evaluate", evaluate_and_lose_an_interrupt)
    study = boirl.Study(problem)
    with pytest.raises(KeyboardInterrupt):
        study.run(10)
    assert len(study.trials) == 1


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_a_step():
    before = signal.getsignal(signal.SIGINT)
    with deferred_interrupts() as interrupted:
        assert not interrupted()
        press()
        assert interrupted()
    assert signal.getsignal(signal.SIGINT) is before


def press_twice():
    with deferred_interrupts():
        press()
        press()
        raise AssertionError("went on")


def test_a_second_interrupt_stops_at_once():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        press_twice()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("context", [remembered_interrupts, deferred_interrupts])
def test_where_somebody_switched_interrupts_off_they_stay_off(context):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with context() as check:
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            press()
            assert not check()
    finally:
        signal.signal(signal.SIGINT, before)
