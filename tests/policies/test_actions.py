import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boirl.errors import InvalidInputError
from boirl.policies.actions import (
    BIN,
    Categorical,
    CensoredGaussian,
    Gaussian,
    PartOfActions,
    SquashedGaussian,
    UniformMixture,
    action_model,
)

LOW, HIGH = (-2.0, 0.5), (-1.0, 4.0)
"""Neither symmetric nor of one width."""

means = st.floats(-4.0, 6.0)
squashed_means = st.floats(-3.0, 3.0)
log_sds = st.floats(-3.0, 1.0)


def midpoints(low, high, count):
    edges = np.linspace(low, high, count + 1)
    return 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)


def censored_nodes(low, high, count=4_000):
    """Points and weights of a sum over actions: an atom at each bound, and what is between."""
    inside, widths = midpoints(low, high, count)
    return np.array([low, *inside, high]), np.array([1.0, *widths, 1.0])


def squashed_nodes(low, high, count=4_000):
    """The same where the ends are flat bins; points are dense towards the ends."""
    half = 0.5 * (high - low)
    edges = np.tanh(np.linspace(-math.atanh(1.0 - BIN), math.atanh(1.0 - BIN), count + 1))
    unit = np.array([0.5 * BIN - 1.0, *(0.5 * (edges[1:] + edges[:-1])), 1.0 - 0.5 * BIN])
    return low + half * (unit + 1.0), half * np.array([BIN, *np.diff(edges), BIN])


BOUNDED = [(CensoredGaussian, censored_nodes), (SquashedGaussian, squashed_nodes)]
bounded = pytest.mark.parametrize(("kind", "nodes"), BOUNDED)


def total(model, outputs, actions, weights):
    """The sum over all actions of the probability that one row of outputs gives them."""
    rows = np.broadcast_to(outputs, (len(actions), len(outputs)))
    return float(np.exp(model.log_prob(rows, actions)) @ weights)


@bounded
@pytest.mark.parametrize("dimension", [0, 1])
@given(mean=means, log_sd=log_sds, share=st.floats(0.01, 0.9))
def test_bounded_actions_have_probability_one(kind, nodes, dimension, mean, log_sd, share):
    if kind is SquashedGaussian:
        mean = np.clip(mean, -3.0, 3.0)
    low, high = LOW[dimension], HIGH[dimension]
    points, weights = nodes(low, high)
    model = kind((low,), (high,))
    for one in (model, UniformMixture(model, share)):
        found = total(one, np.array([mean, log_sd]), points[:, None], weights)
        assert found == pytest.approx(1.0, abs=2e-4)
    uniform = np.exp(model.log_uniform(points[:, None])) @ weights
    assert uniform == pytest.approx(1.0, abs=1e-9)


@bounded
@pytest.mark.parametrize("mixed", [False, True])
def test_in_two_dimensions_too(kind, nodes, mixed):
    model = kind(LOW, HIGH)
    (xs, x_weights), (ys, y_weights) = (
        nodes(low, high, 400) for low, high in zip(LOW, HIGH, strict=True)
    )
    points = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2)
    weights = np.outer(x_weights, y_weights).reshape(-1)
    outputs = np.array([-1.2, 0.7, -0.5, 0.3])
    found = total(UniformMixture(model, 0.3) if mixed else model, outputs, points, weights)
    assert found == pytest.approx(1.0, abs=1e-3)
    assert np.exp(model.log_uniform(points)) @ weights == pytest.approx(1.0, abs=1e-9)


@given(mean=means, log_sd=log_sds)
def test_gaussian_actions_have_probability_one(mean, log_sd):
    model, outputs = Gaussian(1), np.array([mean, log_sd])
    points, weights = midpoints(mean - 10.0 * np.exp(log_sd), mean + 10.0 * np.exp(log_sd), 2_000)
    assert total(model, outputs, points[:, None], weights) == pytest.approx(1.0, abs=1e-6)
    points, weights = midpoints(-120.0, 120.0, 200_000)
    mixed = total(UniformMixture(model, 0.4), outputs, points[:, None], weights)
    assert mixed == pytest.approx(1.0, abs=1e-4)


@given(
    logits=st.lists(st.floats(-80.0, 80.0), min_size=2, max_size=6), share=st.floats(0.001, 0.999)
)
def test_choices_have_probability_one(logits, share):
    model, actions = Categorical(len(logits)), np.arange(len(logits))
    for one in (model, UniformMixture(model, share)):
        found = total(one, np.array(logits), actions, np.ones(len(logits)))
        assert found == pytest.approx(1.0, abs=1e-9)
    assert np.exp(model.log_uniform(actions)).sum() == pytest.approx(1.0)


