"""Towns with something changed: a closed road, another destination."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.problem import RoadProblem
from boirl.environments.changes import start_from
from boirl.errors import InvalidInputError


def close_links(network: RoadNetwork, links: Sequence[int]) -> RoadNetwork:
    """The same network without the turns into some links; links keep their numbers."""
    closed = np.asarray(links, dtype=np.int64)
    if closed.size and not ((closed >= 0) & (closed < network.n_links)).all():
        raise InvalidInputError(
            f"the closed links are {closed.tolist()}; expected numbers from 0 to "
            f"{network.n_links - 1}"
        )
    kept = ~np.isin(network.turns[:, 1], closed)
    if not kept.any():
        raise InvalidInputError("no turn is left; expected some open links")
    attributes = {name: values[kept] for name, values in network.turn_attributes.items()}
    return replace(
        network, turns=network.turns[kept], angles=network.angles[kept], turn_attributes=attributes
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
        start: Link that trips start from, or several; by default anywhere.
        destination: Where trips go now; by default where they went.
    """
    network = close_links(problem.network, closed)
    goal = problem.destination if destination is None else destination
    utilities = {
        one.name: (one.low, one.high) if one.fixed is None else one.fixed
        for one in problem.reward.parameters
    }
    mdp = network.mdp(goal, problem.gamma)
    if start is not None:
        entered = np.zeros(mdp.n_states)
        entered[np.flatnonzero(np.isin(network.turns[:, 1], start))] = 1.0
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
