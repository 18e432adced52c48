"""Roll-outs of evaluated rewards join the projection as a search proceeds."""

from typing import Any

import numpy as np
import pytest

import boirl
from boirl.errors import InvalidInputError, SaturationWarning, SolverError
from boirl.evaluation import Evaluation
from boirl.policies.bellman import TabularSolver
from boirl.projections import LogRho
from boirl.search.growth import (
    ROLLOUTS_IF_BLIND,
    ROLLOUTS_PER_POLICY,
    GrowingRollouts,
    build_growth,
)
from boirl.search.sampler import FIT
from boirl.search.settings import SearchSettings
from boirl.search.study import Study
from boirl.surrogate import Surrogate
from tests.problem.learned import build, trained


@pytest.fixture(scope="module")
def problem(random_problem):
    return random_problem(1000, "logsumexp")


@pytest.fixture(scope="module")
def start(problem):
    return SearchSettings(n_rollouts=3).build_surrogate(problem)


@pytest.fixture(scope="module")
def evaluations(problem):
    thetas = problem.box.from_unit(np.random.default_rng(1000).random((9, 2)))
    return [problem.evaluate(theta) for theta in thetas]


def without_policies(evaluation):
    return Evaluation(evaluation.theta, evaluation.nll)


@pytest.fixture
def no_solver(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("solved")

    monkeypatch.setattr(TabularSolver, "solve_batch", refuse)


@pytest.mark.parametrize(("count", "used"), [(0, 0), (1, 1), (3, 2), (5, 4), (9, 8), (40, 8)])
def test_the_policies_of_the_first_evaluations_join_in_stages(
    problem, start, evaluations, count, used
):
    more = (evaluations * 5)[:count]
    grown = GrowingRollouts(problem, start, seed=7)(more)
    assert [len(one) for one in grown.projection.rollouts] == [3 + ROLLOUTS_PER_POLICY * used] * 5
    assert (grown is start) == (used == 0)
    assert grown.projection.compares_policies == (used > 0)
    for before, after in zip(start.projection.rollouts, grown.projection.rollouts, strict=True):
        np.testing.assert_array_equal(after.subset(range(3)).states, before.states)


def test_kept_policies_are_rolled_out_without_a_solver(problem, start, evaluations, no_solver):
    grown = GrowingRollouts(problem, start, seed=7)(evaluations)
    assert len(grown.projection.rollouts[0]) == 3 + 8 * ROLLOUTS_PER_POLICY


def test_policies_that_were_not_kept_are_solved_for_and_give_the_same(problem, start, evaluations):
    kept = GrowingRollouts(problem, start, seed=7)(evaluations)
    solved = GrowingRollouts(problem, start, seed=7)([without_policies(e) for e in evaluations])
    assert solved.projection.fingerprint() == kept.projection.fingerprint()


def test_roll_outs_follow_from_the_evaluations_and_the_seed(problem, start, evaluations):
    gradually, at_once, other = (GrowingRollouts(problem, start, seed) for seed in (7, 7, 8))
    for count in range(1, 5):
        last = gradually(evaluations[:count])
    assert last.projection.fingerprint() == at_once(evaluations[:4]).projection.fingerprint()
    assert last.projection.fingerprint() != other(evaluations[:4]).projection.fingerprint()
    # Nothing is built again while no stage is reached.
    assert at_once(evaluations[:5]) is at_once(evaluations[:4])


def test_failed_evaluations_have_no_roll_outs(problem, start, evaluations):
    failed = Evaluation((0.0, 0.0), 0.0, failure="lost")
    grown = GrowingRollouts(problem, start, seed=7)
    mixed = grown([failed, *evaluations[:2]])
    assert len(mixed.projection.rollouts[0]) == 3 + 2 * ROLLOUTS_PER_POLICY
    assert grown([failed]) is start


def test_learned_policies_that_are_gone_are_an_error():
    problem = build()
    start = SearchSettings(n_rollouts=2, n_demonstrations=3).build_surrogate(problem)
    kept, gone = problem.evaluate((0.1, 0.1), seed=1), problem.evaluate((0.2, 0.1), seed=1)
    trained.clear()
    grow = GrowingRollouts(problem, start, seed=7)
    with pytest.raises(SolverError, match="artifacts folder that it was run with"):
        grow([without_policies(gone), kept])
    assert trained == []


def test_the_surrogate_is_the_same_but_for_its_projection(problem, evaluations):
    settings = SearchSettings(n_rollouts=3, projection="rho", linear=False, scale="log")
    start = settings.build_surrogate(problem)
    grown = GrowingRollouts(problem, start, seed=7)(evaluations[:2])
    assert type(grown.projection) is type(start.projection)
    assert (grown.kernel, grown.scale, grown.n_demonstrations) == (
        start.kernel,
        start.scale,
        start.n_demonstrations,
    )


def growth_of(problem, **options):
    settings = SearchSettings(**options)
    return build_growth(problem, settings.build_surrogate(problem), settings)


def test_roll_outs_grow_where_they_are_asked_to(problem):
    assert not growth_of(problem).always
    assert growth_of(problem, rollouts="solved").always
    assert growth_of(problem, rollouts="uniform") is None
    assert growth_of(problem, rollouts="solved", kernel="rbf") is None
    assert growth_of(problem, rollouts="solved").n_rollouts == ROLLOUTS_PER_POLICY
    with pytest.raises(InvalidInputError, match="rollouts is 'many'"):
        growth_of(problem, rollouts="many")


def test_roll_outs_grow_where_policies_are_learned():
    assert growth_of(build()).always
    assert growth_of(build(), rollouts="uniform") is None


@pytest.mark.parametrize("better", ["with", "without"])
def test_the_evidence_decides_whether_roll_outs_join(
    problem, start, evaluations, monkeypatch, better
):
    grow = GrowingRollouts(problem, start, seed=7, always=False)
    assert grow(evaluations[:1]) is start, "one evaluation is evidence of nothing"
    monkeypatch.setattr(
        Surrogate, "log_evidence", lambda one, _: float((one is start) == (better == "without"))
    )
    assert (grow(evaluations[:4]) is start) == (better == "without")


def test_roll_outs_that_say_nothing_are_given_up():
    """Of uniform behaviour, on a line where only the demonstrator ever reaches the end."""
    states = np.arange(30)
    next_states = np.stack([np.maximum(states - 1, 0), np.minimum(states + 1, 29)], axis=1)
    mdp = boirl.TabularMDP.from_next_states(next_states, gamma=0.99)
    features = np.stack([states == 29, (states > 20) & (states < 29)], axis=1).astype(float)
    reward = boirl.LinearReward(features, {"end": (0.0, 5.0), "before": (-5.0, 5.0)})
    blank = boirl.TabularProblem(mdp, reward)
    shown = blank.demonstrate((3.0, 1.0), 20, seed=1000, horizon=60)
    problem = boirl.TabularProblem(mdp, reward, shown)
    growth = growth_of(problem)
    rng = np.random.default_rng(1000)
    seen = [problem.evaluate(theta) for theta in problem.box.from_unit(rng.random((16, 2)))]
    assert len(growth(seen).projection.rollouts[0]) > len(growth.start.projection.rollouts[0])


def stuck():
    """Two states that nobody leaves: all roll-outs look like the demonstrations."""
    mdp = boirl.TabularMDP.from_next_states(np.array([[0, 0], [1, 1]]), gamma=0.9)
    reward = boirl.LinearReward(np.eye(2), {"left": (0.0, 1.0), "right": (0.0, 1.0)})
    shown = boirl.Demonstrations.from_arrays([[0, 0], [1, 1]], [[0, 1], [1, 0]])
    return boirl.TabularProblem(mdp, reward, shown)


def test_saturated_roll_outs_are_warned_of_and_the_search_proceeds():
    with pytest.warns(SaturationWarning, match="policies="):
        found = boirl.explore(stuck(), evaluations=4, rollouts="uniform")
    assert np.isfinite(found.nll).all()


def fits(problem, evaluations):
    """Numbers of the trials that fitted hyperparameters, and what those fits were of."""
    study = Study(problem, seed=1001, rollouts="solved", n_initial=1)
    study.run(evaluations)
    attributes = [trial.system_attrs for trial in study.optuna_study.trials]
    return {number: one[FIT] for number, one in enumerate(attributes) if FIT in one}


def test_hyperparameters_are_refitted_when_the_projection_has_grown(problem):
    found = fits(problem, 13)
    assert set(found) >= {1, 2, 3, 4, 5, 6, 8, 10, 12}
    # One more evaluation than at the last fit is no reason for another one; roll-outs are.
    assert found[8]["projection"] != found[6]["projection"]
    assert found[12]["projection"] == found[10]["projection"] == found[8]["projection"]


def test_roll_outs_grow_on_where_those_of_the_uniform_policy_say_nothing(
    problem, start, evaluations
):
    more = (evaluations * 5)[:40]
    sighted, blind = (GrowingRollouts(problem, start, seed=7, blind=one) for one in (False, True))
    first = {
        one: grow(more[:8]).projection.fingerprint() for one, grow in ((0, sighted), (1, blind))
    }
    assert sighted(more).projection.fingerprint() == first[0]
    assert blind(more).projection.fingerprint() != first[1]
    assert {len(one) for one in blind(more).projection.rollouts} == {3 + 8 * ROLLOUTS_IF_BLIND}


def test_roll_outs_are_of_the_best_reward_and_of_those_farthest_apart(problem, monkeypatch):
    monkeypatch.setattr("boirl.search.growth.MOST_POLICIES", 3)
    ends = [(0.0, 0.0), (0.01, 0.0), (0.5, 0.5), (0.51, 0.5), (1.0, 1.0), (0.99, 1.0)]
    box = problem.box
    unit = [[one[0], *[one[1]] * (box.dimension - 1)] for one in ends]
    evaluations = [
        Evaluation(tuple(box.from_unit(np.array(one))), nll=abs(number - 3.0))
        for number, one in enumerate(unit)
    ]
    growth = build_growth(
        problem, SearchSettings(seed=1).build_surrogate(problem), SearchSettings()
    )
    assert isinstance(growth, GrowingRollouts)
    assert list(growth._spread(evaluations[:2])) == [0, 1]
    assert list(growth._spread(evaluations)) == [0, 3, 4]


def test_saturated_roll_outs_grow_from_evaluated_rewards(tmp_path):
    town = boirl.load_problem("road-network", n_links=200, seed=0, n_demonstrations=10)
    study = Study(town, seed=1000, n_initial=2)
    assert study.sampler.surrogate.projection.is_saturated(town.box)
    found = study.run(evaluations=5)
    projection = found.surrogate.projection
    assert isinstance(projection, LogRho)
    assert not projection.is_saturated(town.box)
    assert {len(one) for one in projection.rollouts} == {5 + 4 * ROLLOUTS_IF_BLIND}
    options: dict[str, Any] = {
        "seed": 1000,
        "n_initial": 2,
        "storage": f"sqlite:///{tmp_path}/search.db",
    }
    boirl.explore(town, evaluations=3, **options)
    resumed = boirl.explore(town, evaluations=5, **options)
    np.testing.assert_array_equal(resumed.thetas, found.thetas)
    found.save(tmp_path / "rewards.npz")
    loaded = boirl.RewardSet.load(tmp_path / "rewards.npz")
    np.testing.assert_array_equal(loaded.predict_nll(found.thetas), found.predict_nll(found.thetas))


def test_gridworld_needs_no_growth_but_may_have_it(gridworld):
    assert not growth_of(gridworld, rollouts="auto").start.projection.is_saturated(gridworld.box)
    found = boirl.explore(gridworld, evaluations=6, rollouts="solved")
    assert len(found.surrogate.projection.rollouts[0]) == 5 + 4 * ROLLOUTS_PER_POLICY
