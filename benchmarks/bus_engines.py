"""How fast are Rust's bus engines fitted, against the nested fixed point of others?

One fit is the maximum of the likelihood with its standard errors, at a discount of 0.9999, from
records in memory. The peers: `NFXP` of econirl where it can be imported (or is found in the folder
that --econirl names, say one that `pip install --target FOLDER econirl` filled), and otherwise a
plain nested fixed point: sweeps with dense matrices inside, SciPy's BFGS with numerical gradients
outside. All on one core, in one run; without --data on made-up records.

Run with `python benchmarks/bus_engines.py --data FOLDER --econirl FOLDER --out results/bench`.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize

import boirl
from boirl.domains.bus_engines.made_up import make_up_buses
from boirl.domains.bus_engines.problem import FAR_SIGHTED, BusEngineProblem, bus_engine_problem
from boirl.domains.bus_engines.records import BusRecords, read_buses
from boirl.threads import single_thread
from boirl.types import FloatArray

START = (1.0, 5.0)
"""Where the plain nested fixed point starts."""

TOLERANCE = 1e-11
STEP = 1e-4
"""Of the sweeps and of the numerical gradients of the plain nested fixed point."""


def timed(function: Callable[[], Any], runs: int) -> tuple[list[float], Any]:
    """Seconds of each run, and the last result."""
    seconds, result = [], None
    for _ in range(runs):
        began = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - began)
    return seconds, result


def fit_ours(records: BusRecords, gamma: float) -> dict[str, Any]:
    estimate = boirl.maximum_likelihood(bus_engine_problem(records, gamma))
    return {
        "theta": estimate.theta.tolist(),
        "standard_errors": estimate.standard_errors.tolist(),
        "log_likelihood": estimate.log_likelihood,
    }


def fit_econirl(records: BusRecords, gamma: float) -> dict[str, Any]:
    """`NFXP` with its defaults; its operating cost is a thousandth of our maintenance."""
    pandas = importlib.import_module("pandas")
    estimators = importlib.import_module("econirl.estimators")
    datasets = importlib.import_module("econirl.datasets")
    frame = pandas.DataFrame(
        {"bus": records.buses, "bin": records.bins, "replaced": records.replaced}
    )
    model = estimators.NFXP(
        n_states=90, discount=gamma, utility=datasets.rust_bus_reward_spec(90), verbose=False
    )
    model.fit(data=frame, state="bin", action="replaced", id="bus")
    scale = {"operating_cost": 1000.0, "replacement_cost": 1.0}
    return {
        "theta": [scale[name] * float(model.params_[name]) for name in scale],
        "standard_errors": [scale[name] * float(model.se_[name]) for name in scale],
        "log_likelihood": float(model.log_likelihood_),
    }


def fit_plainly(records: BusRecords, gamma: float) -> dict[str, Any]:
    """What one would write first."""
    problem = bus_engine_problem(records, gamma)
    probabilities = problem.mdp.dense_by_state
    features = problem.reward.table  # type: ignore[attr-defined]
    values = np.zeros(len(features))

    def nll(theta: FloatArray) -> float:
        nonlocal values
        while True:
            q = features @ theta + gamma * probabilities @ values
            new = np.logaddexp(q[:, 0], q[:, 1])
            change, values = float(np.abs(new - values).max()), new
            if change <= TOLERANCE:
                break
        chosen = q[records.bins, records.replaced] - new[records.bins]
        return -float(chosen.sum())

    found = minimize(nll, np.array(START), method="BFGS", options={"eps": STEP, "gtol": 1e-3})
    return {
        "theta": found.x.tolist(),
        "standard_errors": np.sqrt(np.diag(found.hess_inv)).tolist(),
        "log_likelihood": -float(found.fun),
    }


def exact_log_likelihood(problem: BusEngineProblem, theta: Sequence[float]) -> float:
    """Of a peer's estimate, by our solver: what its own values are worth."""
    inside = np.clip(np.array(theta), problem.box.low, problem.box.high)
    return -len(problem.demonstrations) * problem.nll(inside)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/bench"))
    parser.add_argument("--data", type=Path, help="folder with buses.csv")
    parser.add_argument("--econirl", type=Path, help="folder that econirl was installed into")
    parser.add_argument("--tiny", action="store_true", help="a small problem, to see that it runs")
    arguments = parser.parse_args(argv)
    console = Console(soft_wrap=True)
    if arguments.econirl is not None:
        # At the end, so that what is installed beside boirl comes first.
        sys.path.append(str(arguments.econirl))
    gamma = 0.95 if arguments.tiny else FAR_SIGHTED
    if arguments.data is not None:
        records = read_buses(arguments.data).of_group(4)
    else:
        records = make_up_buses(10 if arguments.tiny else 37)
    known = importlib.util.find_spec("econirl") is not None and not arguments.tiny
    peer, fit = ("econirl NFXP", fit_econirl) if known else ("plain NFXP", fit_plainly)
    with single_thread():
        ours, found = timed(lambda: fit_ours(records, gamma), 5)
        theirs, other = timed(lambda: fit(records, gamma), 2 if known else 1)
    problem = bus_engine_problem(records, gamma)
    rows = []
    for name, seconds, result in (("boirl", ours, found), (peer, theirs, other)):
        rows.append(
            {
                "method": name,
                "first_seconds": seconds[0],
                "best_seconds": min(seconds),
                **result,
                "exact_log_likelihood": exact_log_likelihood(problem, result["theta"]),
            }
        )
    results = {
        "records": "made up" if arguments.data is None else "group 4 of buses.csv",
        "gamma": gamma,
        "fits": rows,
        "first_over_first": theirs[0] / ours[0],
        "best_over_best": min(theirs) / min(ours),
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "bus_engines.json"
    path.write_text(json.dumps(results, indent=2) + "\n")
    table = Table("method", "first fit", "best fit", "theta", "log-likelihood", box=None)
    for row in rows:
        table.add_row(
            row["method"],
            f"{row['first_seconds']:.3f} s",
            f"{row['best_seconds']:.3f} s",
            ", ".join(f"{value:.5g}" for value in row["theta"]),
            f"{row['exact_log_likelihood']:.6f}",
        )
    console.print(table)
    console.print(
        f"{peer} takes {results['first_over_first']:.0f} times as long for a first fit, "
        f"{results['best_over_best']:.0f} times for the best one"
    )
    console.print(f"written: {path}", markup=False)


if __name__ == "__main__":
    main()
