"""Bayesian IRL: chains whose samples are the posterior, whatever it looks like."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from boirl import baselines
from boirl.baselines.birl import BIRL
from boirl.errors import InvalidInputError
from boirl.metrics.chains import r_hat
from boirl.problem import TabularProblem
from boirl.problem.catalogue import load_problem
from boirl.types import Box
from tests.contracts.baseline_contract import assert_same_run

SAMPLERS = {"differential-evolution": 1024, "policy-walk": 30_000}
"""Steps after which simple targets are known well."""

STEP = 0.1

DEMONSTRATIONS = 20


@dataclass(eq=False)
class Target:
    """A problem whose posterior is known: a box and the log-likelihood of each theta in it."""

    log_likelihood: Callable
    low: tuple = (0.0, -5.0)
    high: tuple = (1.0, 5.0)
    name: str = "target"
    is_model_free: bool = False
    policies_per_evaluation: int = 1
    demonstrations: tuple = (None,) * DEMONSTRATIONS
    evaluated: int = 0

    @property
    def box(self):
        names = tuple(f"parameter {number}" for number in range(len(self.low)))
        return Box(names, np.array(self.low), np.array(self.high))

    def nll_batch(self, thetas):
        checked = self.box.check(thetas)
        self.evaluated += len(checked)
        return -self.log_likelihood(checked) / DEMONSTRATIONS

    def fingerprint(self):
        return "fixed"


def normal(mean, covariance):
    precision = np.linalg.inv(covariance)
    return lambda thetas: -0.5 * np.einsum("ni,ij,nj->n", thetas - mean, precision, thetas - mean)


def flat(thetas):
    return np.zeros(len(thetas))


@pytest.fixture(params=SAMPLERS)
def sampler(request):
    return request.param


def same(one, other):
    assert_same_run(one, other)
    # NaN equals NaN.
    assert repr(one.facts) == repr(other.facts)
    np.testing.assert_array_equal(one.samples, other.samples)


def test_settings_are_those_of_the_class():
    assert baselines.get("birl") == BIRL()
    assert baselines.get("birl", sampler="policy-walk", step=0.1) == BIRL("policy-walk", step=0.1)


def test_samples_follow_from_the_seed(gridworld, sampler):
    one, same_seed, other = (BIRL(sampler).run(gridworld, 20, seed=seed) for seed in (3, 3, 4))
    same(one, same_seed)
    assert not np.array_equal(one.samples, other.samples)


@pytest.mark.parametrize("break_at", [1, 16, 25])
def test_a_resumed_run_has_the_samples_of_an_uninterrupted_one(
    gridworld, sampler, tmp_path, break_at
):
    path = tmp_path / "run"
    BIRL(sampler).run(gridworld, break_at, seed=5, checkpoint=path)
    resumed = BIRL(sampler).run(gridworld, 40, seed=5, checkpoint=path)
    same(resumed, BIRL(sampler).run(gridworld, 40, seed=5))


def test_fewer_evaluations_than_are_kept_are_those_of_a_shorter_run(gridworld, sampler, tmp_path):
    path = tmp_path / "run"
    BIRL(sampler).run(gridworld, 40, seed=5, checkpoint=path)
    same(
        BIRL(sampler).run(gridworld, 30, seed=5, checkpoint=path),
        BIRL(sampler).run(gridworld, 30, seed=5),
    )


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"sampler": "gibbs"}, "sampler is 'gibbs'; expected one of differential-evolution, pol"),
        ({"chains": 0}, "chains is 0; expected at least 1"),
        ({"step": 0.0}, "step is 0.0; expected a share"),
        ({"step": 0.6}, "step is 0.6; expected a share"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, match):
    with pytest.raises(InvalidInputError, match=match):
        BIRL(**settings)


def test_problems_that_learn_are_refused(sampler):
    with pytest.raises(InvalidInputError, match=r"^birl .*'target'.*training run$"):
        BIRL(sampler).run(Target(flat, is_model_free=True), 5)


# What an evaluation says.


def test_an_evaluation_is_that_of_the_best_chain(gridworld, sampler):
    run = BIRL(sampler).run(gridworld, 12, seed=1)
    np.testing.assert_allclose(run.nll, gridworld.nll_batch(run.thetas), rtol=1e-9)
    chains = gridworld.nll_batch(run.samples).reshape(-1, 6)
    np.testing.assert_allclose(chains.min(axis=0), run.nll[6:], rtol=1e-9)


def test_all_policy_optimisations_are_counted(sampler):
    problem = Target(normal([0.5, 0.0], np.diag([0.01, 1.0])))
    run = BIRL(sampler).run(problem, 300, seed=0)
    assert run.n_policies == problem.evaluated
    assert run.evaluations[0].n_policies == (10 if sampler == "differential-evolution" else 1)
    if sampler == "policy-walk":
        # What was solved once is not solved again.
        assert problem.evaluated < 300
    assert all(one.n_policies >= 0 for one in run.evaluations)


def test_samples_are_the_second_half_of_every_chain(sampler):
    problem = Target(flat)
    run = BIRL(sampler, chains=4).run(problem, 101, seed=0)
    assert run.samples.shape == (51 * 4, 2)
    assert run.facts["burn-in"] == 50
    assert run.solutions is None
    by_chain = run.samples.reshape(4, 51, 2)
    expected = [round(r_hat(by_chain[:, :, number]), 4) for number in range(2)]
    assert list(run.facts["R-hat"].values()) == expected
    assert run.facts["largest R-hat"] == max(expected)
    assert list(run.facts["R-hat"]) == list(problem.box.names)
    moved = np.abs(np.diff(by_chain, axis=1)).sum(axis=2) > 0.0
    assert moved.mean() == pytest.approx(run.facts["acceptance rate"], abs=0.15)
    assert "R-hat" in str(run)


def test_the_shortest_of_runs_has_no_r_hat(sampler):
    run = BIRL(sampler).run(Target(flat), 1)
    assert np.isnan(run.facts["largest R-hat"])
    assert len(run.samples) == (10 if sampler == "differential-evolution" else 1)


# The posterior.


def test_a_normal_posterior_has_the_right_mean_and_covariance(sampler):
    mean = np.array([0.45, 0.5])
    covariance = np.array([[0.01, 0.07], [0.07, 1.0]])
    run = BIRL(sampler, step=STEP).run(
        Target(normal(mean, covariance)), SAMPLERS[sampler], seed=1000
    )
    size = min(run.facts["effective sample size"].values())
    assert size > 300
    assert run.facts["largest R-hat"] < 1.02
    errors = (run.samples.mean(axis=0) - mean) / np.sqrt(np.diag(covariance) / size)
    assert np.abs(errors).max() < 3.0
    np.testing.assert_allclose(
        np.cov(run.samples.T) / covariance, np.ones((2, 2)), atol=6.0 / np.sqrt(size)
    )


@pytest.mark.parametrize("sd", [0.002, 0.02])
def test_narrow_posteriors_are_found_from_anywhere(sd):
    mean, covariance = np.array([0.8, -3.0]), sd**2 * np.array([[1.0, 9.0], [9.0, 100.0]])
    run = BIRL().run(Target(normal(mean, covariance)), 1024, seed=1000)
    assert run.facts["largest R-hat"] < 1.05
    np.testing.assert_allclose(run.samples.mean(axis=0), mean, atol=0.3 * 10 * sd)
    np.testing.assert_allclose(np.cov(run.samples.T) / covariance, np.ones((2, 2)), atol=0.25)


def two_modes(thetas):
    """The first holds 30 %."""
    unit = (thetas - np.array([0.0, -5.0])) / np.array([1.0, 10.0])
    return np.logaddexp(
        np.log(0.3) - 0.5 * ((unit - 0.2) ** 2).sum(axis=1) / 0.03**2,
        np.log(0.7) - 0.5 * ((unit - 0.75) ** 2).sum(axis=1) / 0.03**2,
    )


def test_modes_far_apart_get_their_shares():
    shares = []
    for seed in (1000, 1001):
        run = BIRL().run(Target(two_modes), 2048, seed=seed)
        assert run.facts["largest R-hat"] < 1.05
        shares.append(np.mean(run.samples[:, 0] < 0.5))
    np.testing.assert_allclose(shares, 0.3, atol=0.08)
    assert np.mean(shares) == pytest.approx(0.3, abs=0.05)


def test_a_flat_posterior_is_flat_up_to_the_borders(sampler):
    run = BIRL(sampler, step=0.2).run(Target(flat), SAMPLERS[sampler], seed=1000)
    counts, _ = np.histogramdd(run.samples, bins=(5, 5), range=((0.0, 1.0), (-5.0, 5.0)))
    np.testing.assert_allclose(counts / counts.mean(), 1.0, atol=0.25)
    at_the_border = np.concatenate([counts[0], counts[-1], counts[:, 0], counts[:, -1]])
    assert at_the_border.mean() == pytest.approx(counts.mean(), rel=0.05)


def test_a_posterior_that_rises_to_a_border_is_not_distorted_there(sampler):
    rising = Target(lambda thetas: 3.0 * thetas[:, 0])
    run = BIRL(sampler, step=0.2).run(rising, SAMPLERS[sampler], seed=1000)
    counts, edges = np.histogram(run.samples[:, 0], bins=5, range=(0.0, 1.0))
    exact = np.diff(np.exp(3.0 * edges)) / (np.exp(3.0) - 1.0)
    np.testing.assert_allclose(counts / counts.sum(), exact, atol=0.03)


def test_a_policy_walk_goes_from_neighbour_to_neighbour():
    run = BIRL("policy-walk", step=0.25).run(Target(flat), 200, seed=0)
    unit = (run.samples - [0.0, -5.0]) / [1.0, 10.0]
    steps = np.abs(np.diff(unit, axis=0))
    assert set(np.round(steps.sum(axis=1), 9)) == {0.0, 0.25}
    assert set(np.round(unit, 9).ravel()) == {0.125, 0.375, 0.625, 0.875}


# Rewards without a policy.


def test_rewards_without_a_policy_have_no_probability(sampler):
    def half(thetas):
        return np.where(thetas[:, 0] < 0.5, np.nan, 0.0)

    run = BIRL(sampler, step=STEP).run(Target(half), SAMPLERS[sampler], seed=1000)
    assert run.samples[:, 0].min() >= 0.5
    np.testing.assert_allclose(run.samples.mean(axis=0), [0.75, 0.0], atol=0.4)
    assert np.isfinite(run.nll[-1])


def test_where_no_reward_has_a_policy_chains_go_on(sampler):
    run = BIRL(sampler).run(Target(lambda thetas: np.full(len(thetas), np.nan)), 200, seed=0)
    assert np.isnan(run.nll).all()
    assert len(np.unique(run.samples[:, 0])) > 3


def test_many_parameters_are_sampled_well():
    problem = Target(lambda thetas: -50.0 * (thetas**2).sum(axis=1), (-1.0,) * 12, (1.0,) * 12)
    run = BIRL().run(problem, 2048, seed=1000)
    np.testing.assert_allclose(run.samples.std(axis=0), 0.1, rtol=0.3)


# Problems of the library.


def test_it_works_on_trips_to_many_destinations(sampler):
    problem = load_problem("road-network", n_links=120, seed=0, n_demonstrations=10)
    run = BIRL(sampler, chains=3).run(problem, 12, seed=0)
    assert np.isfinite(run.nll[-1])
    assert run.samples.shape[1] == problem.box.dimension


def test_it_works_on_a_single_parameter(random_problem, sampler):
    problem = random_problem(0)
    assert isinstance(problem, TabularProblem)
    single = replace(problem, reward=problem.reward.fix(second=0.5))
    run = BIRL(sampler, chains=4, step=0.2).run(single, 300, seed=1000)
    grid = np.linspace(-2.0, 2.0, 401)
    weights = np.exp(-len(problem.demonstrations) * single.nll_batch(grid[:, None]))
    assert run.samples.mean() == pytest.approx(np.average(grid, weights=weights), abs=0.3)
