"""How fast is a finite problem solved, against plain sweeps and a plain Newton iteration in NumPy?

- Twelve random problems of 100 to 10,000 states, with stochastic dynamics that lead anywhere
  (`scattered`) or to states nearby (`local`, which mix slowly), at several discounts.
- A batch of 1,000 rewards on 80 states, against sweeps of the whole batch.
- The bus engines of Rust (1987) at a discount of 0.9999, where their records are at hand.

All to the same residual, on one core, in one run. `--costs` measures what the choice between sweeps
and Newton steps goes by (`boirl/policies/sweeps.py`).

Run with `make bench`, or `python benchmarks/solver_speed.py --out results/bench`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.sparse.linalg import splu

import boirl
from boirl.policies.sweeps import ROUNDING
from boirl.threads import single_thread
from boirl.types import FloatArray

ACTIONS, SUCCESSORS, REACH = 4, 5, 10
TOLERANCE = 1e-12
PROBLEMS: tuple[tuple[str, int, float, Any], ...] = (
    ("scattered", 100, 0.9, "max"),
    ("local", 100, 0.999, "logsumexp"),
    ("scattered", 100, 0.9999, "boltzmann"),
    ("local", 300, 0.9, "logsumexp"),
    ("scattered", 300, 0.999, "boltzmann"),
    ("local", 300, 0.9999, "max"),
    ("scattered", 1000, 0.9, "boltzmann"),
    ("local", 1000, 0.999, "max"),
    ("scattered", 1000, 0.9999, "logsumexp"),
    ("local", 3000, 0.99, "max"),
    ("scattered", 10_000, 0.9, "logsumexp"),
    ("local", 10_000, 0.999, "logsumexp"),
)
BATCH_STATES, BATCH_PARAMETERS = 80, 3
BATCH_DISCOUNTS = (0.9, 0.95, 0.99)
BUS_INCREMENTS = (0.39841566, 0.58876980, 0.01281454)
BUS_THETA = (2.293, 10.075)


def random_mdp(kind: str, n_states: int, gamma: float, seed: int) -> boirl.TabularMDP:
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n_states * ACTIONS), SUCCESSORS)
    if kind == "scattered":
        reached = rng.integers(n_states, size=len(rows))
    else:
        reached = (rows // ACTIONS + rng.integers(-REACH, REACH + 1, len(rows))) % n_states
    shares = rng.dirichlet(np.ones(SUCCESSORS), n_states * ACTIONS).reshape(-1)
    shape = (n_states * ACTIONS, n_states)
    transition = sp.csr_array((shares, (rows, reached)), shape=shape)
    transition.sum_duplicates()
    return boirl.TabularMDP(transition, ACTIONS, gamma, np.full(n_states, 1.0 / n_states))


def back_up(bellman: str, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """New values `S` and their derivative by `q`, `S x A`."""
    top = q.max(axis=1, keepdims=True)
    if bellman == "max":
        return top[:, 0], (q == top).astype(float)
    weights = np.exp(q - top)
    total = weights.sum(axis=1, keepdims=True)
    share = weights / total
    if bellman == "logsumexp":
        return (top + np.log(total))[:, 0], share
    values = (share * q).sum(axis=1)
    return values, share * (1.0 + q - values[:, None])


def settled(change: FloatArray, values: FloatArray) -> bool:
    size = float(np.abs(change).max())
    return size <= max(TOLERANCE, ROUNDING * float(np.abs(values).max()))


def plain_sweeps(mdp: boirl.TabularMDP, rewards: FloatArray, bellman: str) -> FloatArray:
    """The loop that everybody would write first."""
    values = np.zeros(mdp.n_states)
    while True:
        q = rewards + mdp.gamma * (mdp.transition @ values).reshape(mdp.n_states, mdp.n_actions)
        top = q.max(axis=1)
        if bellman == "max":
            new = top
        elif bellman == "logsumexp":
            new = top + np.log(np.exp(q - top[:, None]).sum(axis=1))
        else:
            weights = np.exp(q - top[:, None])
            new = (weights * q).sum(axis=1) / weights.sum(axis=1)
        change, values = new - values, new
        if settled(change, values):
            return values


def plain_newton(mdp: boirl.TabularMDP, rewards: FloatArray, bellman: str) -> FloatArray:
    """Newton's method in twenty lines, with a dense matrix at each step."""
    n, entries = mdp.n_states, mdp.transition.tocoo()
    rows, columns = entries.coords
    values = np.zeros(n)
    while True:
        q = rewards + mdp.gamma * (mdp.transition @ values).reshape(n, mdp.n_actions)
        new, weights = back_up(bellman, q)
        if settled(new - values, values):
            return values
        matrix = np.eye(n)
        flow = mdp.gamma * weights.reshape(-1)[rows] * entries.data
        np.subtract.at(matrix, (rows // mdp.n_actions, columns), flow)
        values = values + np.linalg.solve(matrix, new - values)


def sweep_batch(mdp: boirl.TabularMDP, rewards: FloatArray, bellman: str) -> FloatArray:
    """Sweeps of a whole batch, `n x S x 1`, until each has settled: what `boirl` 0.1 did."""
    table = np.ascontiguousarray(np.moveaxis(rewards, 0, -1))
    values = np.zeros((mdp.n_states, len(rewards)))
    active, old, paid = np.arange(len(rewards)), values, table
    while active.size:
        q = (mdp.transition @ old).reshape(mdp.n_states, mdp.n_actions, -1)
        q *= mdp.gamma
        q += paid
        top = q.max(axis=1)
        new = top
        if bellman == "logsumexp":
            new = top + np.log(np.exp(q - top[:, None]).sum(axis=1))
        elif bellman == "boltzmann":
            scaled = q - top[:, None]
            logs = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
            new = (np.exp(logs) * q).sum(axis=1)
        change = np.abs(new - old).max(axis=0)
        done = change <= np.maximum(TOLERANCE, ROUNDING * np.abs(new).max(axis=0))
        old = new
        if done.any():
            values[:, active] = new
            active, old, paid = active[~done], new[:, ~done], paid[..., ~done]
    return values


def seconds(function: Callable[[], Any], budget: float = 1.0) -> tuple[float, Any]:
    """The fastest of up to five runs, fewer of slow ones, and the result."""
    best, result, began = np.inf, None, time.perf_counter()
    for _ in range(5):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - began > budget:
            break
    return best, result


def compare(kind: str, n_states: int, gamma: float, bellman: Any, seed: int) -> dict[str, Any]:
    mdp = random_mdp(kind, n_states, gamma, seed)
    rewards = np.random.default_rng(seed + 1).normal(size=(n_states, 1))
    solver = boirl.TabularSolver(bellman)
    first = time.perf_counter()
    solver.solve(mdp, rewards)
    first = time.perf_counter() - first
    ours, policy = seconds(partial(solver.solve, mdp, rewards))
    sweeps, swept = seconds(partial(plain_sweeps, mdp, rewards, bellman))
    newton, stepped = seconds(partial(plain_newton, mdp, rewards, bellman))
    scale = np.abs(swept).max()
    return {
        "kind": kind,
        "states": n_states,
        "gamma": gamma,
        "bellman": bellman,
        "our_seconds": ours,
        "our_first_seconds": first,
        "sweeps_seconds": sweeps,
        "newton_seconds": newton,
        "sweeps_over_ours": sweeps / ours,
        "newton_over_ours": newton / ours,
        "steps": policy.facts["sweeps"],
        "relative_difference": float(
            max(np.abs(policy.values - swept).max(), np.abs(policy.values - stepped).max()) / scale
        ),
    }


def compare_batch(gamma: float, bellman: Any, n: int, seed: int) -> dict[str, Any]:
    mdp = random_mdp("scattered", BATCH_STATES, gamma, seed)
    rng = np.random.default_rng(seed + 1)
    features = rng.normal(size=(BATCH_STATES, BATCH_PARAMETERS))
    rewards = (rng.uniform(-1.0, 1.0, (n, BATCH_PARAMETERS)) @ features.T)[..., None]
    # What fits the cache of a core, as a problem does it.
    size = 100_000 // (BATCH_STATES * ACTIONS)
    parts = [rewards[k : k + size] for k in range(0, n, size)]
    solver = boirl.TabularSolver(bellman)
    # The first large batch of a process loads compiled code.
    first, _ = seconds(partial(solver.solve_batch, mdp, parts[0]), budget=0.0)
    ours, found = seconds(lambda: [solver.solve_batch(mdp, part) for part in parts])
    plain, swept = seconds(lambda: [sweep_batch(mdp, part, bellman) for part in parts])
    values = np.concatenate([one.values for one in found])
    return {
        "gamma": gamma,
        "bellman": bellman,
        "rewards": n,
        "our_seconds": ours,
        "our_first_seconds": first,
        "sweeps_seconds": plain,
        "sweeps_over_ours": plain / ours,
        "largest_difference": float(np.abs(values - np.concatenate(swept, axis=1).T).max()),
    }


def bus_problem(path: Path) -> boirl.TabularProblem:
    """Rust's model of 90 mileage bins: keep an engine, or replace it."""
    table = np.genfromtxt(path, delimiter=",", names=True)
    group = table[table["group"] == 4]
    bins, increments = np.arange(90), np.array(BUS_INCREMENTS)
    probabilities = np.zeros((90, 2, 90))
    for step, chance in enumerate(increments / increments.sum()):
        probabilities[bins, 0, np.minimum(bins + step, 89)] += chance
        probabilities[:, 1, step] += chance
    features = np.zeros((90, 2, 2))
    features[:, 0, 0], features[:, 1, 1] = -0.001 * bins, -1.0
    bounds = {"maintenance": (0.0, 20.0), "replacement": (0.0, 30.0)}
    buses = [group[group["bus"] == bus] for bus in np.unique(group["bus"])]
    records = [(one["bin"].astype(int), one["replaced"].astype(int)) for one in buses]
    return boirl.TabularProblem(
        boirl.TabularMDP.from_probabilities(probabilities, gamma=0.9999),
        boirl.LinearReward(features, bounds),
        boirl.Demonstrations.from_trajectories(records),
        boirl.TabularSolver("logsumexp"),
        name="bus engines",
    )


def compare_bus(path: Path) -> dict[str, Any]:
    problem = bus_problem(path)
    ours, evaluation = seconds(partial(problem.evaluate, BUS_THETA))
    rewards = problem.mdp.expected_rewards(problem.reward, np.array([BUS_THETA]))[0]
    plain, _ = seconds(partial(plain_sweeps, problem.mdp, rewards, "logsumexp"))
    return {
        "log_likelihood": float(evaluation.log_likelihoods.sum()),
        "evaluation_seconds": ours,
        "sweeps_seconds": plain,
        "sweeps_over_ours": plain / ours,
    }


def costs() -> dict[str, float]:
    """Nanoseconds of the steps that sweeps and Newton steps consist of."""
    small, large = random_mdp("scattered", 10, 0.9, 0), random_mdp("scattered", 20_000, 0.9, 0)
    found = {"a sweep of 10 states": 1e9 * _sweep_seconds(small, "logsumexp", 1)}
    rows = large.n_states * ACTIONS
    product, _ = seconds(partial(large.expect_next, np.ones((large.n_states, 8))))
    found["an entry of the dynamics"] = 1e9 * product / (8 * large.transition.nnz)
    for bellman in ("max", "logsumexp", "boltzmann"):
        whole = _sweep_seconds(large, bellman, 8)
        found[f"a backup of {bellman}"] = 1e9 * (whole - product) / (8 * rows)
    matrix = np.eye(300) + np.random.default_rng(0).random((300, 300)) / 300
    taken, _ = seconds(partial(np.linalg.solve, matrix, np.ones(300)))
    found["dense operations per nanosecond"] = 2 / 3 * 300**3 / (1e9 * taken)
    weights = np.full((large.n_states, ACTIONS), 1.0 / ACTIONS)
    assembled, _ = seconds(partial(large.chain, weights))
    found["an entry that is assembled"] = 1e9 * assembled / large.transition.nnz
    local = random_mdp("local", 5000, 0.9, 0)
    system = sp.csc_array(sp.eye_array(5000) - 0.9 * local.chain(weights[:5000]))
    factorised, factors = seconds(partial(splu, system))
    columns, following = np.diff(factors.L.indptr), np.diff(factors.U.tocsr().indptr)
    operations = 2.0 * float((columns * following).sum())
    found["sparse operations per nanosecond"] = operations / (1e9 * factorised)
    return found


def _sweep_seconds(mdp: boirl.TabularMDP, bellman: Any, n: int) -> float:
    rewards = np.random.default_rng(0).normal(size=(n, mdp.n_states, 1))
    solver = boirl.TabularSolver(bellman, max_sweeps=20)
    return seconds(partial(solver.solve_batch, mdp, rewards))[0] / 20


def show(console: Console, rows: list[dict[str, Any]], title: str) -> None:
    table = Table(box=None, title=title)
    for heading in rows[0]:
        table.add_column(heading.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*(f"{x:.3g}" if isinstance(x, float) else str(x) for x in row.values()))
    console.print(table)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/bench"))
    parser.add_argument("--bus", type=Path, help="buses.csv, the records of bus engines")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--costs", action="store_true", help="measure costs, and nothing else")
    parser.add_argument("--tiny", action="store_true", help="small problems, to see that it runs")
    arguments = parser.parse_args(argv)
    console = Console(soft_wrap=True)
    if arguments.costs:
        show(console, [costs()], "costs in nanoseconds")
        return
    chosen = PROBLEMS[:2] if arguments.tiny else PROBLEMS
    operators = ("max", "logsumexp", "boltzmann")
    batches = (
        [(0.9, "max")]
        if arguments.tiny
        else [(gamma, bellman) for gamma in BATCH_DISCOUNTS for bellman in operators]
    )
    with single_thread():
        results: dict[str, Any] = {
            "single": [
                compare(*problem, seed=arguments.seed + number)
                for number, problem in enumerate(track(chosen, "problems", transient=True))
            ],
            "batch": [
                compare_batch(gamma, bellman, 20 if arguments.tiny else 1000, arguments.seed)
                for gamma, bellman in track(batches, "batches", transient=True)
            ],
        }
        if arguments.bus is not None:
            results["bus_engines"] = compare_bus(arguments.bus)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "solver_speed.json"
    path.write_text(json.dumps(results, indent=2) + "\n")
    show(console, results["single"], "one reward")
    show(console, results["batch"], f"many rewards on {BATCH_STATES} states")
    if "bus_engines" in results:
        show(console, [results["bus_engines"]], "bus engines, gamma 0.9999")
    else:
        console.print("bus engines: left out; name their records with --bus FOLDER/buses.csv")
    console.print(f"written: {path}")


if __name__ == "__main__":
    main()
