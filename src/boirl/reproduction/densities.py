"""Posteriors over rewards as densities of the first two parameters: BIRL's, ours, the exact one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from boirl.baselines import get
from boirl.experiments.published import WALKS
from boirl.metrics.posterior import exact_posterior
from boirl.reproduction.environments import ENVIRONMENTS, build_problem
from boirl.reproduction.methods import run_search
from boirl.reproduction.plan import Plan
from boirl.reproduction.store import Cell, Store, Tables, rounded
from boirl.types import FloatArray

TABLE = "densities"
CELLS, QUICK_CELLS = 20, 4
THIRD = 4
"""Cells of the third parameter in which the exact posterior is summed."""

STEPS = {"gridworld": 4096, "borlange wide": 512}
QUICK_STEPS = 64
EXACT = "exact"
PUBLISHED_CHAIN: dict[str, Any] = {"sampler": "policy-walk", "chains": 1}


def density_cell(plan: Plan, environment: str, method: str, seed: int) -> Cell:
    """The density of one posterior.

    Args:
        plan: See `Plan`.
        environment: One of `STEPS`.
        method: `"exact"`, the published chain of Bayesian IRL, `"birl"`, or a kernel, for samples
            from the posterior of a search.
        seed: Of the samples.
    """
    own = ENVIRONMENTS[environment]
    key = {
        "environment": environment,
        "method": method,
        "demonstrations": own.chosen_seed,
        "seed": seed,
    }
    steps = QUICK_STEPS if plan.quick else STEPS[environment]
    evaluations = plan.evaluations(own.shown)
    settings = {"quick": plan.quick, "steps": steps, "evaluations": evaluations}
    run = partial(
        _density,
        environment,
        own.chosen_seed,
        method,
        seed,
        steps,
        evaluations,
        plan.quick,
        plan.data,
    )
    return Cell("density", key, settings, run)


def _density(
    environment: str,
    demonstrations: int | None,
    method: str,
    seed: int,
    steps: int,
    evaluations: int,
    quick: bool,
    data: str | None,
) -> Tables:
    problem = build_problem(environment, demonstrations, quick, data)
    size = QUICK_CELLS if quick else CELLS
    box = problem.box
    if method == EXACT:
        third = [2 if quick else THIRD] * (box.dimension - 2)
        cells = exact_posterior(problem, [size, size, *third], 1 if quick else 4).probabilities
        shares = cells.sum(axis=tuple(range(2, cells.ndim)))
    else:
        if method in (WALKS, "birl"):
            settings = PUBLISHED_CHAIN if method == WALKS else {}
            samples = get("birl", **settings).run(problem, steps, seed).samples
            assert samples is not None
        else:
            found = run_search(problem, environment, method, seed, evaluations, quick)
            samples = found.sample(4000, seed)
        edges = [np.linspace(box.low[i], box.high[i], size + 1) for i in (0, 1)]
        counts, *_ = np.histogram2d(samples[:, 0], samples[:, 1], bins=edges)
        shares = counts / len(samples)
    middles = [
        box.low[i] + (np.arange(size) + 0.5) / size * (box.high[i] - box.low[i]) for i in (0, 1)
    ]
    return {
        TABLE: [
            {"x": rounded(x, 5), "y": rounded(y, 5), "density": rounded(shares[i, j] * size**2, 4)}
            for i, x in enumerate(middles[0])
            for j, y in enumerate(middles[1])
        ]
    }


def shares_of(store: Store, environment: str, method: str) -> FloatArray | None:
    """Probabilities of the cells, those of the first seed."""
    rows = store.select(TABLE, environment=environment, method=method)
    if not rows:
        return None
    first = min(row["seed"] for row in rows)
    density = np.array([row["density"] for row in rows if row["seed"] == first])
    return density / density.sum()


def variation(store: Store, environment: str, method: str) -> float | None:
    """Total variation from the exact posterior of the first two parameters."""
    exact, own = (shares_of(store, environment, one) for one in (EXACT, method))
    return None if exact is None or own is None else float(0.5 * np.abs(exact - own).sum())
