"""Rust's model of engine replacement: keep an engine, which costs more with mileage, or replace it.

States are 90 bins of 5,000 miles since the last replacement. Keeping pays `-0.001 * maintenance *
bin`, replacing pays `-replacement`; the manager chooses by `logsumexp` with inverse temperature 1.
After keeping, the bin rises by 0, 1 or 2 with the shares that the records show; after replacing it
does so from 0. (Rust, *Optimal Replacement of GMC Bus Engines*, Econometrica 55, 1987, Table IX.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boirl.datasets import data_folder
from boirl.domains.bus_engines.records import N_BINS, BusRecords, read_buses
from boirl.environments import TabularMDP
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward
from boirl.types import FloatArray, IntArray

COST_PER_BIN = 0.001
"""Rust's scale of the maintenance parameter."""

THOUSAND_MILES_PER_BIN = 5.0
GROUP = 4
FAR_SIGHTED, MYOPIC = 0.9999, 0.0001
"""Discounts of the two stories; the second is the 0 of the paper, which a discount cannot be."""


@dataclass(frozen=True, eq=False, repr=False)
class BusEngineProblem(TabularProblem):
    """Replacements to be explained by costs of maintenance and replacement."""

    def replacement_probabilities(self, theta: ArrayLike) -> FloatArray:
        """Probability that the engine is replaced in a month, by bin, `S`."""
        return self.policy(theta).probabilities[:, 1]

    def observed_months(self) -> tuple[IntArray, IntArray]:
        """Months recorded in each bin, and those with a replacement, `S` each."""
        bins, n_bins = self.demonstrations.states, self.mdp.n_states
        months = np.bincount(bins, minlength=n_bins)
        return months, np.bincount(bins[self.demonstrations.actions == 1], minlength=n_bins)


def build_bus_engines(
    data: str | None = None,
    group: int = GROUP,
    gamma: float = FAR_SIGHTED,
    most_maintenance: float = 10.0,
    most_replacement: float = 20.0,
) -> BusEngineProblem:
    records = read_buses(data_folder("bus-engines", data)).of_group(group)
    return bus_engine_problem(records, gamma, most_maintenance, most_replacement)


def build_bus_engines_myopic(
    data: str | None = None,
    group: int = GROUP,
    most_maintenance: float = 200.0,
    most_replacement: float = 20.0,
) -> BusEngineProblem:
    return build_bus_engines(data, group, MYOPIC, most_maintenance, most_replacement)


def bus_engine_problem(
    records: BusRecords,
    gamma: float = FAR_SIGHTED,
    most_maintenance: float = 10.0,
    most_replacement: float = 20.0,
) -> BusEngineProblem:
    """The problem of explaining replacements.

    Args:
        records: Of the buses; the rises of mileage are estimated from them, too.
        gamma: Monthly discount.
        most_maintenance: Upper bound of the maintenance parameter; the lower one is 0.
        most_replacement: Upper bound of the replacement parameter; the lower one is 0.
    """
    bounds = {"maintenance": (0.0, most_maintenance), "replacement": (0.0, most_replacement)}
    return BusEngineProblem(
        mdp=bus_mdp(records.increments, gamma),
        reward=bus_reward(bounds),
        demonstrations=records.demonstrations(),
        solver=TabularSolver("logsumexp"),
        name="bus engines",
    )


def bus_mdp(increments: ArrayLike, gamma: float) -> TabularMDP:
    """Mileage bins that rise by 0, 1, ... with the probabilities given, up to the last bin.

    A bus starts in the first one. Action 0 keeps the engine, 1 replaces it.
    """
    bins = np.arange(N_BINS)
    probabilities = np.zeros((N_BINS, 2, N_BINS))
    for rise, share in enumerate(np.asarray(increments, dtype=np.float64)):
        probabilities[bins, 0, np.minimum(bins + rise, N_BINS - 1)] += share
        probabilities[:, 1, rise] += share
    return TabularMDP.from_probabilities(probabilities, gamma, start=np.eye(N_BINS)[0])


def bus_reward(bounds: dict[str, tuple[float, float]]) -> LinearReward:
    """Costs of keeping and replacing an engine, `S x 2 x 2` features."""
    features = np.zeros((N_BINS, 2, 2))
    features[:, 0, 0] = -COST_PER_BIN * np.arange(N_BINS)
    features[:, 1, 1] = -1.0
    return LinearReward(features, bounds)
