"""Evaluations in a study: numbers in the database, arrays and policies in a folder."""

import gc
import io
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.artifacts.exceptions import ArtifactNotFound

import boirl
from boirl.cache import CACHE_VARIABLE
from boirl.errors import BoirlWarning, SolverError, StorageError
from boirl.evaluation import Evaluation
from boirl.policies.bellman import TabularSolver
from boirl.search.records import artifact_folder
from boirl.search.study import Study
from tests.problem.learned import build, trained

START = (-1.5, 6.0, 1.0)
OPTIONS: dict[str, Any] = {
    "seed": 1005,
    "initial": [START],
    "kernel": "rbf",
    "acquisition": "random",
}
"""What is proposed does not matter here, so that it is drawn at random, which is quick."""


@pytest.fixture(scope="module")
def uninterrupted(gridworld):
    return boirl.explore(gridworld, evaluations=5, **OPTIONS)


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/search.db"


@pytest.fixture
def folder(tmp_path):
    """Where arrays are kept by default."""
    return tmp_path / "search.artifacts"


def assert_same(found, expected):
    """Equal in everything but the time that it took."""
    first, second = ({**one.numbers(), "seconds": 0.0} for one in (found, expected))
    assert json.dumps(first) == json.dumps(second)
    assert found.arrays().keys() == expected.arrays().keys()
    for name, array in expected.arrays().items():
        np.testing.assert_array_equal(found.arrays()[name], array)


def stored_text(folder: Path) -> str:
    """Everything in the database, as text."""
    with sqlite3.connect(folder / "search.db") as database:
        return "\n".join(database.iterdump())


def test_numbers_are_in_the_database_and_arrays_in_the_folder(gridworld, storage, folder, tmp_path):
    study = Study(gridworld, storage=storage, **OPTIONS)
    assert not folder.exists()
    study.run(2)
    assert len(list(folder.iterdir())) == 2
    assert list(tmp_path.iterdir()) != [folder]
    database = stored_text(tmp_path)
    evaluation = study.evaluations[0]
    assert repr(evaluation.gradient.tolist()[0]) in database
    assert repr(evaluation.log_likelihoods.tolist()[0]) not in database
    assert repr(evaluation.policies[0]["values"].tolist()[0]) not in database


def test_a_reopened_study_has_the_same_evaluations(gridworld, storage, uninterrupted):
    expected = boirl.explore(gridworld, 3, storage=storage, **OPTIONS)
    again = Study(gridworld, storage=storage, **OPTIONS)
    assert len(again.evaluations) == 3
    for one, other in zip(again.evaluations, expected.evaluations, strict=True):
        assert_same(one, other)
        assert one.seconds == other.seconds
        assert one.log_likelihoods is not None
        assert one.gradient is not None
        assert len(one.policies) == 1
    for one, other in zip(again.run(5).evaluations, uninterrupted.evaluations, strict=True):
        assert_same(one, other)


def test_policies_of_a_reopened_study_are_not_solved_for(gridworld, storage, monkeypatch):
    expected = boirl.explore(gridworld, 2, storage=storage, **OPTIONS).policies([0, 1])
    again = Study(gridworld, storage=storage, **OPTIONS)

    def refuse(*_, **__):
        raise AssertionError("solved")

    monkeypatch.setattr(TabularSolver, "solve_batch", refuse)
    for one, other in zip(again.result().policies([0, 1]), expected, strict=True):
        np.testing.assert_array_equal(one.log_probabilities, other.log_probabilities)


class KilledError(BaseException):
    """Stands for a process that ends here."""


@pytest.mark.parametrize("where", ["before the arrays", "before the numbers", "before it counts"])
def test_an_evaluation_counts_only_when_all_of_it_is_stored(
    gridworld, storage, folder, uninterrupted, monkeypatch, where
):
    study = Study(gridworld, storage=storage, **OPTIONS)
    study.run(2)

    def killed(*_, **__):
        raise KilledError

    with monkeypatch.context() as patch:
        if where == "before the arrays":
            patch.setattr("optuna.artifacts.FileSystemArtifactStore.write", killed)
        elif where == "before the numbers":
            patch.setattr(study.database, "finish", killed)
        else:
            patch.setattr("boirl.search.sql_transactions._SqlTransaction.end", killed)
        with pytest.raises(KilledError):
            study.run(5)
    assert len(list(folder.iterdir())) == (2 if where == "before the arrays" else 3)
    running = study.optuna_study.get_trials(states=[optuna.trial.TrialState.RUNNING])
    assert len(running) == 1
    # The process is gone, and with it the owner of the evaluation.
    del study
    gc.collect()
    again = Study(gridworld, storage=storage, **OPTIONS)
    assert len(again.trials) == len(again.evaluations) == 2
    resumed = again.run(5)
    assert {trial.state.name for trial in again.optuna_study.trials} == {"COMPLETE"}
    fresh = Study(gridworld, storage=storage, **OPTIONS)
    for result in (resumed.evaluations, fresh.evaluations):
        for one, other in zip(result, uninterrupted.evaluations, strict=True):
            assert_same(one, other)


