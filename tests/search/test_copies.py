"""What an interrupted search in memory has found goes on in a database."""

from typing import Any

import numpy as np
import pytest

from boirl.cache import CACHE_VARIABLE
from boirl.search.copies import keep_interrupted
from boirl.search.records import evidence_of
from boirl.search.study import Study

OPTIONS: dict[str, Any] = {"seed": 3, "kernel": "rbf"}


def test_a_study_goes_on_in_a_database_as_it_would_have_in_memory(random_problem, tmp_path):
    problem = random_problem(1000)
    whole = Study(problem, **OPTIONS).run(6)
    study = Study(problem, **OPTIONS)
    study.run(3)
    # One is under way, and is taken up.
    study.ask()
    address = keep_interrupted(study, tmp_path)
    assert address.startswith(f"sqlite:///{tmp_path}/")
    again = Study(problem, storage=address, **OPTIONS)
    assert len(again.trials) == 3
    for one, other in zip(again.evaluations, whole.evaluations, strict=False):
        assert one.nll == other.nll
        np.testing.assert_array_equal(one.log_likelihoods, other.log_likelihoods)
    np.testing.assert_array_equal(again.run(6).thetas, whole.thetas)


def test_the_default_place_is_the_cache(random_problem, tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    study = Study(random_problem(1000), **OPTIONS)
    study.tell(study.ask(), 1.0)
    first, second = keep_interrupted(study), keep_interrupted(study)
    assert first != second
    assert len(list((tmp_path / "interrupted").glob("*.db"))) == 2


@pytest.mark.parametrize("count", [0, 1])
def test_failed_evaluations_are_kept_too(random_problem, tmp_path, count):
    study = Study(random_problem(1000), **OPTIONS)
    for _ in range(count):
        study.tell(study.ask(), float("inf"))
    again = Study(random_problem(1000), storage=keep_interrupted(study, tmp_path), **OPTIONS)
    assert [one.failure for one in again.evaluations] == [one.failure for one in study.evaluations]


def test_evaluations_keep_the_evidence_that_they_were_made_under(random_problem, tmp_path):
    problem = random_problem(1000)
    study = Study(problem, **OPTIONS)
    study.run(2)
    study.add_demonstrations(problem.demonstrations.subset([0]))
    study.run(3)
    again = Study(problem, storage=keep_interrupted(study, tmp_path), **OPTIONS)
    assert [evidence_of(trial) for trial in again.trials] == [0, 0, 1]
    expected = [one.nll for one in study.evaluations]
    np.testing.assert_allclose([one.nll for one in again.evaluations], expected, rtol=1e-12)
