"""An interrupt that something swallows still stops a search."""

import os
import signal
import threading
from contextlib import suppress

import pytest

import boirl
from boirl.interrupts import remembered_interrupts


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


def test_other_threads_leave_signals_alone():
    seen = []

    def work():
        with remembered_interrupts() as raise_if_interrupted:
            seen.append(signal.getsignal(signal.SIGINT))
            raise_if_interrupted()

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
