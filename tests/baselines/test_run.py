"""What a baseline returns is a result like that of a search."""

import numpy as np
import pytest
import torch

import boirl
from boirl import baselines
from boirl.baselines import BaselineRun
from boirl.errors import InvalidInputError, SolverError
from boirl.evaluation import Evaluation
from boirl.results import Result, RewardSet
from boirl.rewards import Transitions
from tests.contracts.baseline_contract import assert_same_run

SETTINGS = {
    "maxent": {},
    "random": {},
    "birl": {},
    "deep-maxent": {"reward": "network"},
}
"""A method with solutions, one with nothing, one with samples, and one with networks."""


@pytest.fixture(scope="module", params=SETTINGS)
def run(request, gridworld):
    return baselines.get(request.param, **SETTINGS[request.param]).run(gridworld, 30, seed=1000)


@pytest.fixture(scope="module")
def loaded(run, tmp_path_factory):
    """The same run after it was written, read without its problem."""
    path = tmp_path_factory.mktemp("runs") / "run.npz"
    run.save(path)
    return BaselineRun.load(path)


def scripted(problem, **options):
    """A run of four evaluations, one of which failed."""
    poor, good = (-1.0, 5.0, 0.0), problem.truth
    evaluations = (
        Evaluation(poor, 30.0, n_policies=2, environment_steps=10, seconds=1.0),
        Evaluation(poor, np.nan, failure="no values", seconds=2.0),
        Evaluation(good, 20.0, nll_se=0.5, seconds=3.0),
        Evaluation(good, 21.0, environment_steps=5, seconds=4.0),
    )
    return BaselineRun(problem, evaluations, "scripted", **options)


# The protocol of results.


def test_arrays_are_those_of_the_evaluations(gridworld):
    run = scripted(gridworld)
    assert isinstance(run, Result)
    assert len(run) == len(run.evaluations) == 4
    assert run.names == gridworld.box.names
    np.testing.assert_array_equal(run.thetas, [one.theta for one in run.evaluations])
    np.testing.assert_array_equal(run.nll, [30.0, np.nan, 20.0, 21.0])
    np.testing.assert_array_equal(run.nll_se, [0.0, 0.0, 0.5, 0.0])
    np.testing.assert_array_equal(run.seconds, [1.0, 2.0, 3.0, 4.0])
    assert run.failures == (None, "no values", None, None)
    assert (run.n_policies, run.environment_steps) == (5, 15)


def test_the_best_is_a_theta(gridworld):
    run = scripted(gridworld)
    assert (run.best_index, run.best_nll) == (2, 20.0)
    np.testing.assert_array_equal(run.best, gridworld.truth)
    assert run.indices_within(0.05).tolist() == [2, 3]
    assert run.within(10.0, absolute=True).shape == (3, 3)


def test_a_truncated_run_has_nothing_that_came_later(gridworld):
    run = scripted(gridworld, samples=np.ones((5, 3)), facts={"largest R-hat": 1.0})
    early = run.truncate(1)
    assert (len(early), early.best_nll) == (1, 30.0)
    assert early.returned == {}
    assert "R-hat" not in str(early)


def test_a_failed_evaluation_has_no_policy(gridworld):
    with pytest.raises(SolverError, match="no values"):
        scripted(gridworld).policy(1)


def test_policies_that_were_not_kept_are_solved_again(run, gridworld):
    dropped = [i for i, one in enumerate(run.evaluations) if not one.policies and one.ok]
    policy = run.policy(dropped[-1])
    nll = boirl.problem.likelihood.negative_log_likelihood(policy, gridworld.demonstrations)
    assert nll == pytest.approx(run.nll[dropped[-1]], abs=1e-9)


