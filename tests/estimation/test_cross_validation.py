"""Held-out likelihoods: whole trajectories, groups that stay together, against uniform choice."""

import json

import numpy as np
import pytest

import boirl
from boirl.errors import InvalidInputError, SolverError
from boirl.estimation.cross_validation import assign_folds
from tests.domains.roads.conftest import town_with_trips
from tests.problem import learned


@pytest.fixture(scope="module")
def problem():
    return boirl.load_problem("gridworld2d", bellman="logsumexp")


@pytest.fixture(scope="module")
def validated(problem):
    return boirl.cross_validate(problem, folds=5, seed=0)


def test_every_trajectory_is_scored_by_the_estimate_from_the_other_folds(problem, validated):
    shown = problem.demonstrations
    for fold in (0, 3):
        held = np.flatnonzero(validated.fold_of == fold)
        rest = np.flatnonzero(validated.fold_of != fold)
        estimate = boirl.maximum_likelihood(problem.with_demonstrations(shown.subset(rest)))
        np.testing.assert_array_equal(validated.thetas[fold], estimate.theta)
        policy = problem.policy(estimate.theta)
        for number in held:
            steps = shown[int(number)]
            total = policy.log_prob(steps.states, steps.actions).sum()
            assert validated.log_likelihoods[number] == pytest.approx(total, rel=1e-12)


def test_sums_and_bits(problem, validated):
    assert validated.log_likelihoods.shape == (50,)
    total = validated.log_likelihoods.sum()
    assert validated.per_trajectory == pytest.approx(total / 50)
    assert validated.per_step == pytest.approx(total / 750)
    assert validated.bits_per_step == pytest.approx(-total / 750 / np.log(2.0))
    assert validated.uniform_per_step == pytest.approx(-np.log(5.0))
    assert validated.uniform_per_trajectory == pytest.approx(-15.0 * np.log(5.0))


def test_held_out_likelihoods_lie_between_uniform_choice_and_those_fitted(problem, validated):
    fitted = boirl.maximum_likelihood(problem).log_likelihood / 50
    assert validated.uniform_per_trajectory < validated.per_trajectory <= fitted


def test_the_same_seed_gives_the_same_folds(problem, validated):
    again = boirl.cross_validate(problem, folds=5, seed=0, starts=1)
    np.testing.assert_array_equal(again.fold_of, validated.fold_of)
    assert (assign_folds(50, 5, seed=1) != validated.fold_of).any()


def test_trips_to_many_destinations():
    town = boirl.recursive_logit_problem(*town_with_trips(1))
    found = boirl.cross_validate(town, folds=2, starts=2)
    assert found.uniform_per_step < found.per_step < 0.0


@pytest.mark.parametrize(("n", "folds"), [(10, 2), (11, 4), (7, 7)])
def test_folds_are_of_about_the_same_size(n, folds):
    sizes = np.bincount(assign_folds(n, folds, seed=3))
    assert len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1


def test_groups_stay_together():
    rng = np.random.default_rng(0)
    groups = np.array(["ann", "bob", "cas", "dee", "eve", "fay"])[rng.integers(6, size=60)]
    folds = assign_folds(60, 3, seed=0, groups=groups)
    assert set(folds) == {0, 1, 2}
    for group in np.unique(groups):
        assert len(set(folds[groups == group])) == 1
    assert np.bincount(folds).max() <= 30


def test_groups_are_held_out(problem):
    groups = np.arange(50) // 25
    found = boirl.cross_validate(problem, folds=2, groups=groups, starts=1)
    assert len(set(found.fold_of[:25])) == len(set(found.fold_of[25:])) == 1


def test_it_prints_a_row_per_fold(validated):
    lines = str(validated).splitlines()
    assert lines[0].startswith("gridworld2d: log-likelihood of 50 trajectories, 750 steps")
    assert f"per trajectory {validated.per_trajectory:.4f} ± " in lines[1]
    assert f"({validated.bits_per_step:.4f} bits), uniform choice -1.6094 (2.3219 bits)" in lines[2]
    assert lines[3].split()[-2:] == ["steepness", "midpoint"]
    assert [line.split()[:2] for line in lines[4:]] == [[str(n), "10"] for n in range(1, 6)]
    assert repr(validated).startswith("CrossValidation('gridworld2d', 5 folds, held-out")


def test_numbers_for_a_file_are_plain_json(validated):
    facts = json.loads(json.dumps(validated.to_dict(), allow_nan=False))
    assert facts["per_step"] == validated.per_step
    assert len(facts["log_likelihoods"]) == 50


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"folds": 1},
            "folds is 1; expected a whole number, at least 2 and at most 50, the number of traj",
        ),
        ({"folds": 51}, "folds is 51; expected a whole number, at least 2 and at most 50"),
        ({"folds": 2.5}, "folds is 2.5; expected a whole number"),
        ({"groups": [0] * 49}, r"groups have shape \(49,\); expected 50 labels"),
        ({"groups": [0, 1] * 25}, "folds is 5; expected .* at most 2, the number of groups"),
    ],
)
def test_wrong_input_is_named(problem, options, message):
    with pytest.raises(InvalidInputError, match=message):
        boirl.cross_validate(problem, **options)


def test_failures_name_the_fold():
    with pytest.raises(InvalidInputError, match=r"without fold 1 of 2: the policies of .* learned"):
        boirl.cross_validate(learned.build(), folds=2)


def test_an_estimate_without_a_policy_stays_a_solver_error(problem, monkeypatch):
    def fails(*given):
        raise SolverError("none of 16 thetas has a policy")

    monkeypatch.setattr("boirl.estimation.cross_validation.maximum_likelihood", fails)
    with pytest.raises(SolverError, match="without fold 1 of 5: none of 16"):
        boirl.cross_validate(problem)
