"""Evidence that changes: nothing is solved again, and the search goes on."""

from typing import Any

import numpy as np
import pytest
from optuna.artifacts import FileSystemArtifactStore

import boirl
from boirl.errors import BoirlError, InvalidInputError
from boirl.search.evidence import rescored
from boirl.search.study import Study

QUICK: dict[str, Any] = {"kernel": "rbf", "acquisition": "random", "seed": 1000}


@pytest.fixture(scope="module")
def problem():
    return boirl.load_problem("gridworld2d", n_demonstrations=4)


@pytest.fixture(scope="module")
def more(problem):
    return problem.demonstrate(problem.truth, 6, seed=1001)


@pytest.fixture
def no_solving(monkeypatch):
    """Makes solving for a policy an error, once it is called."""

    def forbid():
        def solved(*args, **options):
            raise AssertionError("a policy was solved for")

        monkeypatch.setattr(boirl.TabularSolver, "solve_batch", solved)

    return forbid


def nll_anew(problem, found):
    return [problem.evaluate(theta).nll for theta in found.thetas]


def test_added_demonstrations_give_the_nll_of_an_evaluation_without_solving(
    problem, more, no_solving, monkeypatch
):
    study = Study(problem, **QUICK)
    study.run(5)
    no_solving()
    study.add_demonstrations(more)
    found = study.result()
    monkeypatch.undo()
    assert len(found.problem.demonstrations) == 10
    np.testing.assert_allclose(found.nll, nll_anew(study.problem, found), rtol=1e-12)
    for one in found.evaluations:
        np.testing.assert_allclose(one.nll, -one.log_likelihoods.mean(), rtol=1e-12)


def test_what_was_added_and_removed_again_leaves_nothing_behind(problem, more):
    study = Study(problem, **QUICK)
    before = study.run(4)
    study.add_demonstrations(more)
    study.remove_demonstrations(range(4, 10))
    np.testing.assert_allclose(study.result().nll, before.nll, rtol=1e-12)
    assert study.problem.fingerprint() == problem.fingerprint()


def test_a_mask_and_numbers_remove_the_same(problem):
    for which in ([True, False, True, False], [0, 2]):
        study = Study(problem, **QUICK)
        study.run(2)
        study.remove_demonstrations(which)
        found = study.result()
        np.testing.assert_allclose(found.nll, nll_anew(study.problem, found), rtol=1e-12)
        np.testing.assert_array_equal(
            study.problem.demonstrations.states, problem.demonstrations.subset([1, 3]).states
        )


def test_the_search_goes_on_and_new_evaluations_explain_all(problem, more):
    study = Study(problem, seed=1000)
    study.run(4)
    study.add_demonstrations(more)
    found = study.run(6)
    assert len(found) == 6
    assert [one.gradient is None for one in found.evaluations] == [True] * 4 + [False] * 2
    np.testing.assert_allclose(found.nll, nll_anew(study.problem, found), rtol=1e-12)
    assert found.surrogate.n_demonstrations == 10


def test_a_study_remembers_its_evidence(problem, more, tmp_path):
    options = {**QUICK, "storage": f"sqlite:///{tmp_path}/search.db"}
    study = Study(problem, **options)
    study.run(3)
    study.add_demonstrations(more)
    study.add_preferences(boirl.Preferences(more.subset([0]), more.subset([1])))
    study.run(4)
    for given in (problem, study.problem):
        again = Study(given, **options)
        assert again.problem.fingerprint() == study.problem.fingerprint()
        np.testing.assert_allclose(again.result().nll, study.result().nll, rtol=1e-12)
    with pytest.raises(InvalidInputError, match="was made with other problem"):
        Study(problem.with_demonstrations(more), **options)


def test_comparisons_count_beside_demonstrations(problem, more):
    study = Study(problem, **QUICK)
    before = study.run(5)
    compared = boirl.Preferences(more.subset([0, 1]), more.subset([2, 3]))
    study.add_preferences(compared)
    found = study.result()
    logs = compared.log_likelihoods(problem, found.thetas).sum(axis=1)
    np.testing.assert_allclose(found.nll, before.nll - logs / 4, rtol=1e-12)
    assert found.preferences is not None
    study.add_preferences(boirl.Preferences(more.subset([0]), more.subset([2])))
    assert len(study.result().preferences) == 3


def test_failures_stay_failures_and_evaluations_without_policies_are_evaluated_again(problem, more):
    study = Study(problem, initial=[(1.0, 2.0), (0.5, 5.0)], **QUICK)
    first = study.ask()
    study.tell(first, boirl.Evaluation(first.theta, float("nan"), failure="no luck"))
    second = study.ask()
    study.tell(second, problem.nll(second.theta))
    study.add_demonstrations(more)
    found = study.result()
    assert found.failures[0] == "no luck"
    assert found.nll[1] == pytest.approx(study.problem.nll(second.theta), rel=1e-12)
    assert rescored(study.problem, found.evaluations[0]) is found.evaluations[0]


@pytest.mark.parametrize("which", [[4], [-1], [0.5], [True, False], range(4)])
def test_demonstrations_that_are_not_there_cannot_be_removed(problem, which):
    study = Study(problem, **QUICK)
    with pytest.raises(InvalidInputError, match="expected"):
        study.remove_demonstrations(which)


def test_what_does_not_fit_changes_nothing(problem):
    study = Study(problem, **QUICK)
    study.run(2)
    elsewhere = boirl.Demonstrations.from_trajectories([([0, 99], [0, 0])])
    with pytest.raises(BoirlError, match="expected a number below 37"):
        study.add_demonstrations(elsewhere)
    with pytest.raises(InvalidInputError, match=r"expected boirl\.Demonstrations"):
        study.add_demonstrations([[0], [1]])
    with pytest.raises(InvalidInputError, match=r"expected boirl\.Preferences"):
        study.add_preferences(elsewhere)
    assert study.evidence.version == 0
    assert len(study.problem.demonstrations) == 4


def test_changed_evidence_that_no_folder_keeps_is_refused_and_not_forgotten(
    problem, more, tmp_path
):
    class Store(FileSystemArtifactStore):
        """As one in a bucket."""

    options: dict[str, Any] = {**QUICK, "storage": f"sqlite:///{tmp_path}/search.db"}
    study = Study(problem, artifacts=Store(tmp_path), **options)
    study.run(2)
    study.add_demonstrations(more)
    with pytest.raises(InvalidInputError, match="are not kept in an artifact store"):
        Study(problem, artifacts=Store(tmp_path), **options)
    again = Study(study.problem, artifacts=Store(tmp_path), **options)
    assert [one.nll for one in again.evaluations] == [one.nll for one in study.evaluations]
