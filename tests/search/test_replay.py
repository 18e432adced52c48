"""Every proposal of a study on several workers follows from what it keeps."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from boirl.search.replay import replay
from boirl.search.study import Study


def test_the_proposals_of_a_parallel_study_are_made_again(random_problem, tmp_path):
    pytest.importorskip("cloudpickle")
    problem = random_problem(1000)
    storage = f"sqlite:///{tmp_path}/search.db"
    options: dict[str, Any] = {"seed": 3, "storage": storage, "kernel": "rbf"}
    with ThreadPoolExecutor(3) as executor:
        found = Study(problem, **options).run(8, executor=executor)
    reopened = Study(problem, **options)
    again = replay(reopened)
    assert [one.theta for one in again] == [one.theta for one in found.evaluations]


def test_trials_of_optuna_alone_are_left_out(random_problem):
    problem = random_problem(1000)
    study = Study(problem, seed=3, kernel="rbf", acquisition="random")
    trial = study.optuna_study.ask()
    for name, low, high in zip(problem.box.names, problem.box.low, problem.box.high, strict=True):
        trial.suggest_float(name, low, high)
    trial.storage.set_trial_system_attr(trial._trial_id, "boirl:known", None)
    study.optuna_study.tell(trial, 1.0)
    study.run(3)
    assert [one.number for one in replay(study)] == [1, 2]
