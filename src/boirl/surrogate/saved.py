"""A surrogate as plain numbers, strings and arrays, for a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.demonstrations import Demonstrations
from boirl.files import prefixed, without_prefix
from boirl.problem import Problem
from boirl.projections import PROJECTIONS, Identity, LogRho, Projection
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import get_kernel

Arrays = dict[str, NDArray[Any]]


def surrogate_parts(surrogate: Surrogate) -> tuple[dict[str, Any], Arrays]:
    """Facts, ready for JSON, and arrays that `surrogate_from_parts` makes the surrogate of."""
    kernel, projection = surrogate.kernel, surrogate.projection
    facts: dict[str, Any] = {
        "kernel": kernel.name,
        "smoothness": kernel.smoothness,
        "linear": kernel.linear,
        "scale": surrogate.scale,
        "n_demonstrations": surrogate.n_demonstrations,
        "projection": None,
    }
    arrays: Arrays = {}
    if isinstance(projection, LogRho):
        facts["projection"] = projection.name
        facts["compares_policies"] = projection.compares_policies
        parameters = projection.reward.parameters
        facts["fixed"] = {p.name: p.fixed for p in parameters if p.fixed is not None}
        rollouts = Demonstrations.concatenate(projection.rollouts)
        arrays |= prefixed("projected", projection.demonstrations.to_dict())
        arrays |= prefixed("rollouts", rollouts.to_dict())
        arrays["rollout_counts"] = np.array([len(one) for one in projection.rollouts])
    return facts, arrays


def surrogate_from_parts(
    problem: Problem[Any], facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Surrogate:
    """The inverse of `surrogate_parts`."""
    kernel = get_kernel(facts["kernel"], facts["smoothness"], facts["linear"])
    projection: Projection = Identity(problem.box)
    if facts["projection"] is not None:
        counts = arrays["rollout_counts"]
        rollouts = Demonstrations.from_dict(without_prefix("rollouts", arrays))
        projection = PROJECTIONS[facts["projection"]](
            problem,
            Demonstrations.from_dict(without_prefix("projected", arrays)),
            [
                rollouts.subset(np.arange(end - count, end))
                for end, count in zip(np.cumsum(counts), counts, strict=True)
            ],
            problem.reward.fix(**facts["fixed"]),
            compares_policies=facts["compares_policies"],
        )
    n_demonstrations = facts.get("n_demonstrations", len(problem.demonstrations))
    return Surrogate(
        kernel, projection, problem.box, facts["scale"], n_demonstrations, problem.ruled_out_by
    )
