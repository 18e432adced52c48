"""Problems on roads in files, with their networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.problem import RoadProblem
from boirl.domains.roads.recursive_logit import RecursiveLogitProblem
from boirl.domains.roads.route_choice import RouteChoice
from boirl.domains.roads.trips import TripDemonstrations
from boirl.domains.roads.turn_rewards import TurnReward
from boirl.files import prefixed, without_prefix
from boirl.problem.saved import ProblemKind, tabular_fields, tabular_parts
from boirl.rewards import RewardFamily
from boirl.rewards.saved import reward_from_parts, reward_parts
from boirl.types import FloatArray, Parameter

Arrays = Mapping[str, NDArray[Any]]


def _network_arrays(network: RoadNetwork) -> dict[str, NDArray[Any]]:
    names = np.array(sorted(network.destinations), dtype=np.int64)
    feeders = [network.feeders(name) for name in names.tolist()]
    arrays = {
        "times": network.times,
        "turns": network.turns,
        "angles": network.angles,
        "destinations": names,
        "feeders": np.concatenate(feeders),
        "feeder_counts": np.array([len(one) for one in feeders]),
    }
    if network.ends is not None:
        arrays["ends"] = network.ends
    for kind, attributes in (("link", network.link_attributes), ("turn", network.turn_attributes)):
        if attributes:
            arrays[f"{kind}_attribute_names"] = np.array(list(attributes))
            arrays[f"{kind}_attributes"] = np.stack(list(attributes.values()))
    return arrays


def _network(arrays: Arrays) -> RoadNetwork:
    feeders = np.split(arrays["feeders"], np.cumsum(arrays["feeder_counts"])[:-1])
    return RoadNetwork(
        times=arrays["times"],
        turns=arrays["turns"],
        angles=arrays["angles"],
        destinations=dict(zip(arrays["destinations"].tolist(), feeders, strict=True)),
        ends=arrays.get("ends"),
        link_attributes=_attributes(arrays, "link"),
        turn_attributes=_attributes(arrays, "turn"),
    )


def _attributes(arrays: Arrays, kind: str) -> dict[str, FloatArray]:
    if f"{kind}_attributes" not in arrays:
        return {}
    names = arrays[f"{kind}_attribute_names"].tolist()
    return dict(zip(names, arrays[f"{kind}_attributes"], strict=True))


def _save_roads(problem: RoadProblem) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    facts, arrays = tabular_parts(problem)
    facts["destination"] = problem.destination
    return facts, {**arrays, **prefixed("network", _network_arrays(problem.network))}


def _load_roads(facts: Mapping[str, Any], arrays: Arrays) -> RoadProblem:
    return RoadProblem(
        **tabular_fields(facts, arrays),
        network=_network(without_prefix("network", arrays)),
        destination=facts["destination"],
    )


def _save_logit(
    problem: RecursiveLogitProblem,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    facts: dict[str, Any] = {
        "parameters": [asdict(parameter) for parameter in problem.reward.parameters],
        "truth": problem.truth,
        "at_destination": problem.choice.at_destination,
    }
    arrays = {
        "destinations": problem.choice.destinations,
        **prefixed("network", _network_arrays(problem.network)),
        **prefixed("demonstrations", problem.demonstrations.to_dict()),
    }
    if type(problem.reward) is not TurnReward:
        facts["reward"], features = reward_parts(problem.reward)
        arrays |= prefixed("reward", features)
    return facts, arrays


def _load_logit(facts: Mapping[str, Any], arrays: Arrays) -> RecursiveLogitProblem:
    network = _network(without_prefix("network", arrays))
    # Files that do not say were written when trips passed their destinations.
    choice = RouteChoice(network, arrays["destinations"], facts.get("at_destination", "pass"))
    reward: RewardFamily
    if "reward" in facts:
        reward = reward_from_parts(facts["reward"], without_prefix("reward", arrays))
    else:
        reward = TurnReward(choice, [Parameter(**one) for one in facts["parameters"]])
    return RecursiveLogitProblem(
        choice=choice,
        reward=reward,
        demonstrations=TripDemonstrations.from_dict(without_prefix("demonstrations", arrays)),
        truth=None if facts["truth"] is None else tuple(facts["truth"]),
    )


ROADS = ProblemKind(RoadProblem, _save_roads, _load_roads)
RECURSIVE_LOGIT = ProblemKind(RecursiveLogitProblem, _save_logit, _load_logit)
