"""Priors over theta: densities that are checked, kept and told apart."""

import json

import numpy as np
import pytest
import torch
from scipy.stats import norm

import boirl
from boirl.errors import CodeNeededError, InvalidInputError
from boirl.priors import UNIFORM, as_prior, prior_from_facts
from boirl.types import Box

BOX = Box(("a", "b"), np.array([-1.0, 0.0]), np.array([1.0, 10.0]))
THETAS = BOX.from_unit(np.random.default_rng(0).random((20, 2)))


def triangle(theta):
    return torch.log1p(-theta[:, 0].abs())


def test_nothing_believed_is_the_uniform_prior():
    prior = as_prior(None, BOX)
    assert prior.is_uniform
    np.testing.assert_array_equal(prior.log_prior(THETAS), 0.0)


def test_a_normal_prior_is_normal_and_ignores_parameters_of_infinite_spread():
    prior = as_prior(boirl.NormalPrior([0.5, 3.0], [0.2, 4.0]), BOX)
    exact = norm(0.5, 0.2).logpdf(THETAS[:, 0]) + norm(3.0, 4.0).logpdf(THETAS[:, 1])
    found = prior.log_prior(THETAS)
    np.testing.assert_allclose(found - found[0], exact - exact[0])
    assert not prior.is_uniform
    one_sided = boirl.NormalPrior([0.5, 3.0], [0.2, np.inf]).log_prior(THETAS)
    np.testing.assert_allclose(one_sided, -0.5 * ((THETAS[:, 0] - 0.5) / 0.2) ** 2)


def test_priors_have_gradients():
    theta = torch.tensor(THETAS, requires_grad=True)
    as_prior(boirl.NormalPrior([0.0, 0.0], [1.0, 2.0]), BOX).log_density(theta).sum().backward()
    np.testing.assert_allclose(theta.grad.numpy(), -THETAS / [1.0, 4.0])


@pytest.mark.parametrize(
    "prior", [None, boirl.NormalPrior([0.5, 3.0], [0.2, np.inf])], ids=["uniform", "normal"]
)
def test_priors_survive_json(prior):
    prior = as_prior(prior, BOX)
    facts = json.loads(json.dumps(prior.facts(BOX), allow_nan=False))
    again = prior_from_facts(facts)
    assert again.facts(BOX) == facts
    np.testing.assert_array_equal(again.log_prior(THETAS), prior.log_prior(THETAS))


def test_a_prior_that_is_code_is_named_by_a_file_and_has_to_be_passed_again():
    prior = as_prior(triangle, BOX)
    np.testing.assert_allclose(prior.log_prior(THETAS), np.log1p(-np.abs(THETAS[:, 0])))
    facts = json.loads(json.dumps(prior.facts(BOX)))
    assert facts == as_prior(lambda theta: triangle(theta), BOX).facts(BOX) | {"name": "triangle"}
    assert facts != as_prior(lambda theta: -theta[:, 0], BOX).facts(BOX) | {"name": "triangle"}
    again = prior_from_facts(facts)
    assert again.facts(BOX) == facts
    with pytest.raises(CodeNeededError, match=r"'triangle' is code.*with_prior"):
        again.log_prior(THETAS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("normal", "the prior is 'normal'; expected None"),
        (lambda theta: theta, r"returned \(16, 2\) for 16 x 2 thetas"),
        (lambda theta: 1.0, "returned float"),
        (lambda theta: theta[:, 5], "the prior fails for a tensor of 16 x 2"),
        (lambda theta: torch.sqrt(theta[:, 0]), "NaN or infinite"),
        (lambda theta: theta[:, 0] + torch.inf, "NaN or infinite"),
        (lambda theta: theta[:, 0] - torch.inf, "excludes all of 16 thetas"),
        (boirl.NormalPrior([0.0], [1.0]), "of 1 parameters; expected 2: a, b"),
    ],
)
def test_what_is_no_density_is_refused(given, message):
    with pytest.raises(InvalidInputError, match=message):
        as_prior(given, BOX)


@pytest.mark.parametrize(
    ("mean", "sd"), [([0.0], [1.0, 2.0]), ([0.0], [0.0]), ([np.nan], [1.0]), ([[0.0]], [[1.0]])]
)
def test_impossible_normal_distributions_are_refused(mean, sd):
    with pytest.raises(InvalidInputError, match="mean"):
        boirl.NormalPrior(mean, sd)


def test_reprs_are_short():
    assert repr(UNIFORM) == "UniformPrior()"
    assert repr(boirl.NormalPrior(1.0, 2.0)) == "NormalPrior(mean=[1.0], sd=[2.0])"
    assert "triangle" in repr(as_prior(triangle, BOX))