def test_a_file_that_was_half_written_does_not_count(
    gridworld, storage, folder, uninterrupted, monkeypatch
):
    study = Study(gridworld, storage=storage, **OPTIONS)

    def cut_short(self, artifact_id, content):
        (folder / artifact_id).write_bytes(content.read()[:100])
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr("optuna.artifacts.FileSystemArtifactStore.write", cut_short)
        with pytest.raises(KilledError):
            study.run(1)
    del study
    gc.collect()
    Study(gridworld, storage=storage, **OPTIONS).run(1)
    assert len(list(folder.iterdir())) == 2
    (evaluation,) = Study(gridworld, storage=storage, **OPTIONS).evaluations
    assert_same(evaluation, uninterrupted.evaluations[0])


def test_arrays_are_those_of_the_evaluation_that_counts(gridworld, storage, monkeypatch):
    study = Study(gridworld, storage=storage, **OPTIONS)
    question = study.ask()

    def locked(*_, **__):
        raise sqlite3.OperationalError("database is locked")

    first = Evaluation(question.theta, 3.0, log_likelihoods=np.full(50, -3.0))
    second = Evaluation(question.theta, 4.0, log_likelihoods=np.full(50, -4.0))
    with monkeypatch.context() as patch:
        patch.setattr("boirl.search.sql_transactions._SqlTransaction.end", locked)
        with pytest.raises(StorageError, match="locked"):
            study.tell(question, first)
    study.tell(question, second)
    for opened in (study, Study(gridworld, storage=storage, **OPTIONS)):
        (evaluation,) = opened.evaluations
        assert_same(evaluation, second)


def test_without_the_folder_the_numbers_are_left_and_policies_are_solved_for(
    gridworld, storage, folder, monkeypatch
):
    whole = boirl.explore(gridworld, 3, storage=storage, **OPTIONS)
    shutil.rmtree(folder)
    study = Study(gridworld, storage=storage, **OPTIONS)
    for one, other in zip(study.evaluations, whole.evaluations, strict=True):
        assert one.arrays() == {}
        assert one.numbers() == other.numbers()
    solved = []
    solve = TabularSolver.solve
    monkeypatch.setattr(
        TabularSolver,
        "solve",
        lambda self, *given: solved.append(1) or solve(self, *given),  # type: ignore[func-returns-value]
    )
    found = study.result()
    np.testing.assert_array_equal(
        found.policy(1).log_probabilities, whole.policy(1).log_probabilities
    )
    assert len(solved) == 1
    study.run(4)
    assert len(list(folder.iterdir())) == 1


def test_without_the_folder_learned_policies_are_gone(storage, folder):
    trained.clear()
    options: dict[str, Any] = {"seed": 1005, "n_initial": 2, "rollouts": "uniform"}
    whole = boirl.explore(build(), 2, storage=storage, **options)
    states = whole.problem.demonstrations.states
    reopened = boirl.explore(build(), 2, storage=storage, **options)
    assert len(trained) == 2
    np.testing.assert_array_equal(
        reopened.policy(0).outputs(states), whole.policy(0).outputs(states)
    )
    shutil.rmtree(folder)
    bare = boirl.explore(build(), 2, storage=storage, **options)
    np.testing.assert_array_equal(bare.nll, whole.nll)
    with pytest.raises(SolverError, match=r"its policy was not kept.*artifacts folder"):
        bare.policy(0)
    assert len(trained) == 2


def test_a_damaged_file_is_named_and_leaves_the_numbers(gridworld, storage, folder):
    boirl.explore(gridworld, 1, storage=storage, **OPTIONS)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:50])
    with pytest.warns(BoirlWarning, match="the arrays of evaluation 0") as caught:
        (evaluation,) = Study(gridworld, storage=storage, **OPTIONS).evaluations
    assert str(file) in str(caught[0].message)
    assert evaluation.ok
    assert evaluation.policies == ()


def test_a_full_disk_is_a_storage_error_and_the_study_goes_on_later(
    gridworld, storage, uninterrupted, monkeypatch
):
    study = Study(gridworld, storage=storage, **OPTIONS)
    study.run(1)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("optuna.artifacts.FileSystemArtifactStore.write", full)
        with pytest.raises(StorageError, match=r"arrays of evaluation 1 .*No space left.*resume"):
            study.run(3)
    del study
    gc.collect()
    resumed = Study(gridworld, storage=storage, **OPTIONS).run(3)
    np.testing.assert_array_equal(resumed.nll, uninterrupted.nll[:3])


def test_a_folder_that_is_a_file_is_a_storage_error(gridworld, storage, folder):
    folder.write_text("in the way")
    with pytest.raises(StorageError, match=r"search\.artifacts"):
        boirl.explore(gridworld, 1, storage=storage, **OPTIONS)


