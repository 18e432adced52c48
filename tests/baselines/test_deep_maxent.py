"""Deep maximum-entropy IRL: a network on the features of states."""

import numpy as np
import pytest

import boirl
from boirl import baselines
from boirl.baselines.deep_maxent import _surplus_of_visits
from boirl.errors import InvalidInputError, SolverError
from boirl.rewards.network import NetworkReward


@pytest.mark.parametrize("objective", ["likelihood", "visits"])
def test_a_network_explains_the_demonstrations(gridworld, objective):
    run = baselines.get("deep-maxent", objective=objective).run(gridworld, 150, seed=1003)
    assert run.nll[0] > run.best_nll + 1.0
    # The network is not bound to the family and may fit a little better than the truth.
    assert run.best_nll < 1.01 * gridworld.nll(gridworld.truth)
    policy = run.policy(run.best_index)
    assert gridworld.true_return(policy) > 0.95 * gridworld.esor(gridworld.truth)


def test_a_network_on_roads_improves_and_what_it_pays_is_written(tmp_path):
    town = boirl.load_problem("road-network", n_links=200, seed=0, n_demonstrations=50)
    run = baselines.get("deep-maxent").run(town, 60, seed=1001)
    assert run.nll[0] > 1.4 * town.nll(town.truth)
    assert run.best_nll < 1.01 * town.nll(town.truth)
    run.save(tmp_path / "run.npz")
    found = boirl.load_result(tmp_path / "run.npz")
    reward = found.evaluations[found.best_index].reward
    paid = town.mdp.expected_rewards(reward, np.ones((1, 1)))[0]
    assert paid.shape == (town.mdp.n_states, 1)
    assert np.ptp(paid) > 0.0
    nll = boirl.problem.likelihood.negative_log_likelihood(
        found.policy(found.best_index), town.demonstrations
    )
    assert nll == pytest.approx(run.best_nll, abs=1e-9)


def test_theta_may_be_learned_by_the_same_steps(gridworld):
    run = baselines.get("deep-maxent", reward="theta", learning_rate=0.05).run(gridworld, 60, 1001)
    assert all(one.reward is None for one in run.evaluations)
    assert run.best_nll < run.nll[0]
    gridworld.box.check(run.thetas)


def test_networks_of_earlier_evaluations_do_not_change(gridworld):
    rewards = []

    def note(evaluation, number):
        assert isinstance(evaluation.reward, NetworkReward)
        rewards.append(gridworld.mdp.expected_rewards(evaluation.reward, np.ones((1, 1)))[0])

    run = baselines.get("deep-maxent").run(gridworld, 4, 0, callback=note)
    for one, before in zip(run.evaluations, rewards, strict=True):
        np.testing.assert_array_equal(
            gridworld.mdp.expected_rewards(one.reward, np.ones((1, 1)))[0], before
        )
    assert not np.allclose(rewards[0], rewards[3])


def test_visits_of_the_demonstrations_own_policy_leave_no_surplus(random_problem):
    problem = random_problem(3, "logsumexp", deterministic=True)
    policy = problem.policy((0.7, -1.2))
    starts = np.arange(4).repeat(2_000)
    drawn = problem.roll_out(policy, starts, 8, np.random.default_rng(0))
    shown = problem.with_demonstrations(drawn)
    np.testing.assert_allclose(_surplus_of_visits(shown, policy), 0.0, atol=0.02)
    other = _surplus_of_visits(shown, problem.policy((-1.0, 1.0)))
    assert np.abs(other).max() > 0.1
    # Every step is somewhere, under either policy.
    assert other.sum() == pytest.approx(0.0, abs=1e-9)


def test_failures_are_survived(random_problem, monkeypatch):
    calls = []

    def fail(*arguments):
        calls.append(arguments)
        raise SolverError("no values")

    monkeypatch.setattr("boirl.baselines.deep_maxent.explain", fail)
    run = baselines.get("deep-maxent").run(random_problem(0), 3)
    assert run.failures == ("no values",) * 3
    assert len(calls) == 3


def test_problems_without_numbered_states_are_refused_in_one_line():
    class Learned:
        is_model_free, name = True, "maze"

    with pytest.raises(InvalidInputError, match=r"'maze'.*use gcl or airl") as refused:
        baselines.get("deep-maxent").run(Learned(), 1)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "x"}, "objective is 'x'; expected likelihood or visits"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0; expected a positive number"),
        ({"reward": "table"}, "reward is 'table'; expected 'theta' or 'network'"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        baselines.get("deep-maxent", **settings)
