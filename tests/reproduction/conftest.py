"""Made-up results of everything: what draws and describes is tested without computing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from boirl.experiments.published import WALKS
from boirl.reproduction.densities import EXACT
from boirl.reproduction.environments import ENVIRONMENTS
from boirl.reproduction.methods import AS_PUBLISHED, WITH_LOG_RHO
from boirl.reproduction.projected import MARKS
from boirl.reproduction.store import Cell, Store, Tables

SIZE = 5
BOXES = {"maze": ((-1.0, -1.0), (1.0, 1.0)), "fetch": ((0.0, -1.5), (0.25, 1.5))}


def add(store: Store, kind: str, key: dict[str, Any], tables: Tables) -> None:
    store.add(Cell(kind, key, {"quick": False}, lambda: tables), tables, 1.0)


def grid(low, high, values):
    x, y = (np.linspace(low[i], high[i], SIZE) for i in (0, 1))
    return [
        {"x": float(a), "y": float(b), **{name: of(a, b) for name, of in values.items()}}
        for b in y
        for a in x
    ]


def bowl(a, b):
    return float(23.0 + a**2 + b**2)


def add_search(store, environment, method, seed=0, of=6):
    low, high = BOXES.get(environment, ((-2.0, -2.0), (2.0, 2.0)))
    key = {
        "environment": environment,
        "method": method,
        "demonstrations": ENVIRONMENTS[environment].chosen_seed,
        "seed": seed,
        "of": of,
    }
    rng = np.random.default_rng(seed)
    thetas = rng.uniform(low, high, (of, 2))
    nll = [bowl(*theta) for theta in thetas]
    best = [value <= min(nll[: i + 1]) for i, value in enumerate(nll)]
    known = environment not in ("maze", "fetch", "borlange real")
    evaluations = [
        {
            "number": i,
            "theta0": theta[0],
            "theta1": theta[1],
            "nll": nll[i],
            "best": best[i],
            "esor": -nll[i] if best[i] else None,
            "distance": float(np.linalg.norm(theta)) if best[i] else None,
            "success": 0.5 if best[i] and environment == "fetch" else None,
        }
        for i, theta in enumerate(thetas.tolist())
    ]
    fit = {
        "names": "first; second",
        "truth": "" if environment == "borlange real" else "0.1; 0.2",
        "low": "; ".join(map(str, low)),
        "high": "; ".join(map(str, high)),
        "best_nll": min(nll),
        "truth_nll": 23.05 if known else None,
        "tolerance": 0.08,
        "rmse": 1.5 if known else None,
        "coverage": 0.9 if known else None,
    }
    tables = {
        "evaluations": evaluations,
        "fits": [fit],
        "posteriors": grid(low, high, {"mean": bowl, "sd": lambda a, b: 0.5 + abs(a)}),
    }
    if environment == "fetch":
        tables["paths"] = [
            {"number": i, "episode": 0, "step": step, "x": 10.0 - step, "y": 2.0}
            for i in range(of)
            if best[i]
            for step in range(3)
        ]
    add(store, "search", key, tables)


def add_facts(store, environment, seed, attainable=True):
    fact = {
        "count": 50,
        "tolerance": 0.08,
        "truth_nll": 23.05,
        "expert_esor": 5.0,
        "demonstrated_return": 5.4,
        "lowest_nll": 23.0,
        "lowest_nll_esor": 5.1 if attainable else 4.0,
        "attainable": attainable,
        "highest_esor": 5.2,
        "share_reaching": 0.04,
        "drawn": 64,
        "blind_share": 0.97,
        "blind_share_dropped": 0.1,
    }
    if environment == "maze":
        fact |= dict.fromkeys(("truth_nll", "lowest_nll", "highest_esor", "attainable"))
    add(
        store, "problem", {"environment": environment, "demonstrations": seed}, {"problems": [fact]}
    )


def add_trial(store, environment, protocol, method, seed, hit, attainable=True):
    key = {
        "environment": environment,
        "protocol": protocol,
        "method": method,
        "demonstrations": 3,
        "seed": seed,
    }
    row = {"budget": 40, "refused": None, "exact": hit, "sampled": hit, "best_nll": 23.0}
    row["attainable"] = attainable
    row["exact_policies"] = None if hit is None else hit + 1
    add(store, "trial", key, {"trials": [row]})


@pytest.fixture(scope="session")
def results(tmp_path_factory) -> Store:
    """A folder with made-up results of every kind."""
    store = Store(tmp_path_factory.mktemp("results"))
    for environment, seed in (("gridworld", 3), ("borlange wide", 0), ("borlange narrow", 0)):
        add_facts(store, environment, seed)
    add_facts(store, "maze", 0)
    add_facts(store, "gridworld", 0, attainable=False)
    for held in (0.0, 2.0, -3.0):
        key = {"environment": "gridworld", "demonstrations": 3, "held": held}
        rows = grid((-2.0, -2.0), (2.0, 2.0), {"nll": bowl})
        add(store, "landscape", key, {"landscapes": rows})
    for method in ("rho-rbf", "rbf", "matern"):
        for environment in ("gridworld", "borlange wide", "borlange real", "maze", "fetch"):
            add_search(store, environment, method)
            add_search(store, environment, method, 1)
        for ending in (AS_PUBLISHED, ""):
            add_search(store, "gridworld", f"{method}{ending}", of=4)
    add_search(store, "gridworld", WITH_LOG_RHO, of=4)
    for projection in ("rho", "log-rho"):
        for k, shift in ((10, 2.0), (20, -3.0)):
            key = {"environment": "gridworld", "projection": projection, "k": k, "shift": shift}
            cloud = [
                {
                    "mark": "cloud",
                    "theta0": x,
                    "theta1": x,
                    "nll": 24.0 + x,
                    "first": x,
                    "second": -x,
                }
                for x in (0.0, 0.5, 1.0)
            ]
            marked = [
                {
                    "mark": mark,
                    "theta0": 1.0,
                    "theta1": 1.0,
                    "nll": 23.0,
                    "first": 0.5,
                    "second": 0.5,
                }
                for mark in MARKS
            ]
            add(store, "projection", key, {"projections": cloud + marked})
    for method in (EXACT, WALKS, "birl", "rho-rbf"):
        key = {"environment": "gridworld", "method": method, "demonstrations": 3, "seed": 0}
        tilt = 1.0 if method == EXACT else 0.0
        rows = grid((-2, -2), (2, 2), {"density": lambda a, b, tilt=tilt: 1.0 + tilt * (a > 0)})
        add(store, "density", key, {"densities": rows})
    for method in ("airl", "gcl"):
        key = {"environment": "borlange real", "method": method, "seed": 0}
        add(store, "curve", key, {"curves": [{"number": i, "nll": 30.0 - i} for i in range(6)]})
    link = {"x0": 0.0, "y0": 0.0, "x1": 1.0, "y1": 1.0, "visits": 1.0}
    roads = [link, {**link, "x1": 2.0, "visits": 0.0}]
    add(store, "roads", {"environment": "borlange wide"}, {"roads": roads})
    for protocol in ("paper", "exact"):
        for seed in range(4):
            add_trial(store, "gridworld", protocol, "rho-rbf", seed, 1 + seed, seed != 2)
            add_trial(store, "gridworld", protocol, "random", seed, 20 if seed else None)
    return store


@pytest.fixture
def nothing(tmp_path) -> Store:
    """A folder without results."""
    return Store(tmp_path)
