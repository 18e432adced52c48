"""Towns with something changed: a closed road, another destination."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.problem import RoadProblem
from boirl.environments.changes import close_states, start_from
from boirl.errors import InvalidInputError


def close_links(network: RoadNetwork, links: Sequence[int]) -> RoadNetwork:
    """The same network without the turns into some links; links keep their numbers."""
    _check_links(network, links)
    kept = ~np.isin(network.turns[:, 1], np.asarray(links, dtype=np.int64))
    if not kept.any():
        raise InvalidInputError("no turn is left; expected some open links")
    attributes = {name: values[kept] for name, values in network.turn_attributes.items()}
    return replace(
        network, turns=network.turns[kept], angles=network.angles[kept], turn_attributes=attributes
    )


def _check_links(network: RoadNetwork, links: Sequence[int]) -> None:
    closed = np.asarray(links, dtype=np.int64)
    if closed.size and not ((closed >= 0) & (closed < network.n_links)).all():
        raise InvalidInputError(
            f"the closed links are {closed.tolist()}; expected numbers from 0 to "
            f"{network.n_links - 1}"
        )


def change_town(
    problem: RoadProblem,
    closed: Sequence[int] = (),
    start: int | Sequence[int] | None = None,
    destination: int | None = None,
) -> RoadProblem:
    """The same travellers in a changed town, without demonstrations.

    Args:
        problem: Trips to one destination.
        closed: Links that nobody can turn into.
        start: Link that trips start from, or several; by default where they did, and anywhere on
            the way to another destination.
        destination: Where trips go now; by default where they went.
    """
    network = problem.network
    _check_links(network, closed)
    goal = problem.destination if destination is None else destination
    utilities = {
        one.name: (one.low, one.high) if one.fixed is None else one.fixed
        for one in problem.reward.parameters
    }
    mdp = problem.mdp if destination is None else network.mdp(goal, problem.gamma)
    shut = np.isin(network.turns[:, 1], closed)
    if shut.all():
        raise InvalidInputError("no turn is left; expected some open links")
    if shut.any():
        # States keep their numbers, so that what is measured before and after is the same.
        mdp = close_states(mdp, np.flatnonzero(shut))
    if start is not None:
        entered = np.zeros(mdp.n_states)
        entered[np.flatnonzero(np.isin(network.turns[:, 1], start) & ~shut)] = 1.0
        if not entered.any():
            raise InvalidInputError(f"no turn leads to link {start}; expected an open link")
        mdp = start_from(mdp, entered / entered.sum())
    return RoadProblem(
        mdp=mdp,
        reward=network.reward(goal, utilities=utilities),
        demonstrations=cast(Demonstrations, None),
        solver=problem.solver,
        horizon=problem.steps,
        truth=problem.truth,
        name=f"{problem.name}, changed",
        network=network,
        destination=goal,
    )
