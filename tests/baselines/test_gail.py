"""GAIL: a policy and no reward, in tables and in the maze."""

import numpy as np
import pytest

from boirl import baselines
from boirl.errors import InvalidInputError
from boirl.rewards.absent import NoReward


def test_the_policy_comes_to_act_like_the_demonstrator(gridworld):
    run = baselines.get("gail").run(gridworld, 60, seed=1000)
    policy = run.policy(run.best_index)
    assert run.best_nll < gridworld.nll(gridworld.truth)  # of a policy that is free everywhere
    assert gridworld.true_return(policy) > 0.9 * gridworld.esor(gridworld.truth)
    assert run.environment_steps > 0
    assert 0.4 < run.evaluations[-1].facts["accuracy"] < 0.7


def test_there_is_no_reward_to_take(gridworld, tmp_path):
    run = baselines.get("gail").run(gridworld, 2)
    family = run.evaluations[0].reward
    assert isinstance(family, NoReward)
    with pytest.raises(InvalidInputError, match="found a policy alone"):
        gridworld.mdp.expected_rewards(family, np.ones((1, 1)))
    assert "best reward" not in str(run)


def test_other_simulators_are_refused_in_one_line(random_problem):
    pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
    from tests.baselines.small_maze import small_maze

    problem = small_maze()
    object.__setattr__(problem, "simulator", object())
    with pytest.raises(InvalidInputError, match=r"vectorised simulators.*use gcl or airl"):
        baselines.get("gail").run(problem, 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps is 0; expected at least 1"),
        ({"policy_rate": 0.0}, "policy_rate is 0.0; expected a positive number"),
        ({"penalty": -1.0}, "penalty is -1.0; expected 0 or a positive number"),
        ({"hidden": ()}, "hidden is .*; expected widths of layers"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        baselines.get("gail", **settings)