def test_groups_behave_alike_and_have_no_volume(run, gridworld):
    groups = run.groups()
    assert groups[0].nll == run.best_nll
    assert groups[0].indices[0] == run.best_index
    members = np.sort(np.concatenate([group.indices for group in groups]))
    np.testing.assert_array_equal(members, np.sort(run.indices_within(0.10)))
    for group in groups:
        assert np.isnan(group.volume)
        assert group.width <= gridworld.same_behaviour
        np.testing.assert_array_equal(group.thetas, run.thetas[group.indices])
        assert run.distances(group.indices).max() == pytest.approx(group.width)


def test_groups_differ_somewhere(gridworld):
    run = baselines.get("maxent").run(gridworld, 60, seed=1000)
    first, second, *_ = run.groups()
    assert run.differences(first, second, n=3)


def test_the_truth_is_evaluated_for_comparison(run, gridworld):
    assert run.truth.nll == pytest.approx(gridworld.nll(gridworld.truth))


def test_text_names_method_cost_and_best(run):
    text = str(run)
    assert text.startswith(f"gridworld, {run.method}: 30 evaluations, {run.n_policies} policy opt")
    assert f"best NLL {run.best_nll:.4f}, in evaluation {run.best_index}" in text
    assert ("best reward: steepness" in text) == (run.method != "deep-maxent")
    assert ("solutions, best first (steepness, midpoint, translation)" in text) == (
        run.method == "maxent"
    )
    assert ("150 samples (95 % interval, median)" in text) == (run.method == "birl")
    assert repr(run) == f"BaselineRun('gridworld', {run.method}, 30 evaluations, " + (
        f"best NLL {run.best_nll:.4f})"
    )


def test_tables_have_the_parameters_where_they_have_names(run, tmp_path):
    run.save_table(tmp_path / "run.csv")
    head, *lines = (tmp_path / "run.csv").read_text().splitlines()
    names = head.split(",")[5:]
    expected = [] if run.method == "deep-maxent" else list(run.names)
    assert names == expected
    thetas = [[float(value) for value in line.split(",")[5:]] for line in lines]
    if expected:
        np.testing.assert_array_equal(thetas, run.thetas)
    else:
        assert thetas == [[]] * 30


# Files.


def test_a_loaded_run_is_the_same(run, loaded):
    assert_same_run(loaded, run)
    np.testing.assert_array_equal(loaded.seconds, run.seconds)
    assert (loaded.method, loaded.facts) == (run.method, run.facts)
    assert list(loaded.returned) == list(run.returned)
    for name, thetas in run.returned.items():
        np.testing.assert_array_equal(loaded.returned[name], thetas)
    assert str(loaded) == str(run)
    assert repr(loaded) == repr(run)
    assert loaded.problem.fingerprint() == run.problem.fingerprint()
    assert loaded.problem.recipe == run.problem.recipe


def test_gradients_and_log_likelihoods_are_kept(run, loaded):
    for one, other in zip(run.evaluations, loaded.evaluations, strict=True):
        for name in ("gradient", "log_likelihoods"):
            before, after = getattr(one, name), getattr(other, name)
            assert (before is None) == (after is None)
            if before is not None:
                np.testing.assert_array_equal(after, before)


def test_the_policy_of_the_best_is_there_after_loading(run, loaded, monkeypatch):
    expected = run.policy(run.best_index).log_probabilities
    if run.method != "birl":
        # Nothing is solved for what was kept.
        monkeypatch.setattr(type(loaded.problem.solver), "solve", None)
    found = loaded.policy(loaded.best_index).log_probabilities
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_every_policy_is_there_after_loading(run, loaded):
    for index in (0, 7, 29):
        np.testing.assert_allclose(
            loaded.policy(index).log_probabilities, run.policy(index).log_probabilities, atol=1e-9
        )


def test_groups_are_the_same_after_loading(run, loaded):
    before, after = run.groups(), loaded.groups()
    assert [group.indices.tolist() for group in after] == [g.indices.tolist() for g in before]


