"""Problems travel whole, lambdas included; what cannot is named."""

import pickle
import sys
import threading

import numpy as np
import pytest
import torch

import boirl
from boirl.errors import BoirlError, InvalidInputError
from boirl.execution.shipping import MOST_OPEN, CannotOpenError, Parcel, open_parcel, pack

pytest.importorskip("cloudpickle")


def with_reward(problem, function):
    family = boirl.CallableReward(function, {"weight": (-1.0, 2.0)})
    return boirl.TabularProblem(problem.mdp, family, problem.demonstrations)


def test_a_lambda_arrives(problem):
    heights = torch.arange(4, dtype=torch.float64)
    sent = with_reward(problem, lambda theta, at: theta[:, :1] * heights[at.states])
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(sent)
    arrived = open_parcel(pickle.loads(pickle.dumps(pack(sent))))
    assert arrived is not sent
    assert arrived.evaluate([0.5]).nll == sent.evaluate([0.5]).nll
    assert arrived.fingerprint() == sent.fingerprint()


def test_what_cannot_be_pickled_is_named(problem):
    lock = threading.Lock()
    heights = torch.arange(4, dtype=torch.float64)

    def reward(theta, at):
        with lock:
            return theta[:, :1] * heights[at.states]

    with pytest.raises(InvalidInputError, match=r"problem\.reward\..*'lock'\) is a lock, which"):
        pack(with_reward(problem, reward))


def test_a_problem_is_opened_once_and_then_known_by_name(problem):
    parcel = pack(problem)
    opened = open_parcel(parcel)
    assert open_parcel(parcel.name_alone) is opened
    assert open_parcel(parcel) is opened
    assert open_parcel(Parcel("another", None)) is None
    np.testing.assert_array_equal(opened.demonstrations.states, problem.demonstrations.states)


def test_a_worker_keeps_the_latest_problems_only(problem):
    parcel = pack(problem)
    for number in range(MOST_OPEN + 1):
        open_parcel(Parcel(f"copy {number}", parcel.content))
    assert open_parcel(Parcel("copy 0", None)) is None
    assert open_parcel(Parcel(f"copy {MOST_OPEN}", None)) is not None


def test_what_cannot_be_opened_is_reported_with_what_to_do():
    foreign = Parcel("foreign", b"cnot_installed_here\nthing\n.")
    with pytest.raises(CannotOpenError, match=r"No module named 'not_installed_here'.*install"):
        open_parcel(foreign)


def test_without_cloudpickle_one_line_says_how_to_get_it(problem, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(BoirlError, match=r"pip install 'boirl\[cluster\]'"):
        pack(problem)
