"""Problems whose demonstrations, from few starts, leave open what the demonstrator wants elsewhere.

Each seed draws another demonstrator, and whatever else is random. The truth is in the box.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.problem import RoadProblem
from boirl.domains.roads.town import generate_town
from boirl.environments import TabularMDP
from boirl.experiments.suite.gymnasium_tables import make_environment
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward

STREAM = 1901
PER_START = 10
"""Demonstrations from each of the few starts."""

MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1), (0, 0))


def open_grid(side: int, ends: dict[int, str], gamma: float) -> TabularMDP:
    """A grid of free squares; those in `ends` lead to a sink. State `x + side * y`."""
    sink = side * side
    next_states = np.full((sink + 1, len(MOVES)), sink)
    for state in range(sink):
        if state in ends:
            continue
        x, y = state % side, state // side
        for action, (dx, dy) in enumerate(MOVES):
            inside = 0 <= x + dx < side and 0 <= y + dy < side
            next_states[state, action] = (x + dx) + side * (y + dy) if inside else state
    return TabularMDP.from_next_states(next_states, gamma, endless=[sink])


def gridworld(seed: int) -> TabularProblem:
    """A grid of 13 x 13 with a goal in the middle, which is demonstrated, and coins in the corners.

    Demonstrations start three squares from the goal. What the coins are worth shows near them
    alone.
    """
    rng = np.random.default_rng([STREAM, seed])
    side, goal = 13, 84
    squares = {goal: "goal", 28: "coin1", 36: "coin2", 132: "coin3", 140: "coin4"}
    mdp = open_grid(side, squares, gamma=0.9)
    features = np.zeros((mdp.n_states, len(squares)))
    features[list(squares), range(len(squares))] = 1.0
    bounds = {name: (0.0, 10.0 if name == "goal" else 5.0) for name in squares.values()}
    reward = LinearReward(features, bounds)
    truth = np.concatenate([[9.0], rng.uniform(0.0, 5.0, 4)])
    starts = np.array([goal - 3, goal + 3, goal - 3 * side])
    return _demonstrated(
        mdp, reward, TabularSolver("max", 4.0), truth, starts, 20, rng, "gridworld"
    )


def frozen_lake(seed: int) -> TabularProblem:
    """The lake of 8 x 8, demonstrated from its start alone.

    Reaching the goal is paid, and falling in costs something else in each quarter of the lake.
    """
    rng = np.random.default_rng([STREAM, seed, 1])
    env = make_environment("FrozenLake", map_name="8x8", is_slippery=True)
    letters = np.array(env.unwrapped.desc).astype(str)
    mdp = TabularMDP.from_gymnasium(env, gamma=0.95)
    rows, columns = np.indices(letters.shape)
    quarters = [
        (letters == "H") & ((rows < 4) == upper) & ((columns < 4) == left)
        for upper in (True, False)
        for left in (True, False)
    ]
    kinds = np.stack([letters == "G", *quarters], axis=-1).reshape(-1, 5).astype(np.float64)
    holes = ("upper left", "upper right", "lower left", "lower right")
    names = ("goal", *holes)
    used = [number for number in range(5) if kinds[:, number].any()]
    bounds = {names[number]: (0.0, 10.0) if number == 0 else (-10.0, 0.0) for number in used}
    reward = LinearReward(kinds[:, used], bounds, of_next=True)
    truth = reward.box.from_unit(rng.uniform(0.1, 0.9, len(used)))
    starts = np.zeros(3, dtype=np.int64)
    return _demonstrated(
        mdp, reward, TabularSolver("max", 4.0), truth, starts, 40, rng, "frozen lake"
    )


def town(seed: int) -> RoadProblem:
    """A generated town with tolls and gravel on a few links, where no demonstration comes by."""
    rng = np.random.default_rng([STREAM, seed, 2])
    plain = generate_town(150, int(rng.integers(2**31)))
    rare = rng.permutation(plain.n_links)
    few = max(2, plain.n_links // 12)
    marks = {}
    for number, name in enumerate(("toll", "gravel")):
        marks[name] = np.zeros(plain.n_links)
        marks[name][rare[number * few : (number + 1) * few]] = 1.0
    network = replace(plain, link_attributes={**plain.link_attributes, **marks})
    return _town_problem(network, rng)


def _town_problem(network: RoadNetwork, rng: np.random.Generator) -> RoadProblem:
    (destination,) = network.destinations
    utilities: dict[str, tuple[float, float] | float] = {
        "time": (-8.0, 0.0),
        "left": (-3.0, 0.0),
        "toll": (-4.0, 0.0),
        "gravel": (-4.0, 0.0),
        "constant": -0.5,
        "u-turn": -10.0,
    }
    mdp = network.mdp(destination, 0.99)
    reward = network.reward(destination, utilities=utilities)
    truth = reward.box.from_unit(rng.uniform(0.1, 0.9, 4))
    starts = rng.choice(len(network.turns), size=3, replace=False)
    solver = TabularSolver("max", 2.0)
    plain = _demonstrated(mdp, reward, solver, truth, starts, 40, rng, "town")
    return RoadProblem(
        mdp,
        reward,
        plain.demonstrations,
        solver,
        horizon=40,
        truth=plain.truth,
        name="town",
        network=network,
        destination=destination,
    )


def _demonstrated(
    mdp: TabularMDP,
    reward: LinearReward,
    solver: TabularSolver,
    truth: np.ndarray,
    starts: np.ndarray,
    horizon: int,
    rng: np.random.Generator,
    name: str,
) -> TabularProblem:
    policy = solver.solve(mdp, mdp.expected_rewards(reward, truth[None])[0])
    shown = policy.sample(mdp, np.repeat(starts, PER_START), horizon, rng)
    theta = tuple(truth.tolist())
    return TabularProblem(mdp, reward, shown, solver, horizon=horizon, truth=theta, name=name)


AMBIGUOUS: dict[str, Callable[[int], TabularProblem]] = {
    "gridworld": gridworld,
    "frozen-lake": frozen_lake,
    "town": town,
}
