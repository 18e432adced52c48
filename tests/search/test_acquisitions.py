import numpy as np
import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from scipy.stats import qmc

from boirl.errors import InvalidInputError
from boirl.maximise import RAW_SAMPLES, maximise
from boirl.projections import Identity
from boirl.search.acquisitions import (
    ACQUISITIONS,
    TOLERANCES,
    MarginalDoubt,
    MarginalLogEI,
    MarginalOptimism,
    MarginalSD,
    _refine,
    improve_explore,
    level_set,
    log_ei,
    set_sampling,
)
from boirl.surrogate.fitting import FittedSurrogate, Surrogate
from boirl.surrogate.kernels import KERNELS
from boirl.types import Box


def _valley(size):
    """A surrogate of a parabola with its lowest point at (0.3, 0.6)."""
    box = Box(("a", "b"), np.zeros(2), np.ones(2))
    thetas = qmc.Sobol(2, rng=np.random.default_rng(0)).random(16)[:size]
    nll = 10.0 * ((thetas - [0.3, 0.6]) ** 2).sum(axis=1)
    fitted = Surrogate(KERNELS["rbf"], Identity(box), box, "linear").fit(thetas, nll)
    return fitted


@pytest.fixture(scope="module")
def valley():
    return _valley(16)


@pytest.fixture(scope="module")
def few_in_the_valley():
    return _valley(5)


@pytest.fixture(scope="module")
def gridworld_search(gridworld, gridworld_log_rho):
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((10, 3)))
    nll = gridworld.nll_batch(thetas)
    fitted = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box).fit(thetas, nll)
    return fitted


@pytest.mark.parametrize("kind", ["log-ei", "sd"])
def test_climbing_never_ends_below_the_best_of_the_sample(gridworld_search, kind):
    surrogate = gridworld_search
    acquisition = MarginalLogEI(surrogate) if kind == "log-ei" else MarginalSD(surrogate)
    raw = qmc.Sobol(3, rng=np.random.default_rng(4)).random(RAW_SAMPLES)
    with torch.no_grad():
        best_raw = float(acquisition(torch.tensor(raw).unsqueeze(-2)).max())
    unit, value = maximise(acquisition, surrogate.best_unit, np.random.default_rng(4))
    assert value >= best_raw
    assert ((unit >= 0.0) & (unit <= 1.0)).all()
    assert float(acquisition(torch.tensor(unit)[None, None])) == pytest.approx(value, rel=1e-6)


def test_expected_improvement_is_that_of_botorch(gridworld_search):
    surrogate = gridworld_search
    points = torch.tensor(np.random.default_rng(1).random((20, 3))).unsqueeze(-2)
    with torch.no_grad():
        found = MarginalLogEI(surrogate)(points)
        reference = LogExpectedImprovement(surrogate.model, surrogate.nll.min(), maximize=False)(
            points
        )
    torch.testing.assert_close(found, reference, rtol=1e-5, atol=1e-5)


def test_the_lowest_point_of_a_well_known_valley_is_proposed(valley):
    proposal = log_ei(valley, np.random.default_rng(0))
    assert proposal.purpose == "improve"
    np.testing.assert_allclose(proposal.unit, [0.3, 0.6], atol=0.05)


def test_improvement_comes_first_while_it_is_in_sight(few_in_the_valley):
    proposal = improve_explore(few_in_the_valley, np.random.default_rng(0))
    assert proposal.purpose == "improve"
    assert (
        proposal.unit.tolist() == log_ei(few_in_the_valley, np.random.default_rng(0)).unit.tolist()
    )


def test_a_close_up_refines_the_best_of_many(valley):
    proposal = _refine(valley, np.random.default_rng(0))
    assert proposal.purpose == "refine"
    np.testing.assert_allclose(proposal.unit, [0.3, 0.6], atol=0.05)


def test_what_the_whole_surrogate_knows_to_be_bad_is_not_refined(valley, monkeypatch):
    monkeypatch.setattr(FittedSurrogate, "best_output", property(lambda self: -100.0))
    assert _refine(valley, np.random.default_rng(0)) is None


