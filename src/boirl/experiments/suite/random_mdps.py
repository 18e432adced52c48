"""Random sparse dynamics under random rewards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from boirl.environments import TabularMDP
from boirl.experiments.suite.demonstrators import (
    demonstrated_problem,
    draw_bounds,
    draw_count,
    operator_of,
)
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import (
    CallableReward,
    LinearReward,
    LogisticReward,
    RewardFamily,
    Transitions,
)

STREAM = 1501


def random_mdp(rng: np.random.Generator, deterministic: bool = False) -> TabularMDP:
    """30 to 60 states, 3 to 5 actions, each of which leads to one or to 2 to 5 states."""
    n_states, n_actions = int(rng.integers(30, 61)), int(rng.integers(3, 6))
    gamma = float(rng.uniform(0.7, 0.9))
    if deterministic:
        table = rng.integers(n_states, size=(n_states, n_actions))
        return TabularMDP.from_next_states(table, gamma)
    rows, ways = n_states * n_actions, int(rng.integers(2, 6))
    reached = np.sort(rng.random((rows, n_states)).argsort(axis=1)[:, :ways], axis=1)
    probabilities = rng.dirichlet(np.ones(ways), size=rows)
    probabilities[:, -1] = 1.0 - probabilities[:, :-1].sum(axis=1)
    entries = (np.abs(probabilities).ravel(), reached.ravel(), np.arange(0, rows * ways + 1, ways))
    transition = sp.csr_array(entries, shape=(rows, n_states))
    return TabularMDP(transition, n_actions, gamma, np.full(n_states, 1.0 / n_states))


def linear(
    seed: int, name: str, parameters: Sequence[int] = (2, 3), deterministic: bool = False
) -> TabularProblem:
    """A weighted sum of features of states, or of state-actions; dense or mostly 0."""
    rng = np.random.default_rng([STREAM, seed, *parameters, deterministic])
    mdp = random_mdp(rng, deterministic)
    dimension = int(rng.integers(parameters[0], parameters[1] + 1))
    shape: tuple[int, ...] = (mdp.n_states, dimension)
    if rng.random() < 0.3:
        shape = (mdp.n_states, mdp.n_actions, dimension)
    features = rng.standard_normal(shape)
    if rng.random() < 0.5:
        features *= rng.random(shape) < 0.3
    reward = LinearReward(features, draw_bounds(rng, dimension))
    return _shown(seed, name, mdp, reward, rng)


def logistic(seed: int, name: str) -> TabularProblem:
    """A logistic step of a feature; with odd seeds, beside a translation that changes nothing."""
    rng = np.random.default_rng([STREAM, seed, 1])
    mdp = random_mdp(rng, deterministic=rng.random() < 0.5)
    bounds = {"steepness": (0.2, 8.0), "midpoint": (-1.5, 1.5), "translation": (-2.0, 2.0)}
    reward = LogisticReward(
        rng.standard_normal(mdp.n_states), bounds, height=float(rng.uniform(1.0, 4.0))
    )
    return _shown(seed, name, mdp, reward if seed % 2 else reward.fix(translation=0.0), rng)


def network(seed: int, name: str) -> TabularProblem:
    """One or two units `height * tanh(a * x + b * y)`, each with two inputs of its own."""
    rng = np.random.default_rng([STREAM, seed, 2])
    mdp = random_mdp(rng, deterministic=rng.random() < 0.3)
    units = int(rng.integers(1, 3))
    inputs = torch.tensor(rng.standard_normal((mdp.n_states, units, 2)))
    bounds = {
        f"{part}{unit}": (0.3, 3.0) if part == "height" else (-2.0, 2.0)
        for unit in range(units)
        for part in ("height", "a", "b")
    }
    reward = CallableReward(partial(_tanh_units, inputs), bounds)
    return _shown(seed, name, mdp, reward, rng)


def _tanh_units(inputs: Tensor, theta: Tensor, transitions: Transitions) -> Tensor:
    height, weights = theta.reshape(len(theta), -1, 3).split([1, 2], dim=2)
    chosen = inputs[torch.as_tensor(transitions.states)]
    sums = torch.einsum("nuk,tuk->ntu", weights, chosen)
    return (height[:, None, :, 0] * torch.tanh(sums)).sum(dim=2)


def products(seed: int, name: str) -> TabularProblem:
    """A weighted sum, and products of neighbouring weights on features of their own."""
    rng = np.random.default_rng([STREAM, seed, 3])
    mdp = random_mdp(rng, deterministic=rng.random() < 0.3)
    dimension = int(rng.integers(2, 6))
    alone, together = rng.standard_normal((2, mdp.n_states, dimension))
    reward = CallableReward(
        partial(_with_products, torch.tensor(alone), torch.tensor(together[:, 1:])),
        draw_bounds(rng, dimension, 2.0),
    )
    return _shown(seed, name, mdp, reward, rng)


def _with_products(
    alone: Tensor, together: Tensor, theta: Tensor, transitions: Transitions
) -> Tensor:
    states = torch.as_tensor(transitions.states)
    pairs = theta[:, 1:] * theta[:, :-1]
    return theta @ alone[states].T + 0.5 * pairs @ together[states].T


def _shown(
    seed: int, name: str, mdp: TabularMDP, reward: RewardFamily, rng: np.random.Generator
) -> TabularProblem:
    solver = TabularSolver(operator_of(seed), float(rng.choice([0.5, 1.0, 2.0])))
    count, horizon = draw_count(rng, 10, 500), int(rng.integers(4, 16))
    return demonstrated_problem(mdp, reward, solver, rng, count, horizon, f"{name}-{seed}")
