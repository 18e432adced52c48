"""What the surrogate makes of a search: predictions, the expected best, volumes, the report."""

import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError


def test_volumes_of_groups_add_up_to_the_share_of_the_box_within_the_tolerance(found):
    thetas = found.problem.box.from_unit(np.random.default_rng(0).random((4096, 3)))
    mean, _ = found.predict_nll(thetas)
    for tolerance, absolute in ((0.1, False), (0.5, False), (1.0, True)):
        limit = found.best_nll + tolerance * (1.0 if absolute else found.best_nll)
        volumes = [group.volume for group in found.groups(tolerance, absolute=absolute)]
        assert all(0.0 <= volume <= 1.0 for volume in volumes)
        assert sum(volumes) == pytest.approx((mean <= limit).mean(), abs=0.03)
        (whole,) = found.groups(tolerance, distance=1.0, absolute=absolute)
        assert whole.volume == pytest.approx(sum(volumes))


def test_a_group_fills_the_part_of_the_box_that_behaves_like_it(found):
    problem, groups = found.problem, found.groups(tolerance=0.10)
    evaluated = np.concatenate([group.thetas for group in groups])
    owners = np.repeat(np.arange(len(groups)), [len(group.thetas) for group in groups])
    drawn = problem.box.from_unit(np.random.default_rng(1).random((400, 3)))
    members = drawn[found.predict_nll(drawn)[0] <= 1.1 * found.best_nll]
    distances = problem.behaviour_distances(
        [problem.policy(theta) for theta in (*evaluated, *members)]
    )
    nearest = owners[distances[len(evaluated) :, : len(evaluated)].argmin(axis=1)]
    shares = np.bincount(nearest, minlength=len(groups)) / len(drawn)
    assert len(groups) > 1
    np.testing.assert_allclose([group.volume for group in groups], shares, atol=0.05)


def test_a_best_far_below_all_others_fills_next_to_nothing_of_the_box(found, made_up):
    lucky = made_up([*found.nll[:-1], found.nll.min() - 15.0])
    volumes = [group.volume for group in lucky.groups(tolerance=0.0)]
    assert len(volumes) == 1
    assert 0.0 <= volumes[0] < 0.05


def test_the_nll_is_predicted_at_one_theta_or_many(found):
    mean, _ = found.predict_nll(found.best)
    assert isinstance(mean, float)
    means, sds = found.predict_nll(found.thetas)
    assert means.shape == sds.shape == (25,)
    assert means[found.best_index] == pytest.approx(mean)
    np.testing.assert_allclose(means, found.nll, atol=0.5)
    with pytest.raises(InvalidInputError, match="midpoint = 11"):
        found.predict_nll((0, 11, 0))


def test_a_truncated_search_knows_the_first_evaluations_alone(found):
    short = found.truncate(5)
    assert short.fitted.size == 5
    mean, sd = short.predict_nll(found.thetas)
    np.testing.assert_allclose(mean[:5], found.nll[:5], atol=0.5)
    assert sd[5:].max() > found.predict_nll(found.thetas[5:])[1].max()


def test_failed_evaluations_have_no_nll_in_the_answer(found, made_up):
    failed = np.where(np.arange(25) == found.best_index, np.nan, found.nll)
    answer = made_up(failed)
    assert len(answer.fitted.nll) == 24
    assert answer.expected_best_index == int(np.nanargmin(failed))
    unit = found.problem.box.to_unit(found.best[None])
    chance = answer.fitted.feasibility.log_probability(torch.tensor(unit)).exp()
    assert float(chance) < 0.9


def test_impossible_standard_errors_are_refused(found, made_up):
    wrong = made_up(found.nll, nll_se=np.where(np.arange(25) == 3, -1.0, 0.0))
    with pytest.raises(InvalidInputError, match="nll_se of evaluation 3 is -1"):
        _ = wrong.fitted


def test_another_evaluation_is_less_certain_than_the_nll(found, made_up):
    noisy = made_up(found.nll, nll_se=np.full(25, 2.0))
    for theta in (found.best, found.thetas):
        mean, sd = noisy.predict_nll(theta)
        again, observed = noisy.predict_nll(theta, observed=True)
        np.testing.assert_array_equal(mean, again)
        assert np.all(np.asarray(observed) >= np.hypot(sd, 2.0))


def test_the_expected_best_is_the_best_where_evaluations_are_exact(found, made_up):
    with_failure = np.where(np.arange(25) == 0, np.nan, found.nll)
    for exact in (found, made_up(with_failure)):
        assert exact.expected_best_index == exact.best_index
        np.testing.assert_array_equal(exact.expected_best, exact.best)


def test_the_expected_best_is_not_a_lucky_evaluation(found, made_up):
    # A poor reward among equals comes out best, once.
    poor = int(found.nll.argmax())
    repeated = np.concatenate([np.arange(25), [poor] * 5])
    nll = found.nll[repeated]
    nll[0], nll[-1] = np.nan, found.nll.min() - 1.0
    lucky = made_up(nll, found.thetas[repeated], np.full(30, 20.0))
    assert lucky.best_index == 29
    expected = lucky.expected_best_index
    assert np.isfinite(lucky.nll[expected])
    assert found.nll[repeated[expected]] < np.median(found.nll)


def test_the_report_is_readable(found):
    text = str(found)
    assert "gridworld: 25 evaluations" in text
    assert f"{found.best_nll:.4f}" in text
    assert "of the box" in text


def test_the_report_counts_failed_evaluations(found, made_up):
    failed = np.where(np.arange(25) < 2, np.nan, found.nll)
    assert "25 evaluations, 2 of them failed" in str(made_up(failed))


def test_the_report_says_what_is_known_of_each_parameter(found):
    lines = str(found).splitlines()
    first = next(n for n, line in enumerate(lines) if "what is known" in line) + 1
    for line, one in zip(lines[first : first + 3], found.parameter_summary(), strict=True):
        assert line.split()[0] == one.name
        assert one.verdict in line
        assert f"{one.low:.4g} to {one.high:.4g}, {one.median:.4g}" in line


def test_the_title_names_the_kernel(found):
    assert found.title == "search with rho-matern"
    assert repr(found).startswith("RewardSet('gridworld', search with rho-matern, 25 evaluations")