def test_a_folder_of_ones_own(gridworld, storage, folder, tmp_path):
    own = tmp_path / "deep" / "own"
    study = Study(gridworld, storage=storage, artifacts=str(own), **OPTIONS)
    study.run(1)
    assert len(list(own.iterdir())) == 1
    assert not folder.exists()
    again = Study(gridworld, storage=storage, artifacts=own, **OPTIONS)
    assert len(again.evaluations[0].policies) == 1


def test_a_folder_without_a_database_keeps_what_a_study_in_memory_learns(gridworld, tmp_path):
    boirl.explore(gridworld, 2, artifacts=tmp_path / "kept", **OPTIONS)
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_failed_evaluations_are_kept_with_their_reason(gridworld, storage, folder):
    study = Study(gridworld, storage=storage, **OPTIONS)
    question = study.ask()
    study.tell(question, Evaluation(question.theta, 0.0, failure="the motor caught fire"))
    assert not folder.exists()
    (evaluation,) = Study(gridworld, storage=storage, **OPTIONS).evaluations
    assert evaluation.failure == "the motor caught fire"
    assert evaluation.theta == question.theta


def test_trials_that_were_reported_to_optuna_directly_are_evaluations_too(gridworld):
    study = Study(gridworld, **OPTIONS)
    for value in (12.5, None):
        trial = study.optuna_study.ask()
        for name, low, high in zip(
            gridworld.box.names, gridworld.box.low, gridworld.box.high, strict=True
        ):
            trial.suggest_float(name, low, high)
        state = None if value else optuna.trial.TrialState.FAIL
        study.optuna_study.tell(trial, value, state=state)
    first, second = study.evaluations
    assert (first.theta, first.nll, first.policies) == (START, 12.5, ())
    assert second.failure == "the evaluation was given up"


@pytest.mark.parametrize(
    ("storage", "expected"),
    [
        (None, None),
        ("sqlite://", None),
        ("sqlite:///", None),
        ("sqlite:///:memory:", None),
        ("sqlite:///search.db", "search.artifacts"),
        ("sqlite:////data/deep/search.sqlite3", "/data/deep/search.artifacts"),
        ("sqlite:///no_ending", "no_ending.artifacts"),
    ],
)
def test_the_folder_is_beside_an_sqlite_file(storage, expected):
    assert artifact_folder(storage) == (None if expected is None else Path(expected))


def test_other_databases_have_a_folder_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    first, second = (
        artifact_folder(f"postgresql://user@host/{name}") for name in ("one", "another")
    )
    assert first.parent == second.parent == tmp_path / "artifacts"
    assert first != second
    assert first == artifact_folder("postgresql://user@host/one")
    assert "user" not in str(first)


def test_a_new_password_leads_to_the_same_folder():
    first, second = (artifact_folder(f"postgresql://user:{one}@host/db") for one in ("old", "new"))
    assert first == second


class Bucket:
    """An artifact store as of a cloud."""

    def __init__(self):
        self.content = {}
        self.broken = False

    def write(self, artifact_id, content_body):
        if self.broken:
            raise RuntimeError("access denied")
        self.content[artifact_id] = content_body.read()

    def open_reader(self, artifact_id):
        if artifact_id not in self.content:
            raise ArtifactNotFound
        return io.BytesIO(self.content[artifact_id])

    def remove(self, artifact_id):
        del self.content[artifact_id]


def test_arrays_may_be_kept_in_an_artifact_store(gridworld, storage, folder, uninterrupted):
    bucket = Bucket()
    boirl.explore(gridworld, 2, storage=storage, artifacts=bucket, **OPTIONS)
    assert not folder.exists()
    again = Study(gridworld, storage=storage, artifacts=bucket, **OPTIONS)
    for one, other in zip(again.evaluations, uninterrupted.evaluations, strict=False):
        assert_same(one, other)
    bucket.content.popitem()
    bare = Study(gridworld, storage=storage, artifacts=bucket, **OPTIONS).evaluations
    assert [bool(one.policies) for one in bare] == [True, False]
    bucket.broken = True
    with pytest.raises(StorageError, match=r"'Bucket' \(access denied\)"):
        boirl.explore(gridworld, 3, storage=storage, artifacts=bucket, **OPTIONS)


def test_the_name_of_an_artifact_leads_to_no_other_folder(gridworld, storage, tmp_path):
    study = Study(gridworld, storage=storage, **OPTIONS)
    study.run(1)
    (trial,) = study.trials
    (file,) = (tmp_path / "search.artifacts").iterdir()
    file.rename(tmp_path / "elsewhere")
    trial.user_attrs["boirl:evaluation"]["artifact"] = "../elsewhere"
    study.records._known.clear()
    assert study.records.read(trial).policies == ()
