"""Questions are handed out once, whoever asks, and no more of them than are wanted."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from boirl.evaluation import Evaluation
from boirl.search.leases import LEASE
from boirl.search.questions import MOST_DEATHS
from boirl.search.sampler import search_space
from boirl.search.study import Study

OPTIONS: dict[str, Any] = {"seed": 3, "kernel": "rbf", "acquisition": "random"}
"""What is proposed does not matter here, so that it is drawn at random, which is quick."""


@pytest.fixture
def problem(random_problem):
    return random_problem(1000)


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/search.db"


def test_many_who_ask_for_the_last_ones_get_them_once(problem, storage):
    studies = [Study(problem, storage=storage, **OPTIONS) for _ in range(4)]
    start = threading.Barrier(4)

    def ask(study):
        start.wait()
        return [study.questions.ask_within(6) for _ in range(4)]

    with ThreadPoolExecutor(4) as threads:
        asked = [one for some in threads.map(ask, studies) for one in some if one is not None]
    assert len(asked) == 6
    assert len({question.theta for question in asked}) == 6
    assert studies[0].questions.ask_within(6) is None


def test_who_looked_before_another_asked_gets_no_more_than_there_is_room_for(
    problem, storage, monkeypatch
):
    one, other = (Study(problem, storage=storage, **OPTIONS) for _ in range(2))
    questions = [one.ask()]
    seen = other.database.trials()
    questions += [one.ask()]
    looks = iter([seen])
    look = other.database.trials
    monkeypatch.setattr(other.database, "trials", lambda *states: next(looks, None) or look())
    assert other.questions.ask_within(2) is None
    for question in questions:
        one.tell(question, 1.0)
    assert len(one.trials) == len(one.evaluations) == len(one.optuna_study.trials) == 2
    assert len(one.run(3)) == 3


def test_two_drivers_that_propose_the_same_theta_do_not_both_get_it(problem, monkeypatch, storage):
    one, other = (Study(problem, storage=storage, n_initial=1, **OPTIONS) for _ in range(2))
    first = one.ask()
    proposals = []
    propose = one.sampler.propose

    def repeat(number, trials):
        theta, attributes = propose(number, trials)
        proposals.append(number)
        if len(proposals) in (1, 2):
            theta = theta * 0.0 + 0.25
        return theta, attributes

    monkeypatch.setattr(one.sampler, "propose", repeat)
    monkeypatch.setattr(other.sampler, "propose", repeat)
    thetas = {one.ask().theta, other.ask().theta, first.theta}
    assert len(thetas) == 3
    assert len(proposals) == 3


def test_a_theta_that_was_evaluated_while_it_was_proposed_is_not_evaluated_again(
    problem, monkeypatch, storage
):
    options: dict[str, Any] = {"seed": 3, "kernel": "rbf", "n_initial": 2}
    slow, quick = (Study(problem, storage=storage, **options) for _ in range(2))
    slow.run(2)
    propose = slow.sampler.propose

    def while_another_is_quicker(number, trials):
        proposed = propose(number, trials)
        if number == 2:
            monkeypatch.undo()
            question = Study(problem, storage=storage, **options).ask()
            quick.questions._asked[question.number] = quick.database.trials()[-1]._trial_id
            quick.tell(question, problem.evaluate(question.theta))
            thetas.append(question.theta)
            # It came to the same conclusion, from the same evaluations.
            return np.array(question.theta), proposed[1]
        return proposed

    thetas: list[tuple[float, ...]] = []
    monkeypatch.setattr(slow.sampler, "propose", while_another_is_quicker)
    assert slow.ask().theta != thetas[0]


def test_initial_thetas_may_be_given_twice(problem):
    study = Study(problem, initial=[[0.5, 0.5], [0.5, 0.5]], **OPTIONS)
    assert [study.ask().theta for _ in range(2)] == [(0.5, 0.5)] * 2


def test_the_first_answer_counts_whoever_gives_it(problem, storage):
    slow, quick = (Study(problem, storage=storage, **OPTIONS) for _ in range(2))
    question = slow.ask()
    (trial,) = slow.database.trials()
    assert quick.questions.leases.take_over(trial)
    quick.questions._asked[question.number] = trial._trial_id
    quick.tell(question, Evaluation(question.theta, 0.0, failure="the motor caught fire"))
    slow.tell(question, 3.0)
    for study in (slow, quick, Study(problem, storage=storage, **OPTIONS)):
        assert [one.failure for one in study.evaluations] == ["the motor caught fire"]


def test_an_evaluation_over_which_processes_die_is_given_up(problem, storage):
    study = Study(problem, storage=storage, **OPTIONS)
    gone = replace(study.questions.leases.new(), owner="theirs", deadline=1.0)
    for deaths in (MOST_DEATHS - 2, MOST_DEATHS - 1):
        trial_id = study.database.create({LEASE: replace(gone, deaths=deaths).record()})
        params = {"first": deaths / 10, "second": 0.0}
        study.database.propose(trial_id, params, search_space(problem.box), {})
    assert study.ask().number == 0
    assert study.ask().number == 2
    (given_up,) = study.evaluations
    assert f"died, {MOST_DEATHS} times" in given_up.failure


def test_a_trial_without_parameters_does_not_break_a_study(problem, storage):
    study = Study(problem, storage=storage, **{**OPTIONS, "acquisition": "resolve"})
    study.optuna_study._storage.create_new_trial(study.optuna_study._study_id)
    study.run(3)
    study.optuna_study.tell(0, 5.0)
    assert len(study.run(4)) == 4


@pytest.mark.parametrize("scale", ["linear", "auto"])
def test_one_absurd_nll_does_not_break_a_study(problem, scale):
    study = Study(problem, seed=3, scale=scale)
    study.run(3)
    study.tell(study.ask(), 1e200)
    found = study.run(6)
    assert len(found) == 6
    assert found.best_nll < 100


def test_an_interrupt_in_the_middle_of_asking_leaves_nothing_leased(problem, storage, monkeypatch):
    study = Study(problem, storage=storage, **OPTIONS)
    monkeypatch.setattr(study.questions, "_handed_out", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study.ask()
    assert not study.questions.leases.held
    assert Study(problem, storage=storage, **OPTIONS).ask().number == 0


def interrupted(*given):
    raise KeyboardInterrupt


def test_what_was_asked_for_and_not_told(problem, storage):
    study = Study(problem, storage=storage, **OPTIONS)
    first, second = study.ask(), study.ask()
    study.tell(first, 1.0)
    assert study.questions.unanswered() == [second]
    assert Study(problem, storage=storage, **OPTIONS).questions.unanswered() == []
