"""Maximum-entropy IRL: descents, several solutions, and networks."""

import numpy as np
import pytest

import boirl
from boirl import baselines
from boirl.errors import InvalidInputError, SolverError


@pytest.fixture(scope="module")
def run(gridworld):
    return baselines.get("maxent").run(gridworld, iterations=100, seed=0)


def test_the_lowest_nll_is_found(run, gridworld):
    found = boirl.explore(gridworld, evaluations=30, seed=0)
    assert run.best.nll <= found.best_nll + 1e-4
    expert = gridworld.esor(gridworld.truth)
    assert gridworld.esor(run.best.theta) >= expert
    _, gradient = gridworld.nll_and_gradient(run.best.theta)
    at_border = np.isclose(run.best.theta, gridworld.box.low) | np.isclose(
        run.best.theta, gridworld.box.high
    )
    assert np.abs(gradient[~at_border]).max() < 1e-2


def test_several_starts_give_several_behaviours(run, gridworld):
    assert len(run.solutions) >= 2
    policies = [gridworld.policy(theta) for theta in run.solutions]
    distances = gridworld.behaviour_distances(policies)
    assert distances[0, 1] > gridworld.same_behaviour
    assert np.diff(gridworld.nll_batch(run.solutions)).min() > 0


def test_twenty_parameters_are_no_obstacle():
    problem = boirl.load_problem("terrain")
    run = baselines.get("maxent").run(problem, iterations=40, seed=0)
    assert run.best.nll < problem.nll(problem.truth)


def test_a_descent_ends_where_there_is_no_policy(random_problem, monkeypatch):
    problem = random_problem(0, "logsumexp")
    real = type(problem).nll_and_gradient
    calls = []

    def sometimes(self, theta):
        calls.append(theta)
        if len(calls) == 3:
            raise SolverError("no values")
        return real(self, theta)

    monkeypatch.setattr(type(problem), "nll_and_gradient", sometimes)
    run = baselines.get("maxent").run(problem, iterations=12, seed=0)
    assert np.isnan(run.nll).sum() == 1
    assert run[2].facts["start"] == 1
    assert run[3].facts["start"] == 2


@pytest.mark.parametrize("name", ["maxent", "deep-maxent"])
def test_learned_policies_are_refused_in_one_line(name):
    class Learned:
        learns, name = True, "maze"

    with pytest.raises(InvalidInputError, match=r"'maze'.*use gcl or airl") as refused:
        baselines.get(name).run(Learned(), iterations=1)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("maxent", {"steps": 0}, "steps is 0"),
        ("maxent", {"tolerance": 0.0}, "tolerance is 0"),
        ("deep-maxent", {"objective": "x"}, "objective is 'x'"),
        ("deep-maxent", {"learning_rate": -1.0}, "learning_rate is -1"),
        ("deep-maxent", {"reward": "table"}, "reward is 'table'"),
    ],
)
def test_wrong_settings_are_named(name, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        baselines.get(name, **settings)


@pytest.mark.parametrize("objective", ["likelihood", "visits"])
def test_a_network_explains_the_demonstrations(gridworld, objective):
    run = baselines.get("deep-maxent", objective=objective).run(gridworld, 150, seed=103)
    assert run.nll[0] > run.best.nll + 1.0
    # The network is not bound to the family and may fit a little better than the truth.
    assert run.best.nll < 1.01 * gridworld.nll(gridworld.truth)
    policy = gridworld.solve(run.best.reward, run.best.theta)
    assert gridworld.true_return(policy) > 0.95 * gridworld.esor(gridworld.truth)


def test_a_network_on_roads_improves_and_its_reward_is_written(tmp_path):
    town = boirl.load_problem("road-network", n_links=200, seed=0, n_demonstrations=50)
    run = baselines.get("deep-maxent").run(town, 60, seed=1)
    assert run.nll[0] > 1.4 * town.nll(town.truth)
    assert run.best.nll < 1.01 * town.nll(town.truth)
    run.save(tmp_path)
    with np.load(tmp_path / "deep-maxent.npz") as arrays:
        assert arrays["rewards"].shape == (town.mdp.n_states, 1)


def test_theta_may_be_learned_by_the_same_steps(gridworld):
    run = baselines.get("deep-maxent", reward="theta", learning_rate=0.05).run(gridworld, 60, 1)
    assert run.best.reward is None
    assert run.best.nll < run.nll[0]
    gridworld.box.check(run.best.theta)
