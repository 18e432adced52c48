"""Soft actor-critic on shared transitions, with a toy in place of the robot arm."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

from boirl.domains.fetch import environment as fetch
from boirl.domains.fetch.replay_sac import ReplaySAC
from boirl.domains.fetch.transitions import FetchTransitions, GoalTransitions
from boirl.errors import InvalidInputError, SolverError
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Run, Task
from boirl.rewards import CallableReward
from boirl.types import silent

STRIDE = 0.033
"""How far the gripper of the toy moves in a step."""


@dataclass(frozen=True)
class Toy:
    """Transitions of a point that moves as its actions say, in the shape of Fetch-Reach."""

    count: int = 3_000

    def load(self, report):
        rng = np.random.default_rng(0)
        states = np.tile(fetch.CENTRE, (self.count, 1))
        states[:, fetch.ACHIEVED] += rng.uniform(-0.15, 0.15, (self.count, 3))
        actions = rng.uniform(-1.0, 1.0, (self.count, 4))
        following = move(states, actions)
        return GoalTransitions(states, actions, following, np.arange(self.count))


def move(states, actions):
    following = states.copy()
    following[:, fetch.ACHIEVED] += STRIDE * actions[:, :3]
    following[:, 6:9] = following[:, fetch.ACHIEVED]
    return following


def task(*theta):
    return Task(None, fetch.FetchReachReward(), np.array(theta), gamma=0.95, horizon=50)


TRUTH = task(0.05, -1.0)
SMALL = ReplaySAC(updates=20, batch=32, hidden=(16, 16), transitions=Toy(200))


def far_away(count=200):
    states = np.tile(fetch.CENTRE, (count, 1))
    goals = fetch.draw_goals(count, np.random.default_rng(1))
    states[:, fetch.DESIRED] = goals
    return states


def final_distance(policy, steps=10):
    states, rng = far_away(), np.random.default_rng(2)
    for _ in range(steps):
        states = move(states, policy.sample(states, rng))
    return fetch.goal_distance(states).mean()


def same(first, second):
    return all(
        np.array_equal(a, b)
        for a, b in zip(
            (*first.weights, *first.biases), (*second.weights, *second.biases), strict=True
        )
    )


@pytest.fixture(scope="module")
def trained():
    solver = ReplaySAC(updates=400, batch=128, hidden=(32, 32), transitions=Toy())
    return {penalty: solver.solve(task(0.05, penalty), Run(0)) for penalty in (-1.0, -0.05, 1.0)}


def test_training_brings_the_gripper_to_the_goal(trained):
    assert final_distance(trained[-1.0]) < 0.7 * fetch.goal_distance(far_away()).mean()


def test_a_prize_for_staying_away_keeps_it_away(trained):
    assert final_distance(trained[1.0]) > 0.15


def test_a_small_penalty_leaves_the_policy_undecided(trained):
    log_sd = {name: policy.outputs(far_away())[:, 3:].mean() for name, policy in trained.items()}
    assert log_sd[-0.05] > log_sd[-1.0] + 0.2


def test_a_reward_that_never_changes_leaves_actions_almost_uniform():
    solver = ReplaySAC(updates=300, batch=128, hidden=(32, 32), transitions=Toy())
    policy = solver.solve(task(0.0, -1.0), Run(0))
    moves = policy.sample(far_away(2_000), np.random.default_rng(0))[:, :3]
    np.testing.assert_allclose(moves.mean(axis=0), 0.0, atol=0.2)
    np.testing.assert_allclose(moves.std(axis=0), np.sqrt(1.0 / 3.0), atol=0.1)


def test_a_constant_on_top_of_the_reward_changes_nothing():
    def shifted(by):
        reward = CallableReward(
            lambda theta, steps: (
                theta[:, :1] * torch.as_tensor(fetch.goal_distance(np.asarray(steps.next_states)))
                + by
            ),
            {"weight": (-2.0, 2.0)},
            depends_on="transition",
        )
        return Task(None, reward, np.array([-1.0]), gamma=0.95, horizon=50)

    first, second = (SMALL.solve(shifted(by), Run(0)) for by in (0.0, 1024.0))
    np.testing.assert_allclose(first.weights[0], second.weights[0], atol=1e-4)


def test_the_policy_is_squashed_moves_the_gripper_only_and_knows_the_scale():
    policy = SMALL.solve(TRUTH, Run(0))
    described = policy.actions.describe()
    assert described["kind"] == "UniformMixture"
    assert described["share"] == SMALL.uniform_share
    assert described["model"]["columns"] == (0, 1, 2)
    assert described["model"]["model"]["kind"] == "SquashedGaussian"
    assert (policy.mode(far_away(5))[:, 3] == 0.0).all()
    np.testing.assert_array_equal(policy.centre, fetch.CENTRE)
    kept = NetworkPolicy.from_dict(policy.to_dict())
    np.testing.assert_array_equal(kept.outputs(far_away(5)), policy.outputs(far_away(5)))


def test_the_log_probability_in_training_is_that_of_the_policy():
    from boirl.domains.fetch.replay_sac import _Training

    training = _Training(SMALL, TRUTH, [Run(0)], SMALL.transitions.load(silent))
    states, rng = far_away(50), np.random.default_rng(0)
    scaled = torch.tensor((states - fetch.CENTRE) / fetch.SCALE, dtype=torch.float32)[None]
    noise = torch.tensor(rng.normal(size=(1, 50, 3)), dtype=torch.float32)
    moves, cost = (part.detach().numpy()[0] for part in training._act(scaled, noise))
    mixture: Any = SMALL._policy(*training.actor.arrays(0)).actions
    policy = mixture.model
    outputs = SMALL._policy(*training.actor.arrays(0)).outputs(states)
    actions = np.hstack([moves, np.zeros((50, 1))]).astype(np.float64)
    expected = policy.log_prob(outputs, actions) - policy.log_uniform(actions)
    inside = (np.abs(actions) < 0.999).all(axis=1)
    np.testing.assert_allclose(cost[inside, 0], expected[inside], rtol=2e-3, atol=2e-3)


def test_the_same_seed_gives_the_same_policy_whatever_was_drawn_before():
    torch.manual_seed(0)
    first = SMALL.solve(TRUTH, Run(3))
    torch.rand(10)
    np.random.default_rng(0).random(3)
    assert same(first, SMALL.solve(TRUTH, Run(3)))
    assert not same(first, SMALL.solve(TRUTH, Run(4)))


def test_global_random_numbers_and_threads_are_left_alone():
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    SMALL.solve(TRUTH, Run(0))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads


def test_runs_side_by_side_are_what_they_are_alone():
    runs = [Run(5), Run(6), Run(7)]
    together = SMALL.solve_all(TRUTH, runs)
    for run, policy in zip(runs, together, strict=True):
        alone = SMALL.solve(TRUTH, run)
        np.testing.assert_allclose(policy.weights[1], alone.weights[1], atol=1e-4)
    assert SMALL.solve_all(TRUTH, []) == []


def test_a_warm_start_is_where_training_starts():
    first = SMALL.solve(TRUTH, Run(0))
    slow = replace(SMALL, learning_rate=1e-9)
    warm, cold = slow.solve_all(TRUTH, [Run(1, warm_start=first), Run(1)])
    np.testing.assert_allclose(warm.weights[0], first.weights[0], atol=1e-6)
    assert np.abs(cold.weights[0] - first.weights[0]).max() > 0.1
    trained = SMALL.solve(TRUTH, Run(1, warm_start=first))
    assert np.abs(trained.weights[0] - first.weights[0]).max() > 1e-3


def test_a_warm_start_of_another_shape_is_refused():
    other = replace(SMALL, hidden=(8,)).solve(TRUTH, Run(0))
    with pytest.raises(InvalidInputError, match=r"expected relu layers of shapes \[\(16, 16\)"):
        SMALL.solve(TRUTH, Run(0, warm_start=other))


def test_progress_is_reported_up_to_the_end():
    reported = []
    solver = replace(SMALL, updates=120)
    solver.solve(TRUTH, Run(0), lambda share, message: reported.append((share, message)))
    shares = [share for share, _ in reported]
    assert shares == [50 / 120, 100 / 120, 1.0]
    assert reported[-1][1].startswith("update 120, critic loss")


def test_divergence_is_a_solver_error():
    with pytest.raises(SolverError, match="training diverged"):
        replace(SMALL, updates=200, learning_rate=1e30).solve(TRUTH, Run(0))


def test_rewards_that_are_not_finite_are_a_solver_error():
    reward = CallableReward(
        lambda theta, steps: theta[:, :1] / torch.zeros(1, len(steps)),
        {"weight": (-2.0, 2.0)},
        depends_on="transition",
    )
    broken = Task(None, reward, np.array([1.0]), gamma=0.95, horizon=50)
    with pytest.raises(SolverError, match="highest reward is inf"):
        SMALL.solve(broken, Run(0))


@pytest.mark.parametrize(
    "wrong",
    [
        {"updates": 0},
        {"batch": 0},
        {"hidden": ()},
        {"hidden": (16, 0)},
        {"learning_rate": float("nan")},
        {"temperature": -1.0},
        {"target_rate": 1.5},
        {"hindsight": -0.1},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(InvalidInputError, match=name):
        ReplaySAC(**wrong)


def test_the_repr_identifies_settings_and_transitions():
    assert repr(ReplaySAC()) == repr(ReplaySAC())
    assert "FetchTransitions(count=25000, seed=0)" in repr(ReplaySAC())
    assert repr(ReplaySAC()) != repr(ReplaySAC(transitions=FetchTransitions(100)))
    assert repr(ReplaySAC()) != repr(ReplaySAC(temperature=0.2))
