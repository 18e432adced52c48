"""GP-IRL: exact slopes of the posterior, its answer, and where it applies."""

import numpy as np
import pytest

from boirl import baselines
from boirl.baselines.gp_irl import GPIRL, _explained
from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError, SolverError
from boirl.policies import TabularPolicy, TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward


def of_next(problem):
    table = problem.reward.table
    return LinearReward(table, {"first": (-2.0, 2.0), "second": (-2.0, 2.0)}, of_next=True)


@pytest.mark.parametrize("bellman", ["max", "boltzmann", "logsumexp"])
@pytest.mark.parametrize("arrival", [False, True])
def test_slopes_are_those_of_small_differences(random_problem, bellman, arrival):
    problem = random_problem(2, bellman)
    if arrival:
        problem = TabularProblem(
            problem.mdp, of_next(problem), problem.demonstrations, problem.solver
        )
    process = GPIRL(inducing=3).process(problem, 0)
    start = process.start(np.random.default_rng(1))
    evaluation, slope = _explained(problem, process, start)
    assert evaluation.nll == pytest.approx(
        -problem.log_likelihoods(problem.policy_of(evaluation)).mean(), abs=1e-9
    )
    for axis in (0, process.n_inducing, process.dimension - 1):
        step = np.zeros(process.dimension)
        step[axis] = 1e-5
        ends = [
            -_explained(problem, process, start + side * step)[0].facts["log_posterior"]
            for side in (-1, 1)
        ]
        assert slope[axis] == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-4, abs=1e-5)


def test_policies_may_depend_on_the_steps_left(random_problem):
    problem = random_problem(2, "logsumexp")
    solver = TabularSolver("logsumexp", horizon=6)
    timed = TabularProblem(problem.mdp, problem.reward, problem.demonstrations, solver)
    run = GPIRL(inducing=3).run(timed, 5, seed=0)
    assert np.isfinite(run.nll).all()
    assert run.best_nll < run.nll[0]


def test_the_reward_explains_the_demonstrations(gridworld):
    run = baselines.get("gp-irl").run(gridworld, 60, seed=1000)
    chosen = run.facts["most probable"]
    assert run.nll[chosen] < 1.01 * gridworld.nll(gridworld.truth)
    assert gridworld.true_return(run.policy(chosen)) > 0.95 * gridworld.esor(gridworld.truth)
    density = [one.facts["log_posterior"] for one in run.evaluations]
    assert chosen == int(np.argmax(density))
    # Coins decide; the state after the end has no say.
    assert len(run.facts["relevance of features"]) == 2
    assert "most probable" in str(run)


def test_a_rule_that_is_no_weighted_sum_is_learned():
    """On a line of states only the middle pays, which no weight of the position says."""
    position = np.linspace(-1.0, 1.0, 9)
    rewards = 3.0 * (np.abs(position) < 0.2)
    table = np.clip(np.arange(9)[:, None] + np.array([-1, 0, 1]), 0, 8)
    mdp = TabularMDP.from_next_states(table, 0.9)
    solver = TabularSolver("logsumexp")
    rng = np.random.default_rng(0)
    policy: TabularPolicy = solver.solve(mdp, rewards[:, None])
    shown = policy.sample(mdp, rng.integers(9, size=40), 6, rng)
    problem = TabularProblem(
        mdp, LinearReward(position[:, None], {"w": (-5.0, 5.0)}), shown, solver
    )
    run = baselines.get("gp-irl").run(problem, 60, seed=1001)
    chosen = run.evaluations[run.facts["most probable"]]
    paid = mdp.expected_rewards(chosen.reward, np.ones((1, 1)))[0][:, 0]
    assert paid.argmax() == 4
    weights = baselines.get("maxent").run(problem, 20, seed=1001)
    assert chosen.nll < weights.best_nll - 0.3


def test_failures_are_survived(random_problem, monkeypatch):
    def fail(*arguments):
        raise SolverError("no values")

    monkeypatch.setattr("boirl.baselines.gp_irl.explain", fail)
    run = baselines.get("gp-irl").run(random_problem(0), 3)
    assert run.failures == ("no values",) * 3
    assert run.facts == {"descents": 3}


def test_problems_it_does_not_apply_to_are_refused_in_one_line(random_problem):
    class Learned:
        is_model_free, name = True, "maze"

    with pytest.raises(InvalidInputError, match=r"'maze'.*use gcl or airl"):
        baselines.get("gp-irl").run(Learned(), 1)
    problem = random_problem(0)
    flat = LinearReward(np.ones((4, 1)), {"level": (-1.0, 1.0)})
    same = TabularProblem(problem.mdp, flat, problem.demonstrations)
    with pytest.raises(InvalidInputError, match="the same everywhere; use maxent"):
        baselines.get("gp-irl").run(same, 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inducing": 0}, "inducing is 0; expected at least 1"),
        ({"steps": 0}, "steps is 0; expected at least 1"),
        ({"tolerance": 0.0}, "tolerance is 0.0; expected a positive number"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        baselines.get("gp-irl", **settings)
