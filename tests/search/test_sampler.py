"""The search as a sampler of a plain Optuna study."""

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState, create_trial

from boirl.errors import InvalidInputError, StorageError
from boirl.search.sampler import (
    FIT,
    PURPOSE,
    RewardSampler,
    pending_thetas,
    search_space,
)
from boirl.search.study import Study
from boirl.surrogate import Surrogate


@pytest.fixture(autouse=True)
def _quiet():
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    yield
    optuna.logging.set_verbosity(verbosity)


def objective_of(problem):
    box = problem.box

    def objective(trial):
        bounds = zip(box.names, box.low, box.high, strict=True)
        return problem.nll([trial.suggest_float(name, low, high) for name, low, high in bounds])

    return objective


def test_it_serves_a_plain_optuna_study(gridworld):
    plain = optuna.create_study(sampler=RewardSampler.for_problem(gridworld, seed=1005))
    plain.optimize(objective_of(gridworld), n_trials=7)
    # A plain study knows values alone, and so does one that is told nothing else.
    expected = Study(gridworld, seed=1005)
    for _ in range(7):
        question = expected.ask()
        expected.tell(question, gridworld.nll(question.theta))
    found = [list(t.params.values()) for t in plain.trials]
    np.testing.assert_array_equal(found, expected.result().thetas)
    purposes = [trial.system_attrs[PURPOSE] for trial in plain.trials]
    assert [one == "initial" for one in purposes] == [True] + [False] * 6


def test_a_plain_study_has_roll_outs_that_grow(random_problem):
    problem = random_problem(1000, "logsumexp")
    sampler = RewardSampler.for_problem(problem, rollouts="solved", seed=1005)
    plain = optuna.create_study(sampler=sampler)
    plain.optimize(objective_of(problem), n_trials=5)
    growing = sampler.surrogate_after([problem.evaluate((0.5, 0.5))]).projection
    assert growing.compares_policies
    assert len(plain.trials) == 5


def test_a_plain_study_proceeds_past_failed_and_pruned_trials(random_problem):
    problem = random_problem(1000)
    plain = optuna.create_study(sampler=RewardSampler.for_problem(problem))
    objective = objective_of(problem)

    def moody(trial):
        nll = objective(trial)
        if trial.number in (1, 4):
            raise optuna.TrialPruned
        return float("nan") if trial.number == 2 else nll

    plain.optimize(moody, n_trials=6)
    assert len(plain.trials) == 6
    assert len(plain.get_trials(states=[TrialState.COMPLETE])) == 3


def test_settings_are_those_of_a_search(random_problem):
    problem = random_problem(1000)
    sampler = RewardSampler.for_problem(problem, kernel="rbf", acquisition="random", seed=3)
    assert sampler.surrogate.kernel.name == "rbf"
    assert sampler.seed == 3
    with pytest.raises(InvalidInputError, match="no setting colour"):
        RewardSampler.for_problem(problem, colour="red")  # type: ignore[call-arg]


def test_the_box_is_the_search_space(gridworld):
    space = search_space(gridworld.box)
    assert list(space) == list(gridworld.box.names)
    assert space["midpoint"] == FloatDistribution(-10.0, 10.0)


def test_a_parameter_that_is_not_in_the_box_is_refused(random_problem):
    plain = optuna.create_study(sampler=RewardSampler.for_problem(random_problem(1000)))
    trial = plain.ask()
    with pytest.raises(ValueError, match=r"no parameter 'third' in this study; expected .*first"):
        trial.suggest_float("third", 0.0, 1.0)


def test_running_trials_are_pending(random_problem):
    box = random_problem(1000).box
    space = search_space(box)
    trials = [
        create_trial(state=TrialState.RUNNING, params=params, distributions=space)
        for params in ({"first": 0.5, "second": -1.0}, {"first": 1.5, "second": 2.0})
    ]
    unfinished = create_trial(state=TrialState.RUNNING)
    done = create_trial(value=1.0, params={"first": 0.0, "second": 0.0}, distributions=space)
    found = pending_thetas([trials[0], done, unfinished, trials[1]], box)
    np.testing.assert_array_equal(found, [[0.5, -1.0], [1.5, 2.0]])
    assert pending_thetas([done], box).shape == (0, 2)


