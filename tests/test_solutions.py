"""The set of rewards: tolerances, groups, posterior, files."""

from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.errors import InvalidInputError, StorageError


@pytest.fixture(scope="module")
def found():
    return boirl.explore(boirl.load_problem("gridworld"), evaluations=25, seed=3)


def with_nll(found, nll):
    """The same thetas with made-up likelihoods."""
    return boirl.RewardSet(
        problem=found.problem,
        surrogate=found.surrogate,
        settings=found.settings,
        thetas=found.thetas[: len(nll)],
        nll=np.array(nll),
        seconds=found.seconds[: len(nll)],
        failures=found.failures[: len(nll)],
    )


def test_best_and_within_are_about_the_lowest_nll(found):
    made_up = with_nll(found, [20.0, 10.0, np.nan, 10.05, 10.9, 11.1])
    np.testing.assert_array_equal(made_up.best, found.thetas[1])
    assert made_up.indices_within(0.01).tolist() == [1, 3]
    assert made_up.indices_within(0.10).tolist() == [1, 3, 4]
    assert made_up.indices_within(0.05, absolute=True).tolist() == [1, 3]
    np.testing.assert_array_equal(made_up.within(0.0), found.thetas[[1]])


def test_a_relative_tolerance_works_below_zero(found):
    made_up = with_nll(found, [-10.0, -9.95, -9.0])
    assert made_up.indices_within(0.01).tolist() == [0, 1]


def test_groups_part_rewards_that_behave_differently_and_join_those_alike(found):
    box = found.problem.box
    same = [(1.25, 5.0, 0.0), (1.25, 5.0, 3.0), (-1.0, 3.0, 0.0), (1.25, 5.0, -4.0)]
    made_up = boirl.RewardSet(
        problem=found.problem,
        surrogate=found.surrogate,
        settings=found.settings,
        thetas=box.check(same),
        nll=np.array([10.0, 10.1, 10.2, 10.3]),
        seconds=np.zeros(4),
        failures=(None,) * 4,
    )
    groups = made_up.groups(tolerance=0.10)
    assert [group.indices.tolist() for group in groups] == [[0, 1, 3], [2]]
    assert groups[0].width < 1e-9
    assert groups[0].nll == 10.0
    np.testing.assert_array_equal(groups[1].representative, same[2])
    assert len(made_up.groups(tolerance=0.10, distance=1.0)) == 1


def test_members_of_a_group_are_no_further_apart_than_was_asked(found):
    for distance in (0.01, 0.05, 0.2):
        groups = found.groups(tolerance=0.5, distance=distance)
        assert max(group.width for group in groups) <= distance
        assert sum(len(group.indices) for group in groups) == len(found.indices_within(0.5))


def test_volumes_of_groups_add_up_to_the_share_of_the_box_within_the_tolerance(found):
    thetas = found.problem.box.from_unit(np.random.default_rng(0).random((4096, 3)))
    mean, _ = found.posterior(thetas)
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
    members = drawn[found.posterior(drawn)[0] <= 1.1 * found.best_nll]
    distances = problem.behaviour_distances(
        [problem.policy(theta) for theta in (*evaluated, *members)]
    )
    nearest = owners[distances[len(evaluated) :, : len(evaluated)].argmin(axis=1)]
    shares = np.bincount(nearest, minlength=len(groups)) / len(drawn)
    assert len(groups) > 1
    np.testing.assert_allclose([group.volume for group in groups], shares, atol=0.05)


def test_a_best_far_below_all_others_fills_next_to_nothing_of_the_box(found):
    lucky = with_nll(found, [*found.nll[:-1], found.nll.min() - 15.0])
    volumes = [group.volume for group in lucky.groups(tolerance=0.0)]
    assert len(volumes) == 1
    assert 0.0 <= volumes[0] < 0.05


@pytest.mark.parametrize(
    # Table of the chi-squared distribution, three degrees of freedom.
    ("confidence", "quantile"),
    [(0.90, 6.251), (0.95, 7.815), (0.99, 11.345)],
)
def test_the_likelihood_ratio_test_rejects_by_half_a_quantile_of_chi_squared(
    found, confidence, quantile
):
    tolerance = found.not_rejected(confidence)
    assert tolerance == pytest.approx(0.5 * quantile / 50, rel=1e-4)
    kept = found.within(tolerance, absolute=True)
    log_ratio = 50 * (found.problem.nll_batch(kept) - found.best_nll)
    assert (2.0 * log_ratio <= quantile + 1e-3).all()


