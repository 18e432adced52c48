"""Made-up records of buses, to try things out where the recorded ones are not at hand."""

from __future__ import annotations

import numpy as np

from boirl.domains.bus_engines.problem import FAR_SIGHTED, bus_mdp, bus_reward
from boirl.domains.bus_engines.records import BusRecords
from boirl.policies import TabularSolver

INCREMENTS = (0.4, 0.59, 0.01)
TRUTH = (2.5, 8.0)


def make_up_buses(
    n_buses: int = 20, n_months: int = 100, seed: int = 0, gamma: float = FAR_SIGHTED
) -> BusRecords:
    """Records of buses whose manager pays `TRUTH` for maintenance and replacement.

    Args:
        n_buses: All of them in group 4, new in their first month.
        n_months: Of each bus.
        seed: Of mileages and decisions.
        gamma: Discount of the manager.
    """
    mdp = bus_mdp(INCREMENTS, gamma)
    reward = bus_reward({"maintenance": (0.0, 10.0), "replacement": (0.0, 20.0)})
    policy = TabularSolver("logsumexp").solve(
        mdp, mdp.expected_rewards(reward, np.array([TRUTH]))[0]
    )
    rng = np.random.default_rng(seed)
    lives = policy.sample(mdp, np.zeros(n_buses, dtype=np.int64), n_months, rng)
    buses = np.repeat(np.arange(1, n_buses + 1), n_months)
    return BusRecords(np.full(len(buses), 4), buses, lives.states, lives.actions)