def test_a_fit_is_kept_with_the_trial_that_made_it(random_problem):
    problem = random_problem(1000)
    study = Study(problem, seed=1005, n_initial=2)
    study.run(4)
    attributes = [trial.system_attrs for trial in study.optuna_study.trials]
    assert [FIT in one for one in attributes] == [False, False, True, True]
    assert [attributes[number][FIT]["size"] for number in (2, 3)] == [2, 3]
    fingerprint = study.sampler.surrogate.projection.fingerprint()
    assert {attributes[number][FIT]["projection"] for number in (2, 3)} == {fingerprint}


@pytest.mark.parametrize(
    "change",
    [
        {"size": None},
        {"hyperparameters": {"components": [{"scale": "cubic", "values": {}}]}},
        {"warm_start": {"components": [{"scale": "log", "values": {"noise": ["a"]}}]}},
        {"warm_start": 3},
    ],
)
def test_a_damaged_fit_is_refused(change, random_problem):
    study = Study(random_problem(1000), seed=1005, n_initial=2)
    study.run(4)
    trials = study.optuna_study.get_trials()
    *_, fitted = [trial for trial in trials if FIT in trial.system_attrs]
    fitted.system_attrs[FIT].update(change)
    with pytest.raises(StorageError, match=f"evaluation {fitted.number} is damaged"):
        study.sampler.propose(len(trials), trials)


def test_later_hyperparameters_are_refitted_with_a_fifth_more_evaluations(random_problem):
    problem = random_problem(1000)
    study = Study(problem, seed=1005, n_initial=25)
    study.run(31)
    trials = study.optuna_study.trials
    sizes = [trial.system_attrs[FIT]["size"] for trial in trials if FIT in trial.system_attrs]
    assert sizes == [25, 30]


def test_hyperparameters_of_a_long_study_are_fitted_to_part_of_it(random_problem, monkeypatch):
    monkeypatch.setattr("boirl.search.sampler.FITTED_EVALUATIONS", 6)
    problem = random_problem(1000, "logsumexp")
    thetas = problem.box.from_unit(np.random.default_rng(0).random((9, problem.box.dimension)))
    study = Study(problem, initial=thetas, seed=1005)
    study.run(len(thetas))
    sizes, fit = [], Surrogate.fit

    def counted(surrogate, at, *seen, **options):
        sizes.append(len(at))
        return fit(surrogate, at, *seen, **options)

    monkeypatch.setattr(Surrogate, "fit", counted)
    question = study.ask()
    assert sizes == [6]
    kept = study.optuna_study.get_trials()[question.number].system_attrs[FIT]
    assert kept["size"] == len(thetas)


def test_a_proposal_depends_on_the_storage_and_the_seed_alone(random_problem):
    problem = random_problem(1000)
    study, twin = (Study(problem, seed=7, n_initial=3) for _ in range(2))
    for one in (study, twin):
        for _ in range(3):
            question = one.ask()
            one.tell(question, problem.evaluate(question.theta))
    # What lives in the sampler does not count.
    study.sampler.surrogate_after(study.evaluations)
    study.result()
    assert study.ask().theta == twin.ask().theta


def test_a_search_goes_on_with_a_step_down_from_its_first_theta(gridworld):
    study = Study(gridworld, seed=1005)
    first, second = study.run(2).evaluations
    width = gridworld.box.high - gridworld.box.low
    step = np.subtract(second.theta, first.theta) / width
    assert step @ (first.gradient * width) < 0.0
    assert [one.system_attrs[PURPOSE] for one in study.optuna_study.trials] == [
        "initial",
        "descend",
    ]