def test_the_likelihood_ratio_test_has_a_confidence_of_95_per_cent_unless_told(found):
    assert found.not_rejected() == found.not_rejected(0.95)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_a_confidence_of_nothing_or_all_is_refused(found, confidence):
    with pytest.raises(InvalidInputError, match=f"the confidence is {confidence}"):
        found.not_rejected(confidence)


@pytest.mark.parametrize("tolerance", [-0.1, float("nan")])
def test_a_tolerance_below_zero_is_refused(found, tolerance):
    with pytest.raises(InvalidInputError, match=f"the tolerance is {tolerance}"):
        found.within(tolerance)


def test_posterior_takes_one_theta_or_many(found):
    mean, _ = found.posterior(found.best)
    assert isinstance(mean, float)
    means, sds = found.posterior(found.thetas)
    assert means.shape == sds.shape == (25,)
    assert means[found.best_index] == pytest.approx(mean)
    np.testing.assert_allclose(means, found.nll, atol=0.5)
    with pytest.raises(InvalidInputError, match="midpoint = 11"):
        found.posterior((0, 11, 0))


def test_first_is_the_search_cut_short(found):
    short = found.first(5)
    assert len(short) == len(short.failures) == 5
    np.testing.assert_array_equal(short.thetas, found.thetas[:5])


def test_standard_errors_are_zero_unless_told_and_are_kept(found, tmp_path):
    assert found.nll_se.tolist() == [0.0] * 25
    told = replace(found, nll_se=np.linspace(0.0, 1.0, 25))
    np.testing.assert_array_equal(told.first(5).nll_se, told.nll_se[:5])
    told.save(tmp_path / "rewards.npz")
    loaded = boirl.RewardSet.load(tmp_path / "rewards.npz")
    np.testing.assert_array_equal(loaded.nll_se, told.nll_se)
    np.testing.assert_array_equal(loaded.posterior(found.best), told.posterior(found.best))
    with pytest.raises(InvalidInputError, match="nll_se of evaluation 3 is -1"):
        replace(found, nll_se=np.where(np.arange(25) == 3, -1.0, 0.0))


def test_a_file_without_standard_errors_is_of_exact_evaluations(found, tmp_path):
    path = tmp_path / "rewards.npz"
    found.save(path)
    arrays = dict(np.load(path))
    del arrays["nll_se"]
    np.savez(path, **arrays)
    assert boirl.RewardSet.load(path).nll_se.tolist() == [0.0] * 25


def test_what_an_evaluation_would_tell_is_less_sure_than_the_nll(found):
    told = replace(found, nll_se=np.full(25, 2.0))
    for theta in (found.best, found.thetas):
        mean, sd = told.posterior(theta)
        again, observed = told.posterior(theta, observed=True)
        np.testing.assert_array_equal(mean, again)
        assert np.all(np.asarray(observed) >= np.hypot(sd, 2.0))


def test_the_expected_best_is_the_best_where_evaluations_are_exact(found):
    with_failure = np.where(np.arange(25) == 0, np.nan, found.nll)
    for exact in (found, replace(found, nll=with_failure)):
        assert exact.expected_best_index == exact.best_index
        np.testing.assert_array_equal(exact.expected_best, exact.best)


def test_the_expected_best_is_not_a_lucky_evaluation(found):
    # A poor reward among equals comes out best, once.
    poor = int(found.nll.argmax())
    repeated = np.concatenate([np.arange(25), [poor] * 5])
    nll = found.nll[repeated]
    nll[0], nll[-1] = np.nan, found.nll.min() - 1.0
    lucky = replace(
        found,
        thetas=found.thetas[repeated],
        nll=nll,
        seconds=found.seconds[repeated],
        failures=(None,) * 30,
        nll_se=np.full(30, 20.0),
    )
    assert lucky.best_index == 29
    expected = lucky.expected_best_index
    assert np.isfinite(lucky.nll[expected])
    assert found.nll[repeated[expected]] < np.median(found.nll)


def test_groups_are_as_wide_as_the_problem_has_it(found, monkeypatch):
    monkeypatch.setattr(type(found.problem), "same_behaviour", 1.0, raising=False)
    assert len(found.groups(tolerance=0.5)) == 1
    monkeypatch.setattr(type(found.problem), "same_behaviour", 1e-6, raising=False)
    assert len(found.groups(tolerance=0.5)) == len(found.groups(tolerance=0.5, distance=1e-6)) > 1


