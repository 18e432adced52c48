"""Where policies go on a table, and how that depends on each of their choices."""

from dataclasses import replace

import numpy as np
import pytest

from boirl.constraints.tabular_walk import TabularWalk
from boirl.experiments.worst_case import problem_of
from boirl.policies import TabularPolicy, TabularSolver

STEP = 1e-6


@pytest.fixture(scope="module")
def problem():
    return problem_of("ambiguous", 1000)


def walks(problem, policy, steps=6):
    """Numbers of a policy with their derivatives: reaching a door, and a cost until then."""
    n, actions = problem.mdp.n_states, problem.mdp.n_actions
    cost = np.random.default_rng(0).random((n, actions))
    door = np.isin(np.arange(n), [5])
    walk = TabularWalk(problem, policy, None, steps)
    return [
        (walk.reach(door), walk.reach_by_choice(door)),
        (walk.total(cost, door), walk.total_by_choice(cost, door)),
    ]


@pytest.mark.parametrize("horizon", [None, 8])
def test_derivatives_are_differences(problem, horizon):
    chosen = replace(problem, solver=TabularSolver("max", 1.0, horizon=horizon), horizon=8)
    policy = chosen.policy((9.0, 4.0))
    for state, action in [(0, 0), (1, 1), (4, 2), (3, 0)]:
        chances = policy.probabilities
        chances[state, action] += STEP
        with np.errstate(divide="ignore"):
            moved = walks(chosen, TabularPolicy(np.log(chances)))
        for (old, slopes), (new, _) in zip(walks(chosen, policy), moved, strict=True):
            assert slopes[state, action] == pytest.approx((new - old) / STEP, abs=1e-4)


def test_choices_that_come_too_late_change_nothing(problem):
    policy = problem.policy((9.0, 4.0))
    for _, slopes in walks(problem, policy, steps=1):
        assert not slopes[1:].any()
    (reached, slopes), _ = walks(problem, policy, steps=0)
    assert reached == 0.0
    assert not slopes.any()
