"""CR-IRL: a set of rewards, each at its likeliest scale, and where it applies."""

import numpy as np
import pytest

from boirl import baselines
from boirl.baselines.cr_irl import CRIRL
from boirl.errors import InvalidInputError, SolverError
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem


class Free(CRIRL):
    """Clones every state on its own."""

    def policy_features(self, problem):
        return np.eye(problem.mdp.n_states)


def test_rewards_explain_more_than_chance_and_differ(gridworld):
    run = baselines.get("cr-irl").run(gridworld, 4, seed=1000)
    chance = gridworld.demonstrations.lengths.mean() * np.log(5.0)
    assert (run.nll < 0.99 * chance).all()
    assert len(set(run.nll.tolist())) == 4
    assert run.facts["compatible rewards"] >= run.facts["with a negative Hessian"]
    paid = [
        gridworld.mdp.expected_rewards(one.reward, np.ones((1, 1)))[0] for one in run.evaluations
    ]
    assert all(table.shape == (37, 5) for table in paid)
    assert "compatible rewards" in str(run)


def test_the_first_reward_does_not_depend_on_the_seed(gridworld):
    method = baselines.get("cr-irl", scale_policies=3)
    first, other = (method.run(gridworld, 2, seed=seed) for seed in (1, 2))
    assert first.nll[0] == other.nll[0]
    assert first.nll[1] != other.nll[1]


def test_the_scale_is_the_likeliest(gridworld):
    method = baselines.get("cr-irl", scale_policies=30)
    found = method.run(gridworld, 1).evaluations[0]
    table = gridworld.mdp.expected_rewards(found.reward, np.ones((1, 1)))[0]
    for factor in (0.8, 1.25):
        policy = gridworld.solver.solve(gridworld.mdp, factor * table)
        assert -gridworld.log_likelihoods(policy).mean() > found.nll
    assert found.n_policies > 5


def test_features_of_the_reward_may_be_what_the_policy_sees(gridworld):
    run = baselines.get("cr-irl", features="reward", scale_policies=3).run(gridworld, 1)
    assert run.facts["parameters of the cloned policy"] == 15


def test_failures_are_survived(random_problem, monkeypatch):
    problem = random_problem(1, count=30)

    def fail(*arguments, **options):
        raise SolverError("no values")

    monkeypatch.setattr(TabularProblem, "solve", fail)
    run = baselines.get("cr-irl", n_features=1).run(problem, 2)
    assert run.failures == ("no values",) * 2


def test_problems_it_does_not_apply_to_are_refused_in_one_line(random_problem, monkeypatch):
    class Learned:
        is_model_free, name = True, "maze"

    with pytest.raises(InvalidInputError, match=r"'maze'.*use gail, gcl or airl"):
        baselines.get("cr-irl").run(Learned(), 1)
    problem = random_problem(0)
    solver = TabularSolver("logsumexp", horizon=6)
    timed = TabularProblem(problem.mdp, problem.reward, problem.demonstrations, solver)
    with pytest.raises(InvalidInputError, match="depend on the steps left"):
        baselines.get("cr-irl").run(timed, 1)
    monkeypatch.setattr("boirl.baselines.cr_irl.MAX_PAIRS", 3)
    with pytest.raises(InvalidInputError, match=r"state-actions.* at most 3: give it fewer"):
        baselines.get("cr-irl").run(problem, 1)
    monkeypatch.undo()
    free = Free(tolerance=1e-2, ridge=1e-12)
    with pytest.raises(InvalidInputError, match=r"nothing but functions of states.*lower n_feat"):
        free.run(random_problem(1, count=30, gamma=1.0), 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": "colours"}, "features is 'colours'; expected 'graph' or 'reward'"),
        ({"n_features": 0}, "n_features is 0; expected at least 1"),
        ({"ridge": 0.0}, "ridge is 0.0; expected a positive number"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        baselines.get("cr-irl", **settings)
