import random
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from boirl.domains.maze.simulator import PointMassMaze
from boirl.errors import InvalidInputError, SolverError
from boirl.policies.actions import (
    Categorical,
    CensoredGaussian,
    SquashedGaussian,
    UniformMixture,
)
from boirl.policies.solver import Run, Task
from boirl.rewards import CallableReward

gymnasium = pytest.importorskip("gymnasium", reason="these need the extra boirl[rl]")
pytest.importorskip("sb3_contrib")
from gymnasium import spaces  # noqa: E402
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor  # noqa: E402

from boirl.environments.gym_simulator import GymSimulator, observation_parts  # noqa: E402
from boirl.policies import stable_baselines as sb3  # noqa: E402
from boirl.policies.stable_baselines_envs import FlatEnv  # noqa: E402

HORIZON = 25


def upright(theta, steps):
    """Less the further the cart and the pole, or the pendulum, are from where theta says."""
    return -(torch.as_tensor(steps.states)[:, :1] - theta[:, :1].T).square().sum(dim=1)[None]


REWARD = CallableReward(upright, {"place": (-1.0, 1.0)}, "transition")


def task(name, reward=REWARD):
    return Task(GymSimulator(name), reward, np.array([0.5]), 0.95, HORIZON)


SMALL = {"n_steps": 32, "batch_size": 16}
ON_CHOICES = [
    sb3.PPO(64, n_epochs=1, policy_kwargs={"net_arch": [8, 6]}, **SMALL),
    sb3.TRPO(64, policy_kwargs={"net_arch": [8]}, **SMALL),
]
ON_VECTORS = [
    *ON_CHOICES,
    sb3.PPO(
        64,
        copies=2,
        n_epochs=1,
        policy_kwargs={"net_arch": [8], "activation_fn": nn.ReLU},
        n_steps=16,
        batch_size=16,
    ),
    sb3.SAC(
        60, learning_starts=20, buffer_size=1_000, batch_size=16, policy_kwargs={"net_arch": [8, 8]}
    ),
]
PPO = ON_CHOICES[0]
SAC = ON_VECTORS[-1]


@pytest.fixture
def models(monkeypatch):
    """The models that solvers trained, as they were in the end."""
    kept = []
    original = sb3.network_policy

    def spy(model, *given):
        kept.append(model)
        return original(model, *given)

    monkeypatch.setattr(sb3, "network_policy", spy)
    return kept


def name_of(solver):
    return f"{solver.algorithm} x {solver.copies}"


