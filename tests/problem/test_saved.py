"""Problems that are written to a file and read again."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import CodeNeededError, InvalidInputError
from boirl.files import read_arrays, write_arrays
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem
from boirl.problem.saved import (
    PROBLEM_KINDS,
    ProblemKind,
    SavedProblem,
    load_saved_problem,
    save_problem,
    tabular_fields,
    tabular_parts,
)
from boirl.registry import Registry
from boirl.rewards import CallableReward, LinearReward, LogisticReward, ShapedReward

RNG = np.random.default_rng(1000)
WEIGHTS = {"a": (-2.0, 2.0), "b": (-2.0, 2.0)}
STATES = LinearReward(RNG.normal(size=(4, 2)), WEIGHTS)
REWARDS = {
    "states": STATES,
    "state-actions": LinearReward(RNG.normal(size=(4, 3, 2)), WEIGHTS),
    "one fixed": STATES.fix(b=0.5),
    "logistic": LogisticReward(
        RNG.normal(size=4),
        {"steepness": (-2.0, 2.0), "midpoint": (-1.0, 1.0), "translation": (-4.0, 4.0)},
        zero_states=[2],
    ),
    "shaped": ShapedReward(STATES, RNG.normal(size=(4, 2)), gamma=0.9),
}


def through_a_file(problem, folder):
    saved = save_problem(problem)
    write_arrays(folder / "problem.npz", saved.arrays)
    facts = json.loads(json.dumps(saved.facts))
    arrays = read_arrays(folder / "problem.npz", "a problem")
    return load_saved_problem(SavedProblem(saved.kind, facts, arrays))


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("reward", REWARDS.values(), ids=REWARDS)
def test_a_problem_survives_a_file(random_problem, reward, deterministic, tmp_path):
    problem = random_problem(1001, "logsumexp", deterministic, reward)
    again = through_a_file(problem, tmp_path)
    assert type(again) is TabularProblem
    assert again.fingerprint() == problem.fingerprint()
    assert again.solver == problem.solver
    unit = np.random.default_rng(1002).random((3, problem.box.dimension))
    for theta in problem.box.from_unit(unit):
        first, second = problem.evaluate(theta), again.evaluate(theta)
        assert second.nll == first.nll
        np.testing.assert_array_equal(second.log_likelihoods, first.log_likelihoods)
        np.testing.assert_array_equal(second.gradient, first.gradient)
        np.testing.assert_array_equal(
            again.policy_of(first).log_probabilities, problem.policy(theta).log_probabilities
        )


def test_settings_start_and_truth_survive(random_problem, tmp_path):
    problem = random_problem(1003)
    problem = TabularProblem(
        problem.mdp,
        problem.reward,
        problem.demonstrations,
        TabularSolver("boltzmann", 0.7, tolerance=1e-9, max_sweeps=1234, method="sweeps"),
        horizon=11,
        truth=(0.5, -0.25),
    )
    again = through_a_file(problem, tmp_path)
    assert again.solver == problem.solver
    assert (again.horizon, again.truth) == (11, (0.5, -0.25))
    np.testing.assert_array_equal(again.mdp.start, problem.mdp.start)
    assert again.esor(again.truth) == problem.esor(problem.truth)


def test_trajectories_of_any_length_and_unknown_ends_survive(random_mdp, tmp_path):
    ragged = Demonstrations.from_trajectories([([0, 1, 2, 3], [0, 1, 2]), ([1], [0])])
    problem = TabularProblem(random_mdp(1004), STATES, ragged)
    again = through_a_file(problem, tmp_path).demonstrations
    for name, array in problem.demonstrations.to_dict().items():
        np.testing.assert_array_equal(again.to_dict()[name], array)


def test_a_reward_that_is_code_is_named(random_problem):
    family = CallableReward(
        lambda theta, steps: theta[:, :1] * torch.as_tensor(steps.states), {"w": (0.0, 1.0)}
    )
    with pytest.raises(CodeNeededError, match=f"from {__name__} import test_a_reward_that_is_code"):
        save_problem(random_problem(0, reward=family))


class OwnProblem(TabularProblem):
    """A subclass may do anything, so that it is no tabular problem for a file."""


def own_problem():
    mdp = TabularMDP.from_next_states([[1, 0], [0, 1]], 0.9)
    reward = LinearReward(np.eye(2), WEIGHTS)
    return OwnProblem(mdp, reward, Demonstrations.from_arrays([[0, 1, 0]], [[0, 0]]))


def test_a_subclass_needs_its_code_until_it_is_registered(monkeypatch):
    with pytest.raises(CodeNeededError, match=f"from {__name__} import OwnProblem"):
        save_problem(own_problem())
    kinds: Registry[Any] = Registry(PROBLEM_KINDS.kind, "boirl.tests.nothing")
    kinds.register("tabular", PROBLEM_KINDS["tabular"])
    kind = ProblemKind(
        OwnProblem, tabular_parts, lambda *parts: OwnProblem(**tabular_fields(*parts))
    )
    kinds.register("own", kind)
    monkeypatch.setattr("boirl.problem.saved.PROBLEM_KINDS", kinds)
    saved = save_problem(own_problem())
    assert saved.kind == "own"
    again = load_saved_problem(saved)
    assert type(again) is OwnProblem
    assert again.fingerprint() == own_problem().fingerprint()


def test_an_unknown_kind_is_named():
    with pytest.raises(InvalidInputError, match="there is no kind of problem 'chess'"):
        load_saved_problem(SavedProblem("chess", {}, {}))


@pytest.mark.parametrize(
    ("name", "value"), [("next_states", 10**6), ("next_states", -1), ("row_starts", 10**6)]
)
def test_transitions_that_lead_nowhere_are_refused(random_problem, name, value):
    facts, arrays = tabular_parts(random_problem(0))
    arrays[name] = arrays[name].copy()
    arrays[name][1] = value
    with pytest.raises((ValueError, IndexError), match=r"."):
        load_saved_problem(SavedProblem("tabular", facts, arrays))


def test_names_are_kept(random_problem):
    problem = random_problem(0)
    named = replace(problem, mdp=problem.mdp.with_names("abcd", "xyz"))
    again: Any = load_saved_problem(save_problem(named))
    assert again.mdp.state_names == ("a", "b", "c", "d")
    assert again.mdp.action_names == ("x", "y", "z")
