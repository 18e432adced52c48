"""Models side by side: each row is what the functions for one model say."""

import json
from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.errors import InvalidInputError, SolverError
from tests.domains.roads.conftest import town_with_trips


@pytest.fixture(scope="module")
def problem(request):
    base = request.getfixturevalue("random_problem")(21, "logsumexp")
    shown = base.demonstrate([0.8, 1.0], 300, 0, horizon=10)
    return replace(base.with_demonstrations(shown), name="both")


@pytest.fixture(scope="module")
def held(problem):
    return replace(problem, reward=problem.reward.fix(second=0.0), name="first alone")


@pytest.fixture(scope="module")
def compared(problem, held):
    return boirl.compare([problem, held], folds=3)


@pytest.mark.parametrize(("count", "folds"), [(1, None), (2, 2), (7, 5)])
def test_there_are_no_more_folds_than_trajectories(problem, count, folds):
    few = problem.with_demonstrations(problem.demonstrations.subset(range(count)))
    validated = boirl.compare(few, starts=1)[few.name].cross_validation
    assert (None if validated is None else len(validated.estimates)) == folds
    grouped = boirl.compare(few, starts=1, groups=[0] * count)[few.name]
    assert grouped.cross_validation is None


def test_rows_are_what_the_functions_for_one_model_say(problem, held, compared):
    for model in (problem, held):
        row = compared[model.name]
        estimate = boirl.maximum_likelihood(model)
        np.testing.assert_array_equal(row.estimate.theta, estimate.theta)
        validated = boirl.cross_validate(model, folds=3)
        assert row.cross_validation.per_step == validated.per_step
        assert row.suboptimality.relative == model.suboptimality(estimate.theta).relative
    assert len(compared) == 2
    assert [row.name for row in compared] == ["both", "first alone"]


def test_a_model_is_tested_against_the_one_that_it_is_nested_in(compared):
    larger, smaller = compared.models
    assert (larger.nested_in, larger.test) == (None, None)
    assert smaller.nested_in == "both"
    assert smaller.test == larger.estimate.likelihood_ratio_test(smaller.estimate)
    assert smaller.test.p_value < 0.01


def test_of_several_the_smallest_that_contains_it_counts(random_problem):
    features = np.random.default_rng(1).uniform(-1.0, 1.0, (4, 3))
    family = boirl.LinearReward(features, dict.fromkeys("abc", (-3.0, 3.0)))
    base = random_problem(21, "logsumexp", reward=family)
    base = base.with_demonstrations(base.demonstrate([1.0, -1.0, 1.0], 60, 0, horizon=10))
    models = {
        "abc": base,
        "ab": replace(base, reward=family.fix(c=0.0)),
        "a": replace(base, reward=family.fix(b=0.0, c=0.0)),
    }
    found = boirl.compare(models, folds=0, starts=2)
    assert [row.nested_in for row in found] == [None, "abc", "ab"]
    assert [row.cross_validation for row in found] == [None, None, None]


def test_discounts(held):
    found = boirl.compare(held, gammas=[0.5, 0.9], folds=0)
    assert [row.name for row in found] == ["first alone, gamma 0.5", "first alone, gamma 0.9"]
    assert [row.estimate.problem.gamma for row in found] == [0.5, 0.9]
    assert [row.nested_in for row in found] == [None, None]


def test_an_estimate_is_not_computed_again(problem, held, monkeypatch):
    estimates = [boirl.maximum_likelihood(one) for one in (problem, held)]

    def refuse(*given):
        raise AssertionError("this estimates")

    monkeypatch.setattr("boirl.estimation.comparison.maximum_likelihood", refuse)
    found = boirl.compare(estimates, folds=0)
    assert [row.estimate for row in found] == estimates