@bounded
@pytest.mark.parametrize(("mean", "log_sd"), [(0.2, 0.0), (-1.8, -1.5), (1.0, 0.8)])
def test_draws_are_as_probable_as_stated(kind, nodes, mean, log_sd):
    low, high = LOW[0], HIGH[0]
    model, outputs = kind((low,), (high,)), np.array([mean, log_sd])
    drawn = model.sample(np.tile(outputs, (40_000, 1)), np.random.default_rng(0))[:, 0]
    assert drawn.min() >= low
    assert drawn.max() <= high
    points, weights = nodes(low, high)
    rows = np.tile(outputs, (len(points), 1))
    cumulative = np.cumsum(np.exp(model.log_prob(rows, points[:, None])) * weights)
    # The right ends of the cells around the points; an atom has no width.
    atom = 1.0 if kind is CensoredGaussian else 0.0
    cells = low + np.cumsum(weights) - atom
    chosen = np.r_[0 : len(points) - 1 : 97]
    found = (drawn[:, None] <= cells[chosen]).mean(axis=0)
    np.testing.assert_allclose(found, cumulative[chosen], atol=0.01)


def test_the_atoms_of_clipped_draws_are_the_tails():
    model, outputs = CensoredGaussian(LOW, HIGH), np.array([-1.1, 3.0, -0.7, 0.4])
    drawn = model.sample(np.tile(outputs, (20_000, 1)), np.random.default_rng(1))
    corner = ((drawn == HIGH).all(axis=1)).mean()
    expected = math.exp(model.log_prob(outputs[None], np.array([HIGH]))[0])
    assert expected > 0.05
    assert corner == pytest.approx(expected, abs=0.01)


def test_draws_of_a_gaussian_and_of_choices_agree_with_their_probabilities():
    rng = np.random.default_rng(2)
    drawn = Gaussian(2).sample(np.tile([1.0, -5.0, 0.5, -2.0], (20_000, 1)), rng)
    np.testing.assert_allclose(drawn.mean(axis=0), [1.0, -5.0], atol=0.05)
    np.testing.assert_allclose(drawn.std(axis=0), np.exp([0.5, -2.0]), rtol=0.03)
    logits = np.array([[0.0, 1.0, -1.0]])
    chosen = Categorical(3).sample(np.repeat(logits, 20_000, axis=0), rng)
    expected = np.exp(Categorical(3).log_prob(np.repeat(logits, 3, axis=0), np.arange(3)))
    np.testing.assert_allclose(np.bincount(chosen) / len(chosen), expected, atol=0.015)


@given(
    mean=st.sampled_from([-50.0, -1.5, 0.0, 50.0]),
    log_sd=st.sampled_from([-10.0, -3.0, 2.0, 10.0]),
    kind=st.sampled_from([CensoredGaussian, SquashedGaussian]),
)
def test_extreme_outputs_have_finite_probabilities(mean, log_sd, kind):
    model = kind(LOW, HIGH)
    actions = np.array([LOW, HIGH, [-1.5, 1.0], [LOW[0], HIGH[1]], [-2.0 + 1e-12, 0.5 + 1e-12]])
    outputs = np.tile([mean, mean, log_sd, log_sd], (len(actions), 1))
    assert np.isfinite(model.log_prob(outputs, actions)).all()
    guarded = UniformMixture(model, 0.02)
    least = np.log(0.02) + guarded.log_uniform(actions)
    assert (guarded.log_prob(outputs, actions) >= least - 1e-12).all()


@given(mean=means, log_sd=st.floats(-10.0, 2.0))
def test_a_clipped_action_never_counts_for_more_than_certain(mean, log_sd):
    model, outputs = CensoredGaussian((-1.0,), (1.0,)), np.array([[mean, log_sd]])
    ends = [model.log_prob(outputs, np.array([[bound]]))[0] for bound in (-1.0, 1.0)]
    assert max(ends) <= 0.0
    assert np.logaddexp(*ends) <= 1e-12


@given(mean=squashed_means, log_sd=log_sds)
def test_a_squashed_gaussian_is_the_same_all_over_the_last_bin(mean, log_sd):
    model, outputs = SquashedGaussian((-1.0,), (1.0,)), np.array([[mean, log_sd]])
    for end in (-1.0, 1.0):
        inside = end * (1.0 - 0.9 * BIN)
        at_bound, near = (model.log_prob(outputs, np.array([[a]]))[0] for a in (end, inside))
        assert at_bound == pytest.approx(near)


