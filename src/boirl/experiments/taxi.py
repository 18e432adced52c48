"""Taxi with its own reward: dynamics, features for policies, and a driver with a noisy hand.

A state is `((row * 5 + column) * 5 + passenger) * 4 + destination`; passenger 4 is aboard.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from boirl.baselines.cr_irl import CRIRL
from boirl.environments import TabularMDP
from boirl.experiments.suite.gymnasium_tables import make_environment
from boirl.policies import TabularPolicy, TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward
from boirl.types import FloatArray

PLACES = np.array([[0, 0], [0, 4], [4, 0], [4, 3]])
GAMMA = 0.95
TRUTH = (20.0, -10.0, -1.0)
"""Delivering, picking up or putting down in the wrong place, and any other step."""

BOUNDS = {"deliver": (0.0, 40.0), "wrong": (-20.0, 0.0), "step": (-5.0, 0.0)}
STEPS = 100
"""Of an episode, at most."""


@lru_cache(maxsize=1)
def taxi_dynamics() -> tuple[TabularMDP, FloatArray]:
    """The table of Gymnasium, and which of `TRUTH` each state-action is paid by, `S x A x 3`."""
    env = make_environment("Taxi")
    mdp = TabularMDP.from_gymnasium(env, gamma=GAMMA)
    paid = np.zeros((mdp.n_states, mdp.n_actions, len(TRUTH)))
    for state, by_action in env.unwrapped.P.items():
        for action, ((_, _, reward, _),) in by_action.items():
            paid[state, action, TRUTH.index(float(reward))] = 1.0
    return mdp, paid


def taxi_features(n_states: int) -> FloatArray:
    """What policies see of states, `S x 40`, as in the experiment of Metelli and others.

    Cell, passenger and destination, whether the place to go to next lies further down or right, or
    up or left, and whether it is this one, with the passenger waiting or aboard.
    """
    cells, rest = np.divmod(np.arange(500), 20)
    passenger, destination = np.divmod(rest, 4)
    position = np.stack(np.divmod(cells, 5), axis=1)
    aboard = passenger == 4
    ahead = PLACES[np.where(aboard, destination, np.minimum(passenger, 3))] - position
    there = (ahead == 0).all(axis=1)
    parts = [
        np.eye(25)[cells],
        np.eye(5)[passenger][:, :4],
        np.eye(4)[destination],
        *(np.stack([side > 0, side < 0], axis=1) for side in ahead.T),
        np.stack([there & ~aboard, there & aboard], axis=1),
        np.ones((500, 1)),
    ]
    features = np.concatenate(parts, axis=1).astype(np.float64)
    # The state after the end, which the table of Gymnasium does not number.
    return np.concatenate([features, np.zeros((n_states - 500, features.shape[1]))])


@dataclass(frozen=True)
class TaxiCRIRL(CRIRL):
    """CR-IRL with a policy on `taxi_features`."""

    name: ClassVar[str] = "cr-irl"

    def policy_features(self, problem: TabularProblem) -> FloatArray:
        return taxi_features(problem.mdp.n_states)


def driver(noise: float) -> TabularPolicy:
    """Drives optimally, and with this probability does anything."""
    mdp, paid = taxi_dynamics()
    likely = TabularSolver("max").solve(mdp, paid @ np.array(TRUTH)).log_probabilities
    going = ~mdp.is_terminal
    best = np.zeros_like(likely)
    best[going, likely[going].argmax(axis=1)] = 1.0
    with np.errstate(divide="ignore"):
        chances = np.log((1.0 - noise) * best + noise / mdp.n_actions)
    chances[mdp.terminal] = -np.inf
    return TabularPolicy(chances)


def taxi_problem(noise: float, trips: int, rng: np.random.Generator) -> TabularProblem:
    """Trips of a driver; the family has the three amounts of `TRUTH`."""
    mdp, paid = taxi_dynamics()
    starts = rng.choice(mdp.n_states, size=trips, p=mdp.start)
    shown = driver(noise).sample(mdp, starts, STEPS, rng)
    reward = LinearReward(paid, BOUNDS)
    return TabularProblem(mdp, reward, shown, TabularSolver("max"), STEPS, TRUTH, name="taxi")