def test_where_nothing_can_be_gained_evaluations_still_go_to_what_is_least_known(monkeypatch):
    monkeypatch.setattr(FittedSurrogate, "resolution", 1e6)
    explored = 0
    for size in range(9, 15):
        surrogate = _valley(size)
        proposal = improve_explore(surrogate, np.random.default_rng(0))
        assert proposal.purpose != "improve"
        if proposal.purpose == "explore":
            explored += 1
            grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 41)] * 2), axis=-1)
            _, sd = surrogate.posterior(np.vstack([proposal.unit, grid.reshape(-1, 2)]))
            assert sd[0] >= sd[1:].max() * (1.0 - 1e-3)
    assert explored >= 1


def test_the_border_of_the_set_is_where_doubt_is_largest(valley):
    surrogate = valley
    tolerance = 3.0
    unit, _ = maximise(
        MarginalDoubt(surrogate, tolerance), surrogate.best_unit, np.random.default_rng(0)
    )
    mean, sd = surrogate.posterior(surrogate.box.from_unit(unit)[None])
    assert abs(mean[0] - (1.0 + tolerance) * surrogate.nll.min()) <= 1.96 * sd[0] + 1e-3


def _noisy_valley(noise, seed=0, size=24, lucky=True):
    """The valley under noise; one of four evaluations of (0.9, 0.1), a poor theta, is lucky."""
    box = Box(("a", "b"), np.zeros(2), np.ones(2))
    rng = np.random.default_rng(seed)
    thetas = np.concatenate([rng.random((size - 4, 2)), np.full((4, 2), [0.9, 0.1])])
    nll = 10.0 * ((thetas - [0.3, 0.6]) ** 2).sum(axis=1) + noise * rng.standard_normal(size)
    if lucky:
        nll[-1] = nll.min() - noise
    fitted = Surrogate(KERNELS["rbf"], Identity(box), box, "linear").fit(
        thetas, nll, nll_se=np.full(size, noise)
    )
    return fitted


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("acquisition", [log_ei, improve_explore])
def test_luck_is_not_chased(acquisition, seed):
    surrogate = _noisy_valley(1.0, seed)
    assert surrogate.best_output > surrogate.nll.min()
    proposal = acquisition(surrogate, np.random.default_rng(0))
    assert np.abs(proposal.unit - [0.9, 0.1]).max() > 0.1


def test_close_ups_that_promise_less_than_the_noise_propose_nothing():
    surrogate = _noisy_valley(0.2)
    assert _refine(surrogate, np.random.default_rng(0)) is None
    proposal = log_ei(surrogate, np.random.default_rng(0))
    np.testing.assert_allclose(proposal.unit, [0.3, 0.6], atol=0.25)


def test_improvements_within_the_noise_are_not_worth_an_evaluation():
    for noise in (0.1, 1.0):
        surrogate = _noisy_valley(noise, lucky=False)
        assert 0.25 * noise <= surrogate.resolution <= 0.5 * noise
    exact = _noisy_valley(1e-6, lucky=False)
    assert exact.resolution == pytest.approx(1e-3 * exact.nll.std(ddof=1))


def test_the_border_of_the_set_is_above_the_expected_best():
    surrogate = _noisy_valley(1.0)
    assert MarginalDoubt(surrogate, 0.0).limit == pytest.approx(surrogate.best_output)


def _raised_valley(size):
    """The valley from an NLL of 20 up, so that a share of the best is a distance worth the name."""
    low = _valley(size)
    return Surrogate(KERNELS["rbf"], Identity(low.box), low.box, "linear").fit(
        low.thetas, 20.0 + low.nll
    )


@pytest.fixture(scope="module", params=[8, 9, 15, 16])
def raised_valley(request):
    return _raised_valley(request.param)


@pytest.mark.parametrize("seed", range(3))
def test_level_set_proposes_where_doubt_is_largest(raised_valley, seed):
    proposal = level_set(raised_valley, np.random.default_rng(seed))
    assert proposal.purpose == "bound"
    # Of ridges, which are narrow here, climbing takes one that is about as high as the highest.
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 201)] * 2), axis=-1).reshape(-1, 2)
    shares = []
    for tolerance in TOLERANCES:
        doubt = MarginalDoubt(raised_valley, tolerance)
        with torch.no_grad():
            values = doubt(torch.tensor(np.vstack([proposal.unit, grid])).unsqueeze(-2)).numpy()
        shares.append(values[0] / values[1:].max())
    assert max(shares) >= 0.7


