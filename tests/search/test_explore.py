"""A whole search in one call."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import boirl
from boirl.cache import CACHE_VARIABLE
from boirl.errors import BoirlError, BoirlWarning

OPTIONS: dict[str, Any] = {"seed": 3, "kernel": "rbf"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_an_interrupted_search_in_memory_has_found_is_kept(
    random_problem, monkeypatch, tmp_path, number
):
    problem = random_problem(1000)
    whole = boirl.explore(problem, 5, **OPTIONS)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    evaluate, calls = type(problem).evaluate, []

    def interrupted(self, theta, seed, report):
        calls.append(theta)
        if len(calls) == 4:
            os.kill(os.getpid(), number)
        return evaluate(self, theta, seed, report)

    monkeypatch.setattr(type(problem), "evaluate", interrupted)
    before = signal.getsignal(number)
    with (
        pytest.warns(BoirlWarning, match=r"ended after 3 .* in sqlite:///\S+\.db:") as said,
        pytest.raises(KeyboardInterrupt),
    ):
        boirl.explore(problem, 5, **OPTIONS)
    assert signal.getsignal(number) is before
    address = str(said[0].message).split(" are in ")[1].split(".db:")[0] + ".db"
    resumed = boirl.explore(problem, 5, storage=address, **OPTIONS)
    np.testing.assert_array_equal(resumed.thetas, whole.thetas)


def test_workers_are_passed_on(random_problem, monkeypatch):
    given = {}

    def run(self, evaluations, progress, **options):
        given.update(options)

    monkeypatch.setattr(boirl.Study, "run", run)
    boirl.explore(random_problem(1000), workers=3, timeout=5.0, retries=2, **OPTIONS)
    assert given == {"executor": None, "workers": 3, "timeout": 5.0, "retries": 2}


def test_what_a_search_that_an_error_ended_has_found_is_kept(random_problem, monkeypatch, tmp_path):
    problem = random_problem(1000)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    executor = ThreadPoolExecutor(1)
    evaluate, calls = type(problem).evaluate, []

    def shut_down(self, theta, seed, report):
        calls.append(theta)
        if len(calls) == 2:
            executor.shutdown(wait=False)
        return evaluate(self, theta, seed, report)

    monkeypatch.setattr(type(problem), "evaluate", shut_down)
    with (
        pytest.warns(BoirlWarning, match="ended after 2 evaluations; they are in sqlite"),
        pytest.raises(BoirlError, match="no longer works"),
    ):
        boirl.explore(problem, 5, executor=executor, **OPTIONS)