def same(first, second):
    pairs = zip((*first.weights, *first.biases), (*second.weights, *second.biases), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def farthest(first, second):
    return max(np.abs(a - b).max() for a, b in zip(first.weights, second.weights, strict=True))


@pytest.mark.parametrize("solver", ON_CHOICES, ids=name_of)
def test_choices_are_as_probable_as_in_the_model_trained(solver, models):
    chosen = task("CartPole-v1")
    policy = solver.solve(chosen, Run(0))
    assert policy.actions == UniformMixture(Categorical(2), solver.uniform_share)
    states = np.random.default_rng(0).normal(size=(40, 4))
    scaled = (states - chosen.simulator.observation_centre) / chosen.simulator.observation_scale
    own = models[0].policy.get_distribution(torch.as_tensor(scaled, dtype=torch.float32))
    logits = policy.outputs(states)
    expected = own.distribution.logits.detach().numpy()
    # Logits count up to a constant.
    np.testing.assert_allclose(
        logits - np.logaddexp.reduce(logits, axis=1, keepdims=True), expected, atol=1e-5
    )
    assert np.ptp(logits) > 1e-3


@pytest.mark.parametrize("solver", ON_VECTORS, ids=name_of)
def test_vectors_are_drawn_as_in_the_model_trained(solver, models):
    chosen = task("Pendulum-v1")
    policy = solver.solve(chosen, Run(0))
    bounded = SquashedGaussian if solver.algorithm == "SAC" else CensoredGaussian
    assert policy.actions == UniformMixture(bounded((-2.0,), (2.0,)), solver.uniform_share)
    states = np.random.default_rng(0).normal(size=(40, 3))
    scaled = torch.as_tensor(
        (states - chosen.simulator.observation_centre) / chosen.simulator.observation_scale,
        dtype=torch.float32,
    )
    outputs = policy.outputs(states)
    if solver.algorithm == "SAC":
        mean, log_sd, _ = models[0].actor.get_action_dist_params(scaled)
        parts = mean.detach().numpy(), log_sd.detach().numpy()
    else:
        normal = models[0].policy.get_distribution(scaled).distribution
        parts = normal.mean.detach().numpy(), normal.stddev.log().detach().numpy()
    np.testing.assert_allclose(outputs[:, :1], parts[0], atol=1e-5)
    np.testing.assert_allclose(outputs[:, 1:], parts[1], atol=1e-5)
    assert np.ptp(outputs[:, 0]) > 1e-4


@pytest.mark.parametrize("solver", [PPO, SAC], ids=name_of)
def test_typical_actions_are_those_that_the_model_predicts(solver, models):
    chosen = task("Pendulum-v1")
    policy = solver.solve(chosen, Run(0))
    states = np.random.default_rng(1).normal(size=(20, 3))
    scaled = (states - chosen.simulator.observation_centre) / chosen.simulator.observation_scale
    predicted, _ = models[0].predict(scaled.astype(np.float32), deterministic=True)
    np.testing.assert_allclose(policy.mode(states), predicted, atol=1e-5)


def test_training_changes_the_policy_by_the_reward():
    untrained = replace(PPO, hyperparameters=(*PPO.hyperparameters, ("learning_rate", 1e-12)))
    start, end = (one.solve(task("Pendulum-v1"), Run(0)) for one in (untrained, PPO))
    assert farthest(start, end) > 1e-4
    negative = CallableReward(lambda t, s: -upright(t, s), {"place": (-1.0, 1.0)}, "transition")
    assert farthest(PPO.solve(task("Pendulum-v1", negative), Run(0)), end) > 1e-4


@pytest.mark.parametrize("solver", [PPO, SAC], ids=name_of)
def test_the_same_seed_gives_the_same_policy(solver):
    first = solver.solve(task("Pendulum-v1"), Run(3))
    torch.rand(3)
    assert same(first, solver.solve(task("Pendulum-v1"), Run(3)))
    assert not same(first, solver.solve(task("Pendulum-v1"), Run(4)))


def test_seeds_of_any_size_will_do():
    assert PPO.solve(task("Pendulum-v1"), Run(2**32 - 1)).weights[0].shape == (3, 8)


@pytest.mark.parametrize("solver", [PPO, SAC], ids=name_of)
def test_global_random_numbers_are_left_alone(solver):
    state, theirs = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    random.seed(0)
    own = random.getstate()
    solver.solve(task("Pendulum-v1"), Run(7))
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(np.random.get_state()[1], theirs)  # noqa: NPY002
    assert random.getstate() == own


@pytest.mark.parametrize("solver", [PPO, ON_CHOICES[1], SAC], ids=name_of)
def test_a_warm_start_is_where_training_starts(solver):
    chosen = task("Pendulum-v1")
    first = solver.solve(chosen, Run(0))
    if solver.algorithm == "TRPO":
        # Its steps are as long as the trust region is wide.
        slow = replace(solver, hyperparameters=(*solver.hyperparameters, ("target_kl", 1e-14)))
    else:
        pairs = (*solver.hyperparameters, ("learning_rate", 1e-12))
        slow = replace(solver, hyperparameters=pairs)
    assert farthest(slow.solve(chosen, Run(1, warm_start=first)), first) < 1e-4
    assert farthest(slow.solve(chosen, Run(1)), first) > 0.05


@pytest.mark.parametrize(
    "other",
    [
        sb3.PPO(32, policy_kwargs={"net_arch": [9, 6]}, **SMALL),
        ON_CHOICES[1],
        sb3.PPO(32, policy_kwargs={"net_arch": [8, 6], "activation_fn": nn.ReLU}, **SMALL),
    ],
    ids=["width", "layers", "activation"],
)
def test_a_warm_start_of_another_shape_is_refused(other):
    chosen = task("Pendulum-v1")
    with pytest.raises(InvalidInputError, match="the warm start has"):
        PPO.solve(chosen, Run(0, warm_start=other.solve(chosen, Run(0))))


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1"])
def test_rewards_are_those_of_theta_for_what_happened(name, monkeypatch):
    asked, paid = [], []

    def spy(theta, steps):
        asked.append((steps.states.copy(), np.copy(steps.actions), steps.next_states.copy()))
        assert theta.tolist() == [[0.5]]
        return 10.0 * torch.as_tensor(steps.next_states)[:, 0][None] + theta[:, :1]

    step = FlatEnv.step

    def watched(self, action):
        result = step(self, action)
        paid.append(result[1])
        return result

    monkeypatch.setattr(FlatEnv, "step", watched)
    chosen = task(name, CallableReward(spy, {"place": (-1.0, 1.0)}, "transition"))
    PPO.solve(chosen, Run(0))
    states, actions, following = (np.concatenate(part) for part in zip(*asked, strict=True))
    assert len(paid) == PPO.steps
    np.testing.assert_allclose(paid, 10.0 * following[:, 0] + 0.5)
    # Steps follow one another except where an episode ends, at the horizon at the latest.
    torn = np.flatnonzero((states[1:] != following[:-1]).any(axis=1))
    assert len(torn) >= 2
    assert np.diff([-1, *torn]).max() <= HORIZON
    if name == "Pendulum-v1":
        assert np.diff([-1, *torn]).tolist() == [HORIZON] * 2
        assert np.abs(actions).max() <= 2.0
        # These are observations as they are, not as the network sees them.
        np.testing.assert_allclose((states[:, :2] ** 2).sum(axis=1), 1.0, atol=1e-5)
    else:
        assert set(actions.tolist()) == {0, 1}


@pytest.mark.parametrize("solver", [PPO, SAC], ids=name_of)
@pytest.mark.parametrize("value", [float("nan"), -float("inf")])
def test_rewards_that_are_not_finite_are_a_solver_error(solver, value):
    broken = CallableReward(
        lambda theta, steps: theta[:, :1] + torch.full((1, len(steps)), value),
        {"place": (-1.0, 1.0)},
    )
    state = torch.get_rng_state()
    with pytest.raises(SolverError, match=f"the reward is {value} in observation"):
        solver.solve(task("Pendulum-v1", broken), Run(0))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("solver", [*ON_VECTORS, replace(SAC, steps=250)], ids=name_of)
def test_progress_is_reported_up_to_the_end(solver):
    reports = []
    solver.solve(
        task("Pendulum-v1"), Run(0), lambda share, message: reports.append((share, message))
    )
    shares = [share for share, _ in reports]
    assert shares == sorted(shares)
    assert 0.98 < shares[-2] <= 1.0
    assert reports[0][1] == "first episode"
    assert reports[-2][1].startswith("mean return -")
    assert reports[-1] == (1.0, "trained")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sb3.PPO(100, learning_rat=1.0), "PPO takes no hyper-parameter learning_rat;"),
        (lambda: sb3.PPO(100, seed=1), "takes no hyper-parameter seed;"),
        (lambda: sb3.TRPO(100, n_epochs=3), r"TRPO takes no .*n_epochs; .*cg_max_steps"),
        (lambda: sb3.SAC(100, clip_range=3), r"SAC takes no .*clip_range; .*buffer_size"),
        (lambda: sb3.PPO(0), "steps is 0"),
        (lambda: sb3.SAC(10, copies=0), "copies is 0"),
        (lambda: sb3.StableBaselines("PPO", 10, hindsight=True), "expected SAC"),
        (lambda: sb3.PPO(32, use_sde=True, **SMALL), "use_sde makes noise .*; leave it out"),
        (lambda: sb3.SAC(30, use_sde=True), "use_sde makes noise .*; leave it out"),
    ],
)
def test_settings_that_do_not_exist_are_refused(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


def test_an_unknown_setting_is_answered_with_the_known_ones():
    with pytest.raises(InvalidInputError, match=r"learning_rate, n_steps, batch_size") as caught:
        sb3.PPO(100, rate=1.0)
    assert " seed" not in str(caught.value)


def test_the_repr_of_solvers_identifies_their_settings():
    assert repr(sb3.PPO(10, n_steps=5, batch_size=5)) == repr(sb3.PPO(10, batch_size=5, n_steps=5))
    assert repr(sb3.PPO(10)) != repr(sb3.PPO(10, n_steps=5)) != repr(sb3.PPO(11, n_steps=5))


def test_other_simulators_are_refused():
    wrong = Task(PointMassMaze(), REWARD, np.zeros(1), 0.9, HORIZON)
    with pytest.raises(InvalidInputError, match="Gymnasium environments, found PointMassMaze"):
        PPO.solve(wrong, Run(0))


def test_networks_that_cannot_be_read_are_refused_in_one_line_before_training():
    reports = []
    strange = sb3.PPO(32, policy_kwargs={"activation_fn": nn.ELU}, **SMALL)
    message = "has layers ELU, Linear; expected linear ones with tanh or ReLU between"
    with pytest.raises(InvalidInputError, match=message) as caught:
        strange.solve(task("Pendulum-v1"), Run(0), lambda *what: reports.append(what))
    assert "\n" not in str(caught.value)
    assert reports == []


class Twist(BaseFeaturesExtractor):
    """A layer in front of the network, as wide as the observations."""

    def __init__(self, space):
        super().__init__(space, 3)
        self.layer = nn.Linear(3, 3)

    def forward(self, observations):
        return self.layer(observations)


def test_layers_in_front_of_the_network_are_refused_or_read(models):
    strange = sb3.PPO(32, policy_kwargs={"features_extractor_class": Twist}, **SMALL)
    chosen = task("Pendulum-v1")
    try:
        policy = strange.solve(chosen, Run(0))
    except InvalidInputError:
        return
    states = np.random.default_rng(1).normal(size=(20, 3))
    scaled = (states - chosen.simulator.observation_centre) / chosen.simulator.observation_scale
    predicted, _ = models[0].predict(scaled.astype(np.float32), deterministic=True)
    np.testing.assert_allclose(policy.mode(states), predicted, atol=1e-5)


class Reach(gymnasium.Env):  # type: ignore[name-defined]
    """A point on a line that is to reach a goal."""

    def __init__(self, ordered=False):
        kind = OrderedDict if ordered else dict
        box = spaces.Box(-4.0, 4.0, (1,), np.float64)
        self.observation_space = spaces.Dict(
            kind(
                [
                    ("observation", spaces.Box(-np.inf, np.inf, (2,), np.float64)),
                    ("desired_goal", box),
                    ("achieved_goal", box),
                ]
            )
        )
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def look(self):
        return {
            "observation": np.array([7.0, self.place]),
            "desired_goal": np.array([self.goal]),
            "achieved_goal": np.array([self.place]),
        }

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.goal = 0.0, float(self.np_random.uniform(-2.0, 2.0))
        return self.look(), {}

    def step(self, action):
        self.place = float(np.clip(self.place + action[0], -4.0, 4.0))
        return self.look(), 0.0, False, False, {}


HINDSIGHT = sb3.SAC(
    50,
    hindsight=True,
    learning_starts=30,
    buffer_size=1_000,
    batch_size=16,
    policy_kwargs={"net_arch": [8]},
    replay_buffer_kwargs={"n_sampled_goal": 4},
)


def goal_task(asked=None, ordered=False):
    """The reward looks at the goals of the next observation; it keeps what it was asked for."""
    simulator = GymSimulator(lambda: Reach(ordered))
    parts = observation_parts(simulator.env.observation_space)

    def distance(theta, steps):
        following = torch.as_tensor(steps.next_states)
        gap = following[:, parts["achieved_goal"]] - following[:, parts["desired_goal"]]
        if asked is not None:
            asked.append(steps)
        return theta[:, :1] * gap.abs().sum(dim=1)[None]

    reward = CallableReward(distance, {"weight": (-1.0, 1.0)}, "transition")
    return Task(simulator, reward, np.array([-0.5]), 0.9, 10)


def test_hindsight_asks_for_rewards_of_goals_that_were_achieved():
    asked: list[Any] = []
    HINDSIGHT.solve(goal_task(asked), Run(0))
    single = [steps for steps in asked if len(steps) == 1]
    relabelled = [steps for steps in asked if len(steps) > 1]
    assert len(single) >= HINDSIGHT.steps
    assert relabelled
    achieved = {round(float(steps.next_states[0, 0]), 4) for steps in single}
    # In the order of the space: achieved goal, desired goal, observation.
    goals = {round(float(goal), 4) for steps in relabelled for goal in steps.next_states[:, 1]}
    assert len(goals) > 3
    assert goals <= achieved
    # What hindsight does not know is not made up.
    assert all(np.isnan(steps.states).all() for steps in relabelled)
    assert all(np.isnan(steps.next_states[:, 2:]).all() for steps in relabelled)


@pytest.mark.parametrize("ordered", [False, True])
def test_with_hindsight_the_policy_is_that_of_the_model_trained(models, ordered):
    chosen = goal_task(ordered=ordered)
    policy = HINDSIGHT.solve(chosen, Run(0))
    simulator = chosen.simulator
    states = np.random.default_rng(0).uniform(-2.0, 2.0, (20, 4))
    scaled = (states - simulator.observation_centre) / simulator.observation_scale
    parts = observation_parts(simulator.env.observation_space)
    seen = {name: scaled[:, part].astype(np.float32) for name, part in parts.items()}
    predicted, _ = models[0].predict(seen, deterministic=True)
    np.testing.assert_allclose(policy.mode(states), predicted, atol=1e-5)


def test_hindsight_needs_goals():
    with pytest.raises(InvalidInputError, match="expected a Dict space"):
        HINDSIGHT.solve(task("Pendulum-v1"), Run(0))


def test_hindsight_needs_goals_by_their_names():
    class Nameless(Reach):
        def __init__(self):
            super().__init__()
            self.observation_space = spaces.Dict({"observation": spaces.Box(-1.0, 1.0, (2,))})

    chosen = replace(goal_task(), simulator=GymSimulator(Nameless))
    with pytest.raises(InvalidInputError, match="lack achieved_goal, desired_goal; hindsight"):
        HINDSIGHT.solve(chosen, Run(0))


def test_hindsight_needs_rewards_of_goals_alone():
    chosen = goal_task()
    place = CallableReward(
        lambda theta, steps: theta[:, :1] * torch.as_tensor(steps.states)[:, 3][None],
        {"weight": (-1.0, 1.0)},
        "transition",
    )
    with pytest.raises(SolverError, match="may depend on the goals of the next observation alone"):
        HINDSIGHT.solve(replace(chosen, reward=place), Run(0))