def test_level_set_sharpens_the_border_of_a_wide_set_and_of_a_narrow_one():
    """Whichever comes first: of two evaluations, each border has one."""
    sharpened = set()
    for size in (15, 16):
        surrogate = _raised_valley(size)
        proposal = level_set(surrogate, np.random.default_rng(0))
        mean, sd = surrogate.posterior(proposal.unit[None])
        borders = (1.0 + np.array(TOLERANCES)) * surrogate.nll.min()
        near = np.abs(mean[0] - borders) <= 1.96 * sd[0] + 1e-2
        sharpened |= set(np.flatnonzero(near).tolist())
    assert sharpened == {0, 1}


@pytest.mark.parametrize("seed", range(5))
def test_set_sampling_proposes_what_may_be_in_the_set(raised_valley, seed):
    proposal = set_sampling(raised_valley, np.random.default_rng(seed))
    assert proposal.purpose == "bound"
    mean, sd = raised_valley.posterior(proposal.unit[None])
    assert mean[0] - 3.0 * sd[0] <= (1.0 + max(TOLERANCES)) * raised_valley.nll.min()


def test_set_sampling_prefers_what_is_least_known_within_the_set(gridworld_search):
    """More so than a member of the set drawn at random."""
    surrogate = gridworld_search
    thetas = surrogate.box.from_unit(np.random.default_rng(0).random((4096, 3)))
    mean, sd = surrogate.posterior(thetas)
    members = [mean <= (1.0 + tolerance) * surrogate.nll.min() for tolerance in TOLERANCES]
    typical = min(np.median(sd[inside]) for inside in members)
    proposed = [set_sampling(surrogate, np.random.default_rng(seed)).unit for seed in range(5)]
    _, proposed_sd = surrogate.posterior(surrogate.box.from_unit(np.array(proposed)))
    assert (proposed_sd > typical).all()


def test_set_sampling_looks_elsewhere_with_another_seed(gridworld_search):
    first, other = (
        set_sampling(gridworld_search, np.random.default_rng(seed)).unit for seed in (0, 1)
    )
    assert not np.allclose(first, other)


def test_optimism_prefers_the_low_and_the_unknown(valley):
    points = torch.tensor(np.random.default_rng(1).random((20, 2))).unsqueeze(-2)
    with torch.no_grad():
        mean, sd = valley.marginals(points.squeeze(-2))
        found = MarginalOptimism(valley)(points)
    torch.testing.assert_close(found, 3.0 * sd - mean)


def test_random_ignores_the_surrogate(valley):
    proposal = ACQUISITIONS["random"](valley, np.random.default_rng(0))
    assert proposal.unit.tolist() == np.random.default_rng(0).random(2).tolist()


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_the_same_seed_gives_the_same_proposal_in_the_unit_cube(gridworld_search, name):
    first, again = (
        ACQUISITIONS[name](gridworld_search, np.random.default_rng(3)) for _ in range(2)
    )
    assert first.unit.tolist() == again.unit.tolist()
    assert first.purpose == again.purpose
    assert first.unit.shape == (3,)
    assert ((first.unit >= 0.0) & (first.unit <= 1.0)).all()


def test_an_unknown_acquisition_is_named():
    with pytest.raises(
        InvalidInputError, match="no acquisition 'ucb'; expected one of improve-expl"
    ):
        _ = ACQUISITIONS["ucb"]


class Opinion(Identity):
    """A projection that takes one theta for the likeliest."""

    def __init__(self, box, theta):
        super().__init__(box)
        self.theta = np.array(theta)

    def likeliest(self, box):
        return self.theta


@pytest.mark.parametrize(("theta", "is_new"), [([0.9, 0.2], True), ([0.505, 0.5], False)])
def test_what_the_projection_takes_for_likely_comes_first_once(theta, is_new):
    box = Box(("a", "b"), np.zeros(2), np.ones(2))
    thetas = np.array([[0.5, 0.5], [0.1, 0.9], [0.7, 0.7]])
    surrogate = Surrogate(KERNELS["rbf"], Opinion(box, theta), box, "linear")
    proposal = improve_explore(
        surrogate.fit(thetas, np.array([1.0, 2.0, 3.0])), np.random.default_rng(0)
    )
    assert (proposal.purpose == "likely") == is_new
    if is_new:
        assert proposal.unit.tolist() == theta