def test_networks_pay_the_same_after_loading(gridworld, tmp_path):
    run = baselines.get("gcl", reward="network").run(gridworld, 3, seed=1000)
    run.save(tmp_path / "run.npz")
    found = boirl.load_result(tmp_path / "run.npz")
    for one, other in zip(run.evaluations, found.evaluations, strict=True):
        theta = np.array([one.theta])
        np.testing.assert_array_equal(
            gridworld.mdp.expected_rewards(other.reward, theta),
            gridworld.mdp.expected_rewards(one.reward, theta),
        )


def test_a_failure_is_kept(gridworld, tmp_path):
    run = scripted(gridworld)
    run.save(tmp_path / "run.npz")
    found = BaselineRun.load(tmp_path / "run.npz")
    assert found.failures == run.failures
    np.testing.assert_array_equal(found.nll, run.nll)


def test_a_run_is_no_search(gridworld, tmp_path):
    scripted(gridworld).save(tmp_path / "run.npz")
    with pytest.raises(InvalidInputError, match=r"holds a BaselineRun; expected a RewardSet"):
        RewardSet.load(tmp_path / "run.npz")


def test_a_run_does_not_fit_another_problem(gridworld, tmp_path):
    scripted(gridworld).save(tmp_path / "run.npz")
    fewer = gridworld.with_demonstrations(gridworld.demonstrations.subset(range(5)))
    with pytest.raises(InvalidInputError, match="a result for another problem"):
        BaselineRun.load(tmp_path / "run.npz", fewer)


# Where policies are learned.


@pytest.fixture(scope="module", params=["theta", "network"])
def learned(request):
    pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
    from tests.baselines.small_maze import small_maze

    return baselines.get("airl", reward=request.param).run(small_maze(), 12, seed=1000)


def test_learned_policies_are_there_after_loading(learned, tmp_path):
    learned.save(tmp_path / "run.npz")
    found = BaselineRun.load(tmp_path / "run.npz", learned.problem)
    assert str(found) == str(learned)
    states = learned.problem.demonstrations.states
    actions = learned.problem.demonstrations.actions
    np.testing.assert_array_equal(
        found.policy(found.best_index).log_prob(states, actions),
        learned.policy(learned.best_index).log_prob(states, actions),
    )
    for one, other in zip(learned.evaluations, found.evaluations, strict=True):
        assert (one.reward is None) == (other.reward is None)
        if one.reward is not None:
            steps = Transitions(states[:-1], actions[:-1], states[1:])
            scale = torch.ones((1, 1), dtype=torch.float64)
            torch.testing.assert_close(other.reward(scale, steps), one.reward(scale, steps))


def test_learned_policies_that_were_not_kept_cannot_be_had_again(learned):
    dropped = [i for i, one in enumerate(learned.evaluations) if not one.policies]
    with pytest.raises(SolverError, match="was not kept"):
        learned.policy(dropped[0])


def test_groups_are_of_the_policies_that_were_kept(learned):
    kept = [i for i, one in enumerate(learned.evaluations) if one.policies]
    groups = learned.groups(tolerance=10.0)
    members = np.sort(np.concatenate([group.indices for group in groups]))
    np.testing.assert_array_equal(members, kept)
    assert len(kept) < len(learned)


def test_pictures_are_drawn_where_policies_are_learned(learned, tmp_path):
    names = {path.name for path in boirl.drawing.save_pictures(learned, tmp_path)}
    assert names == {"convergence.png", "paths.png"}


def test_a_reward_of_unknown_code_is_not_lost_in_silence(learned, tmp_path):
    (one, *_) = learned.evaluations
    other = boirl.CallableReward(lambda theta, steps: theta[:, :1], {"scale": (0.0, 2.0)})
    run = BaselineRun(
        learned.problem, (Evaluation((1.0,), one.nll, policies=one.policies, reward=other),), "own"
    )
    with pytest.raises(InvalidInputError, match=r"cannot carry the reward .*CallableReward"):
        run.save(tmp_path / "run.npz")
