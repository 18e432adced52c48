from typing import Any

import numpy as np
import pytest
import torch

import boirl
from boirl.errors import InvalidInputError
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS
from boirl.surrogate.prior import as_line, build_mean


@pytest.mark.parametrize("name", ["constant", "log-rho"])
def test_plain_numbers_give_what_the_gpytorch_mean_gives(name):
    mean = build_mean(name).double()
    with torch.no_grad():
        mean.constant.fill_(0.7)
    latent = torch.tensor(np.random.default_rng(0).random((6, 4)))
    torch.testing.assert_close(as_line(mean)(latent), mean(latent).detach(), check_dtype=False)


def test_rewards_are_ranked_before_a_policy_is_solved(gridworld, gridworld_log_rho):
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, "linear", "log-rho")
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((60, 3)))
    far = np.array([[-2.0, 10.0, 4.0]])
    expected, _ = surrogate.build(far, gridworld.nll_batch(far)).posterior(thetas)
    exact = gridworld.nll_batch(thetas)
    assert np.corrcoef(np.argsort(np.argsort(expected)), np.argsort(np.argsort(exact)))[0, 1] > 0.8


def test_the_posterior_is_that_of_botorch(gridworld, gridworld_log_rho):
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, "linear", "log-rho")
    thetas = gridworld.box.from_unit(np.random.default_rng(1).random((12, 3)))
    fitted = surrogate.fit(thetas, gridworld.nll_batch(thetas))
    others = torch.tensor(np.random.default_rng(2).random((5, 3)))
    with torch.no_grad():
        posterior = fitted.model.posterior(others)
    mean, sd = fitted.posterior(gridworld.box.from_unit(others.numpy()))
    np.testing.assert_allclose(mean, posterior.mean[:, 0], rtol=1e-6)
    np.testing.assert_allclose(sd, posterior.variance[:, 0].sqrt(), rtol=1e-3)


def test_a_search_with_it_resumes_saves_and_loads(random_problem, tmp_path):
    problem = random_problem(1000, "logsumexp")
    storage = f"sqlite:///{tmp_path}/search.db"
    options: dict[str, Any] = {"seed": 1000, "prior_mean": "log-rho", "n_initial": 2}
    boirl.explore(problem, 3, storage=storage, **options)
    resumed = boirl.explore(problem, 5, storage=storage, **options)
    found = boirl.explore(problem, 5, **options)
    np.testing.assert_array_equal(resumed.thetas, found.thetas)
    found.save(tmp_path / "rewards.npz")
    loaded = boirl.RewardSet.load(tmp_path / "rewards.npz", problem)
    np.testing.assert_array_equal(loaded.predict_nll(found.thetas), found.predict_nll(found.thetas))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior_mean": "zero"}, "prior_mean is 'zero'; expected 'constant' or 'log-rho'"),
        ({"prior_mean": "log-rho", "kernel": "rbf"}, "the kernel 'rbf' knows no projection"),
    ],
)
def test_prior_means_that_make_no_sense_are_refused(gridworld, options, message):
    with pytest.raises(InvalidInputError, match=message):
        boirl.Study(gridworld, **options)
