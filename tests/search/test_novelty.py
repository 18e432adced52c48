"""No theta is handed out twice."""

import numpy as np
import pytest

from boirl.search.acquisitions import Proposal
from boirl.search.novelty import SAME_THETA, Tried, is_same, new_proposal
from boirl.search.study import Study
from boirl.types import Box

BOX = Box(("first", "second"), np.array([-2.0, 0.0]), np.array([2.0, 1.0]))
NONE = np.empty((0, 2))


def at(*points):
    """Thetas at points of the unit cube."""
    return BOX.from_unit(np.array(points).reshape(-1, 2))


def test_what_is_under_evaluation_is_kept_away_from():
    tried = Tried(BOX, at([0.5, 0.5]), NONE)
    assert not tried.is_new(np.array([0.5 + 0.9 * SAME_THETA, 0.5]))
    assert tried.is_new(np.array([0.5 + 1.1 * SAME_THETA, 0.5]))


def test_what_was_evaluated_is_only_itself():
    tried = Tried(BOX, NONE, at([0.3, 0.7]))
    assert not tried.is_new(np.array([0.3, 0.7]))
    assert tried.is_new(np.array([0.3 + 1e-9, 0.7]))


def test_another_acquisition_steps_in_for_one_that_repeats_itself(monkeypatch):
    def stuck(surrogate, rng):
        return Proposal(np.array([0.5, 0.5]), "improve")

    resolved = [np.array([0.2, 0.2]), np.array([0.5, 0.5])]
    monkeypatch.setattr("boirl.search.novelty.ResolvePosterior", lambda _: None)
    monkeypatch.setattr("boirl.search.novelty.maximise", lambda *_: (resolved.pop(0), 0.0))

    class Nothing:
        box = BOX
        best_unit = None

    elsewhere = [np.array([0.5, 0.5]), np.array([0.9, 0.1])]
    monkeypatch.setattr("boirl.search.novelty.least_predicted", lambda *_: elsewhere.pop(0))
    rng = np.random.default_rng(0)
    assert new_proposal(stuck, Nothing(), Tried(BOX, NONE, NONE), rng).purpose == "improve"
    tried = Tried(BOX, at([0.5, 0.5]), NONE)
    assert new_proposal(stuck, Nothing(), tried, rng).unit.tolist() == [0.2, 0.2]
    assert new_proposal(stuck, Nothing(), tried, rng).unit.tolist() == [0.9, 0.1]


@pytest.mark.parametrize("params", [{}, {"first": 0.0}])
def test_a_trial_without_a_theta_has_none_to_share(params):
    assert not is_same(np.zeros(2), params, BOX)


def test_the_same_theta_in_two_trials():
    assert is_same(np.array([1.0, 0.5]), {"second": 0.5, "first": 1.0 + 1e-5}, BOX)
    assert not is_same(np.array([1.0, 0.5]), {"second": 0.5, "first": 1.01}, BOX)


def test_expected_improvement_that_has_converged_goes_elsewhere(random_problem):
    """Two studies that ask at the same time get different thetas, too."""
    problem = random_problem(1000)
    study = Study(problem, seed=3, acquisition="log-ei", kernel="rbf")
    study.run(12)
    asked = np.array([problem.box.to_unit(np.array(study.ask().theta)) for _ in range(4)])
    gaps = np.abs(asked[:, None] - asked[None]).max(axis=-1)
    assert gaps[~np.eye(4, dtype=bool)].min() > SAME_THETA
