"""Where to look next: the reward to evaluate, and the demonstration to ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boirl.report.scenes import Scene
from boirl.results import Result, RewardGroup, RewardSet
from boirl.search import ACQUISITIONS
from boirl.threads import single_thread
from boirl.types import FloatArray

OUTLOOK_STREAM = 9
SHOWN_STATES = 5


@dataclass(frozen=True, eq=False)
class NextReward:
    """The reward that one more evaluation would go to.

    Attributes:
        theta: `d`.
        mean, sd: What is expected of its NLL.
        purpose: What the search hopes for.
    """

    theta: FloatArray
    mean: float
    sd: float
    purpose: str


@dataclass(frozen=True)
class Disagreement:
    """A state in which two rewards act differently.

    Attributes:
        state: In words.
        one, other: What each does there.
        distance: Total variation between their choices, in [0, 1].
    """

    state: str
    one: str
    other: str
    distance: float


def next_reward(found: RewardSet) -> NextReward | None:
    """What the acquisition of the search would propose now; None where it does not ask."""
    name = str(found.settings.get("acquisition", "resolve"))
    if name not in ACQUISITIONS or name == "random":
        return None
    rng = np.random.default_rng([int(found.settings.get("seed", 0)), len(found), OUTLOOK_STREAM])
    count = len(found.problem.demonstrations)
    with single_thread():
        fitted = replace(found.fitted, n_demonstrations=count, prior=found.prior)
        unit, purpose = ACQUISITIONS[name](fitted, rng)
    theta = found.problem.box.from_unit(unit)
    mean, sd = found.predict_nll(theta)
    return NextReward(theta, mean, sd, purpose)


def disagreements(
    result: Result, one: int, other: int, scene: Scene | None, n: int = SHOWN_STATES
) -> list[Disagreement]:
    """Where, along the demonstrations, the rewards of two evaluations act most differently."""
    policies = result.policy(one), result.policy(other)
    found = result.problem.most_different(*policies, n)
    return [
        Disagreement(
            f"state {apart.state}" if scene is None else scene.state_name(apart.state),
            _choice(scene, policies[0], apart.state, apart.action),
            _choice(scene, policies[1], apart.state, apart.other_action),
            float(apart.distance),
        )
        for apart in found
        if apart.distance > 0.0
    ]


def _choice(scene: Scene | None, policy: Any, state: Any, action: Any) -> str:
    """What a policy does most likely, and how likely that is where it is known."""
    if scene is None:
        return f"action {action}"
    name, chances = scene.action_name(state, action), scene.chances(policy, state)
    return name if chances is None else f"{name} {chances[action]:.0%}"


def rivals(result: Result, groups: Sequence[RewardGroup]) -> tuple[int, int] | None:
    """Two evaluations that the demonstrations do not tell apart but that act differently.

    The best of the first two groups that are not rejected or, where there is one such group, its
    best reward and the one that differs most from it. None where there is but one reward.
    """
    limit = result.best_nll + result.likelihood_ratio_tolerance()
    plausible = [group for group in groups if group.nll <= limit]
    if len(plausible) > 1:
        return int(plausible[0].indices[0]), int(plausible[1].indices[0])
    members = [int(n) for n in plausible[0].indices if result.nll[n] <= limit]
    if len(members) < 2:
        return None
    return members[0], members[int(result.distances(members)[0].argmax())]