def test_it_prints_a_table_with_uniform_choice(compared):
    lines = str(compared).splitlines()
    assert lines[0] == "300 demonstrations, 3000 steps"
    assert lines[1].split()[:4] == ["model", "gamma", "parameters", "log-likelihood"]
    both = lines[2].split()
    row = compared["both"]
    assert both[:3] == ["both", "0.9", "2"]
    assert both[3:6] == [
        f"{row.estimate.log_likelihood:.4f}",
        f"{row.estimate.aic:.2f}",
        f"{row.estimate.bic:.2f}",
    ]
    assert both[6:8] == [
        f"{row.cross_validation.per_step:.4f}",
        f"{row.cross_validation.bits_per_step:.4f}",
    ]
    assert f"{compared['first alone'].test.p_value:.4g} in both" in lines[3]
    chance = -3000.0 * np.log(3.0)
    assert lines[4].split()[:4] == ["uniform", "choice", "0", f"{chance:.4f}"]
    assert repr(compared) == "Comparison(both, first alone)"


def test_what_is_not_determined_is_noted():
    names = ("gridworld", "gridworld2d")
    models = [boirl.load_problem(name, bellman="logsumexp") for name in names]
    found = boirl.compare(models, folds=0, starts=2)
    assert "the demonstrations do not determine translation" in found["gridworld"].notes
    assert "on its bound: steepness" in found["gridworld2d"].notes
    assert found["gridworld2d"].nested_in == "gridworld"
    assert found["gridworld2d"].test is None
    assert "gridworld2d: not tested against gridworld: the demonstrations determine" in str(found)


def test_trips_have_no_suboptimality():
    town = boirl.recursive_logit_problem(*town_with_trips(1))
    held = replace(town, reward=town.reward.fix(left=0.0), name="without left")
    found = boirl.compare([town, held], folds=0, starts=2)
    assert [row.suboptimality for row in found] == [None, None]
    assert found["without left"].test.p_value < 0.05
    assert str(found).splitlines()[2].split()[-1] == "-"


def test_numbers_for_a_file_are_plain_json(compared):
    facts = json.loads(json.dumps(compared.to_dict(), allow_nan=False))
    both, first = facts["models"]
    assert both["likelihood_ratio_test"] is None
    assert first["likelihood_ratio_test"]["degrees_of_freedom"] == 1
    assert first["nested_in"] == "both"
    assert both["held_out"]["folds"] == 3
    assert facts["uniform_log_likelihood"] == pytest.approx(-3000.0 * np.log(3.0))


def test_wrong_input_is_named(problem, compared):
    other = problem.with_demonstrations(problem.demonstrations.subset(range(5)))
    wrong = {
        "2 models are called 'both'; expected a name for each": [problem, problem],
        "there are no models": [],
        "a model is a str; expected problems": {"gridworld": "gridworld"},
        "a model is a NoneType; expected problems": None,
        r"demonstrations of 'a' \(.*300.*are not those of 'b' \(.*5 traj": {
            "a": problem,
            "b": other,
        },
    }
    for message, models in wrong.items():
        with pytest.raises(InvalidInputError, match=message):
            boirl.compare(models, folds=0)
    with pytest.raises(InvalidInputError, match="no model 'third'; expected one of both, first"):
        compared["third"]
    with pytest.raises(InvalidInputError, match="model 'both': folds is 301"):
        boirl.compare(problem, folds=301, starts=1)


def test_discounts_are_given_once_each(problem):
    with pytest.raises(InvalidInputError, match=r"gammas are \[0.9, 0.9\]; expected each disc"):
        boirl.compare(problem, gammas=[0.9, 0.9])
    (single,) = boirl.compare(problem, gammas=0.8, folds=0, starts=1)
    assert single.estimate.problem.gamma == 0.8


def test_failures_name_the_model(problem, monkeypatch):
    def fails(*given):
        raise SolverError("none of 16 thetas has a policy")

    monkeypatch.setattr("boirl.estimation.comparison.maximum_likelihood", fails)
    with pytest.raises(SolverError, match="model 'both': none of 16"):
        boirl.compare(problem)