@pytest.mark.parametrize("kind", [CensoredGaussian, SquashedGaussian])
def test_the_typical_action_is_where_a_sharp_policy_goes(kind):
    model, outputs = kind(LOW, HIGH), np.array([[-1.3, 0.9, -9.0, -9.0], [9.0, -9.0, -9.0, -9.0]])
    drawn = model.sample(outputs, np.random.default_rng(0))
    np.testing.assert_allclose(model.mode(outputs), drawn, atol=1e-3)
    np.testing.assert_allclose(model.mode(outputs)[1], [HIGH[0], LOW[1]], atol=1e-6)


def test_typical_choices_and_gaussians():
    assert Categorical(3).mode(np.array([[0.0, 2.0, 1.0], [5.0, 2.0, 1.0]])).tolist() == [1, 0]
    assert Gaussian(2).mode(np.array([[3.0, 4.0, 0.0, 0.0]])).tolist() == [[3.0, 4.0]]


def test_the_uniform_share_guards_the_likelihood_and_never_acts():
    model = CensoredGaussian(LOW, HIGH)
    mixed, outputs = UniformMixture(model, 0.9), np.tile([-1.5, 1.0, -1.0, -1.0], (50, 1))
    first, second = (one.sample(outputs, np.random.default_rng(0)) for one in (model, mixed))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(model.mode(outputs), mixed.mode(outputs))
    np.testing.assert_array_equal(model.log_uniform(first), mixed.log_uniform(first))


@given(others=st.lists(st.floats(-9.0, 9.0), min_size=2, max_size=2))
def test_other_columns_do_not_matter(others):
    inner = CensoredGaussian(LOW, HIGH)
    model = PartOfActions(inner, (3, 1), 4)
    outputs, part = np.array([[-1.4, 2.0, 0.1, -0.2]]), np.array([[-1.6, 1.0]])
    actions = np.array([[others[0], part[0, 1], others[1], part[0, 0]]])
    assert model.size == inner.size
    assert model.log_prob(outputs, actions) == inner.log_prob(outputs, part)
    assert model.log_uniform(actions) == inner.log_uniform(part)


def test_other_columns_are_left_at_zero():
    inner = SquashedGaussian(LOW, HIGH)
    model, outputs = PartOfActions(inner, (3, 1), 4), np.array([[-0.4, 0.2, 0.1, -0.2]])
    part = inner.sample(outputs, np.random.default_rng(5))
    whole = model.sample(outputs, np.random.default_rng(5))
    np.testing.assert_array_equal(whole, [[0.0, part[0, 1], 0.0, part[0, 0]]])
    np.testing.assert_array_equal(model.mode(outputs)[:, [3, 1]], inner.mode(outputs))


def test_a_network_may_have_outputs_for_the_other_columns_too():
    inner, columns = CensoredGaussian(LOW, HIGH), (2, 0)
    part = PartOfActions(inner, columns, 3)
    whole = PartOfActions(inner, columns, 3, outputs_for_all=True)
    means, log_sds = np.array([[1.0, 9.0, -1.4]]), np.array([[0.2, 9.0, -0.3]])
    own = np.hstack([means[:, columns], log_sds[:, columns]])
    outputs, actions = np.hstack([means, log_sds]), np.array([[2.0, 7.0, -1.2]])
    assert (part.size, whole.size) == (4, 6)
    assert whole.log_prob(outputs, actions) == part.log_prob(own, actions)
    np.testing.assert_array_equal(whole.mode(outputs), part.mode(own))
    np.testing.assert_array_equal(
        whole.sample(outputs, np.random.default_rng(0)), part.sample(own, np.random.default_rng(0))
    )


MODELS = [
    Gaussian(3),
    CensoredGaussian(LOW, HIGH),
    SquashedGaussian(LOW, HIGH),
    Categorical(4),
    PartOfActions(SquashedGaussian(LOW, HIGH), (0, 2), 3),
    PartOfActions(SquashedGaussian(LOW, HIGH), (0, 2), 3, outputs_for_all=True),
    UniformMixture(Categorical(2), 0.1),
    UniformMixture(PartOfActions(CensoredGaussian(LOW, HIGH), (1, 0), 2)),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_description_survives_a_file(model):
    again = action_model(json.loads(json.dumps(model.describe())))
    assert again == model
    assert again.size == model.size


@pytest.mark.parametrize("kind", [CensoredGaussian, SquashedGaussian])
@pytest.mark.parametrize(
    ("low", "high"),
    [((1.0,), (-1.0,)), ((0.0,), (0.0,)), ((-np.inf,), (1.0,)), ((0.0,), (np.nan,)), ((0.0,), ())],
)
def test_bounds_that_make_no_sense_are_refused(kind, low, high):
    with pytest.raises(InvalidInputError, match="expected finite bounds, the lower first"):
        kind(low, high)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_is_between_none_and_all(share):
    with pytest.raises(InvalidInputError, match="uniform share"):
        UniformMixture(Categorical(2), share)
