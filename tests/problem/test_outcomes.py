"""What training runs of one reward end with, and what they say together."""

import numpy as np
import pytest

from boirl.problem.outcomes import Outcome, centre, equally_good, without_extremes


def outcome(nll, mean_return=0.0, warm=False):
    return Outcome(None, np.array([-nll - 1.0, -nll + 1.0]), mean_return, warm)


def test_the_nll_is_the_mean_over_trajectories():
    assert outcome(3.5).nll == pytest.approx(3.5)


@pytest.mark.parametrize(
    ("returns", "chance", "kept"),
    [
        # The best gained 10 over chance; those within 0.2 of it count as good.
        ([0.0, -0.1, -0.3], -10.0, [0, 1]),
        ([5.0, 4.9], 4.0, [0]),
        ([5.0], 4.0, [0]),
        ([-1.0, -1.0], -1.0, [0, 1]),
    ],
)
def test_runs_that_gained_about_as_much_as_the_best_are_good(returns, chance, kept):
    outcomes = [outcome(1.0, one) for one in returns]
    assert equally_good(outcomes, chance) == [outcomes[index] for index in kept]


def test_runs_with_a_warm_start_count_where_no_other_is_good():
    cold, poor, warm = outcome(1.0, 0.0), outcome(2.0, -5.0), outcome(3.0, 0.05, warm=True)
    assert equally_good([cold, poor, warm], -10.0) == [cold]
    assert equally_good([poor, warm], -10.0) == [warm]


def test_without_trimming_it_is_the_mean_and_its_standard_error():
    values = np.array([3.0, 1.0, 5.0, 4.0])
    mean, error = centre(values, 0.0)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / 2.0)


def test_a_single_value_has_no_standard_error():
    assert centre(np.array([3.0]), 0.25) == (3.0, 0.0)


def test_extremes_are_left_out_of_the_mean():
    values = np.array([100.0, 2.0, 1.0, -50.0, 3.0, 2.5, 1.5, 2.0])
    mean, error = centre(values, 0.25)
    kept = np.sort(values)[2:6]
    assert mean == pytest.approx(kept.mean())
    assert 0.0 < error < 1.0


def test_the_standard_error_of_a_trimmed_mean_is_about_right():
    """Against the spread of many trimmed means."""
    rng = np.random.default_rng(1000)
    found = np.array([centre(rng.normal(size=8), 0.25) for _ in range(4000)])
    assert np.sqrt(np.square(found[:, 1]).mean()) == pytest.approx(found[:, 0].std(), rel=0.15)


def test_the_runs_that_count_are_those_of_the_mean_and_the_best_comes_first():
    returns = [1.0, 4.0, 3.0, 2.0]
    nlls = [5.0, 1.0, 2.0, 3.0]
    outcomes = [outcome(*pair) for pair in zip(nlls, returns, strict=True)]
    counted = without_extremes(outcomes, 0.25)
    assert counted == [outcomes[2], outcomes[3]]
    mean, _ = centre(np.array(nlls), 0.25)
    assert np.mean([one.nll for one in counted]) == pytest.approx(mean)
    assert without_extremes(outcomes, 0.0) == [outcomes[index] for index in (1, 2, 3, 0)]
