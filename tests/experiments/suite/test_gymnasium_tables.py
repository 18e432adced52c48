"""FrozenLake, CliffWalking and Taxi; and what is said where Gymnasium is missing."""

import builtins
from typing import Any

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments.suite.catalogue import suite_problem

NAMES = ("frozen-lake", "cliff-walking", "taxi")


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_gymnasium_is_named(name, monkeypatch):
    real = builtins.__import__

    def without(module, *args, **options):
        if module == "gymnasium":
            raise ImportError(module)
        return real(module, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidInputError, match=r"needs Gymnasium; install boirl\[rl\]"):
        suite_problem(name, 1000)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_parameter_is_paid_for_the_end(name):
    pytest.importorskip("gymnasium", reason="needs the extra boirl[rl]")
    problem: Any = suite_problem(name, 1000)
    theta = np.zeros((1, 3))
    theta[0, 0] = 1.0
    rewards = problem.mdp.expected_rewards(problem.reward, theta)[0]
    chances = problem.mdp.transition[:, problem.mdp.terminal].sum(axis=1)
    paid = rewards.reshape(-1) > 0.0
    assert paid.any()
    assert (np.asarray(chances).reshape(-1)[paid] > 0.0).all()
