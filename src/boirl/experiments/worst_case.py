"""Acting while two incompatible rewards explain the demonstrations, and while only one does.

A corridor leads to a junction with a prize on either side; a smaller, safe one is beside the start.
Demonstrations that pass the safe one by and stop before the junction say that some other prize is
worth more, not which. Where they go on to it, nothing is left open.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import qmc

from boirl.decisions.ensemble import solved_ensemble
from boirl.decisions.returns import TabularReturns
from boirl.environments import TabularMDP
from boirl.estimation import maximum_likelihood
from boirl.experiments.trials import Experiment, OnTrial, Row, quiet, run_trials, write_summary
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward
from boirl.search import explore
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import FloatArray

STREAM = 1905
CORRIDOR, ARM = 4, 2
SAFE = 5.0
BETA = 10.0
SHOWN = {"ambiguous": (10, CORRIDOR - 1), "unambiguous": (40, 12)}
"""Demonstrations, and steps of each."""

EXACT_POINTS = 1024


def junction() -> tuple[TabularMDP, dict[str, int]]:
    """Squares 0 to 3 lead up to the junction 4; two squares further to each side is a prize.

    Action 0 goes up, 1 down; 2 goes to the safe prize from square 0, and to the left from the
    junction; 3 goes to the right.
    """
    junction, left, right = CORRIDOR, CORRIDOR + 1, CORRIDOR + 1 + ARM
    safe, sink = right + ARM, right + ARM + 1
    stay = np.arange(sink + 1)
    table = np.tile(stay[:, None], (1, 4))
    for square in range(CORRIDOR):
        table[square, 0] = square + 1
        table[square, 1] = max(0, square - 1)
    table[0, 2] = safe
    table[junction] = [junction, junction - 1, left, right]
    for first in (left, right):
        table[first] = [first, junction, first + 1, first + 1]
    prizes = {"left": left + 1, "right": right + 1, "safe": safe}
    for place in prizes.values():
        table[place] = sink
    mdp = TabularMDP.from_next_states(table, 0.95, start=np.eye(sink + 1)[0], endless=[sink])
    return mdp, prizes


def problem_of(kind: str, seed: int) -> TabularProblem:
    """Whose demonstrator is after the prize on one side, which one is drawn."""
    rng = np.random.default_rng([STREAM, seed])
    mdp, prizes = junction()
    features = np.zeros((mdp.n_states, 3))
    features[list(prizes.values()), range(3)] = 1.0
    bounds = {"left": (0.0, 10.0), "right": (0.0, 10.0), "safe": (0.0, 10.0)}
    reward = LinearReward(features, bounds).fix(safe=SAFE)
    truth = np.array([9.0, 1.0]) if rng.random() < 0.5 else np.array([1.0, 9.0])
    solver = TabularSolver("max", BETA)
    policy = solver.solve(mdp, mdp.expected_rewards(reward, truth[None])[0])
    count, steps = SHOWN[kind]
    shown = policy.sample(mdp, np.zeros(count, dtype=np.int64), steps, rng)
    return TabularProblem(
        mdp, reward, shown, solver, horizon=12, truth=tuple(truth.tolist()), name=f"{kind} junction"
    )


def exact_set(problem: TabularProblem) -> FloatArray:
    """Rewards all over the box that a likelihood-ratio test at 95 % does not reject, `n x d`."""
    box, n = problem.box, len(problem.demonstrations)
    thetas = box.from_unit(qmc.Sobol(box.dimension, rng=0).random(EXACT_POINTS))
    nll = problem.nll_batch(thetas)
    best = maximum_likelihood(problem).nll
    return thetas[nll <= best + likelihood_ratio_tolerance(n, box.dimension)]


def run_trial(kind: str, seed: int, evaluations: int) -> Row:
    """Regrets over the exact set, of the worst-case policy and of the single best reward's."""
    problem = problem_of(kind, seed)
    found = explore(problem, evaluations, seed=seed)
    decision = found.policy(risk="worst", seed=seed)
    exact = exact_set(problem)
    thetas = np.concatenate([exact, [problem._require_truth(), found.best]])
    returns = TabularReturns(solved_ensemble(problem, thetas), problem.mdp.start)
    single = returns.best_response(np.eye(len(thetas))[-1])
    worst, alone = (returns.best - returns.of(policy) for policy in (decision.policy, single))
    return {
        "problem": kind,
        "seed": seed,
        "evaluations": evaluations,
        "exact_set": len(exact),
        "worst_regret": float(worst[: len(exact)].max()),
        "single_worst_regret": float(alone[: len(exact)].max()),
        "truth_regret": float(worst[-2]),
        "single_truth_regret": float(alone[-2]),
    }


def run(
    out: Path,
    problems: Sequence[str] = tuple(SHOWN),
    seeds: Sequence[int] = tuple(range(20)),
    evaluations: int = 25,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Act in both problems for each seed, see `Experiment`."""
    wanted: dict[Hashable, Callable[[], Row]] = {
        (kind, seed, evaluations): partial(run_trial, kind, seed, evaluations)
        for kind in problems
        for seed in seeds
    }
    keys = ("problem", "seed", "evaluations")
    rows = run_trials(out, wanted, lambda row: tuple(row[key] for key in keys), on_trial)
    summary = [
        summarise(kind, [row for row in rows if row["problem"] == kind]) for kind in problems
    ]
    write_summary(out, summary)
    return summary


def summarise(kind: str, rows: Sequence[Row]) -> Row:
    """Mean and worst of the regrets, and of their ratio."""
    ratios = [
        row["worst_regret"] / row["single_worst_regret"]
        if row["single_worst_regret"] > 1e-9
        else 1.0
        for row in rows
    ]
    return {
        "problem": kind,
        "seeds": len(rows),
        "worst_regret": float(np.mean([row["worst_regret"] for row in rows])),
        "single_worst_regret": float(np.mean([row["single_worst_regret"] for row in rows])),
        "ratio_mean": float(np.mean(ratios)),
        "ratio_worst": max(ratios),
        "cost_worst": max(row["worst_regret"] - row["single_worst_regret"] for row in rows),
        "truth_regret": float(np.mean([row["truth_regret"] for row in rows])),
        "single_truth_regret": float(np.mean([row["single_truth_regret"] for row in rows])),
    }


EXPERIMENT = Experiment(
    run,
    {
        "problem": lambda row: row["problem"],
        "seeds": lambda row: str(row["seeds"]),
        "worst regret": lambda row: f"{row['worst_regret']:.3f}",
        "of the single best": lambda row: f"{row['single_worst_regret']:.3f}",
        "ratio": lambda row: f"{row['ratio_mean']:.2f} (worst {row['ratio_worst']:.2f})",
        "costs at most": lambda row: f"{max(0.0, row['cost_worst']):.3f}",
        "regret under the truth": lambda row: f"{row['truth_regret']:.3f}",
        "of the single best, under it": lambda row: f"{row['single_truth_regret']:.3f}",
    },
    tiny={"seeds": [1000], "evaluations": 5},
)
