"""Trips through generated towns, explained by recursive logit; part of the box has no policy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.domains.roads.attributes import feature_weights
from boirl.domains.roads.recursive_logit import RecursiveLogitProblem
from boirl.domains.roads.route_choice import RouteChoice, RoutePolicy
from boirl.domains.roads.town import generate_town
from boirl.domains.roads.turn_rewards import TurnReward
from boirl.errors import InvalidInputError, SolverError
from boirl.experiments.suite.demonstrators import TRUTHS, draw_count
from boirl.types import IntArray

STREAM = 1503
BOUNDS = {"time": (-6.0, 1.0), "left": (-3.0, 1.0), "constant": (-3.0, 0.5), "u-turn": (-6.0, 1.0)}
LOWEST, HIGHEST = (-5.0, -2.0, -2.0, -5.0), (-1.0, -0.2, -0.5, -2.0)
"""Between these the truth is drawn: its sum over routes exists most of the time."""

LONGEST_TRIP = 400


def town(seed: int, name: str) -> RecursiveLogitProblem:
    """30 to 60 links, 2 to 5 destinations, three or four weights, 20 to 200 trips."""
    rng = np.random.default_rng([STREAM, seed])
    network = generate_town(int(rng.integers(30, 61)), int(rng.integers(2**31)))
    count = int(rng.integers(2, 6))
    chosen = rng.choice(network.n_links, count, replace=False)
    network = replace(network, destinations={i: chosen[i : i + 1] for i in range(count)})
    choice = RouteChoice(network, np.arange(count), at_destination="pass")
    names = list(BOUNDS) if rng.random() < 0.5 else list(BOUNDS)[:3]
    reward = TurnReward(choice, feature_weights({name: BOUNDS[name] for name in names}))
    n_trips = draw_count(rng, 20, 200)
    for _ in range(TRUTHS):
        truth = rng.uniform(LOWEST, HIGHEST)[: len(names)]
        weights = np.append(truth, np.zeros(len(BOUNDS) - len(names)))
        try:
            policy = RoutePolicy.solve(choice, network.features @ weights)
        except SolverError:
            continue
        starts = rng.choice(np.flatnonzero(choice.has_route.ravel()), size=n_trips)
        trips = _finished(policy.sample(starts, LONGEST_TRIP, rng), choice.end)
        return RecursiveLogitProblem(
            choice, reward, trips, truth=tuple(truth.tolist()), name=f"{name}-{seed}"
        )
    raise InvalidInputError(f"none of {TRUTHS} drawn weights has a policy in {name}-{seed}")


def _finished(trips: Demonstrations, end: IntArray | int) -> Demonstrations:
    """Trips cut off after their end; those that have none are left out."""
    steps = int(trips.lengths[0])
    states, actions, following = (
        values.reshape(-1, steps) for values in (trips.states, trips.actions, trips.next_states)
    )
    lengths = (following == end).argmax(axis=1) + 1
    done = np.flatnonzero((following == end).any(axis=1))
    return Demonstrations.from_trajectories(
        [(np.append(states[i, : lengths[i]], end), actions[i, : lengths[i]]) for i in done]
    )
