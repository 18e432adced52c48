"""What the paper prints in Table 1, to stand beside our numbers."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """A cell of Table 1.

    Attributes:
        reached: Share of trials that reached the expert's ESOR.
        mean: Iterations until then, over these trials; 0 is the initial point. None for a dash.
        sd: Their standard deviation.
    """

    reached: float
    mean: float | None
    sd: float | None = None


TABLE1: dict[tuple[str, str], Published] = {
    ("gridworld", "rho-rbf"): Published(0.7, 16.0, 15.6),
    ("gridworld", "rbf"): Published(0.5, 30.0, 34.4),
    ("gridworld", "matern"): Published(0.6, 22.2, 12.2),
    ("gridworld", "birl"): Published(0.8, 630.5, 736.9),
    ("gridworld", "airl"): Published(0.7, 70.4, 23.1),
    ("gridworld", "gcl"): Published(0.4, 277.5, 113.1),
    ("borlange", "rho-rbf"): Published(1.0, 2.0, 1.1),
    ("borlange", "rbf"): Published(0.8, 9.5, 6.3),
    ("borlange", "matern"): Published(1.0, 5.6, 3.8),
    ("borlange", "birl"): Published(0.8, 98.0, 167.4),
    ("borlange", "airl"): Published(1.0, 80.0, 36.3),
    ("borlange", "gcl"): Published(0.8, 375.0, 68.7),
    ("maze", "rho-rbf"): Published(0.8, 51.4, 23.1),
    ("maze", "rbf"): Published(0.2, 28.0, 4.0),
    ("maze", "matern"): Published(0.2, 56.0, 29.0),
    ("maze", "airl"): Published(0.8, 90.0, 70.4),
    ("maze", "gcl"): Published(0.0, None),
}
"""By environment and method."""

WALKS = "birl (PolicyWalk)"
"""The paper's Bayesian IRL in our tables: the published chain, four of them side by side."""


def published(environment: str, method: str) -> Published | None:
    """The paper's number for a row of ours: the first words of both names decide.

    `birl` without a remark is another sampler than the published one and has no number.
    """
    if method == "birl":
        return None
    name = "birl" if method == WALKS else method.split(",")[0]
    return TABLE1.get((environment.split()[0], name))