def test_print_is_readable(found):
    text = str(found)
    assert "gridworld: 25 evaluations" in text
    assert f"{found.best_nll:.4f}" in text
    assert "of the box" in text


def test_print_says_what_is_known_of_each_parameter(found):
    lines = str(found).splitlines()[-3:]
    for line, one in zip(lines, found.parameters(), strict=True):
        assert line.split()[0] == one.name
        assert one.verdict in line
        assert f"{one.low:.4g} to {one.high:.4g}, {one.median:.4g}" in line


def test_save_and_load_keep_everything(found, tmp_path):
    path = tmp_path / "deep" / "rewards.npz"
    found.save(path)
    loaded = boirl.RewardSet.load(path)
    np.testing.assert_array_equal(loaded.thetas, found.thetas)
    np.testing.assert_array_equal(loaded.nll, found.nll)
    assert loaded.settings == dict(found.settings)
    probe = found.problem.box.from_unit(np.random.default_rng(0).random((20, 3)))
    np.testing.assert_array_equal(loaded.posterior(probe), found.posterior(probe))
    assert str(loaded) == str(found)


@pytest.mark.parametrize("options", [{"kernel": "matern"}, {"projection": "rho"}])
def test_every_kind_of_search_can_be_loaded(found, options, tmp_path):
    other = boirl.explore(found.problem, evaluations=5, **options)
    other.save(tmp_path / "rewards.npz")
    loaded = boirl.RewardSet.load(tmp_path / "rewards.npz")
    np.testing.assert_array_equal(loaded.posterior(found.best), other.posterior(found.best))


def test_a_problem_of_ones_own_is_passed_to_load(tmp_path):
    mdp = boirl.TabularMDP.from_next_states(np.array([[0, 1], [1, 0]]), gamma=0.9)
    reward = boirl.LinearReward(np.array([[0.0], [1.0]]), {"weight": (-1.0, 1.0)})
    problem = boirl.TabularProblem(
        mdp, reward, boirl.Demonstrations.from_arrays([[0, 1, 1]], [[1, 0, 0]])
    )
    found = boirl.explore(problem, evaluations=4)
    found.save(tmp_path / "rewards.npz")
    with pytest.raises(InvalidInputError, match="pass problem="):
        boirl.RewardSet.load(tmp_path / "rewards.npz")
    loaded = boirl.RewardSet.load(tmp_path / "rewards.npz", problem)
    assert loaded.best_nll == found.best_nll
    other = boirl.TabularProblem(
        mdp, reward, boirl.Demonstrations.from_arrays([[0, 0, 0]], [[0, 0, 0]])
    )
    with pytest.raises(InvalidInputError, match="another problem"):
        boirl.RewardSet.load(tmp_path / "rewards.npz", other)


def test_a_missing_or_corrupt_file_is_told(found, tmp_path):
    with pytest.raises(InvalidInputError, match="there is no file"):
        boirl.RewardSet.load(tmp_path / "nothing.npz")
    path = tmp_path / "rewards.npz"
    found.save(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(StorageError, match="damaged"):
        boirl.RewardSet.load(path)


def test_a_full_disk_leaves_the_older_file_whole(found, tmp_path, monkeypatch):
    path = tmp_path / "rewards.npz"
    found.save(path)
    before = path.read_bytes()

    def full(self, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(StorageError, match="No space left"):
        found.first(5).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_groups_differ_most_where_their_policies_do(gridworld):
    found = boirl.explore(gridworld, 20, seed=1)
    groups = found.groups()
    first, last = groups[0], groups[-1]
    differences = found.differences(first, last, count=4)
    assert len(differences) == 4
    apart = [one.distance for one in differences]
    assert apart == sorted(apart, reverse=True)
    one, other = (gridworld.policy(g.representative).probabilities for g in (first, last))
    state = differences[0].state
    assert apart[0] == pytest.approx(0.5 * np.abs(one[state] - other[state]).sum())
    assert differences[0].action == one[state].argmax()
    assert differences[0].other_action == other[state].argmax()


@pytest.mark.parametrize("by", ["behaviour", "starc", "epic"])
def test_rewards_are_grouped_by_any_distance(gridworld, by):
    found = boirl.explore(gridworld, 12, seed=1)
    groups = found.groups(by=by)
    members = np.concatenate([group.indices for group in groups])
    assert sorted(members) == sorted(found.indices_within(0.10))
    assert all(group.width <= 0.05 for group in groups)
    distances = found.distances(found.thetas, by)
    assert distances.shape == (12, 12)
    np.testing.assert_allclose(distances, distances.T)
