"""Two demonstrators with different rewards, mixed without labels: who showed what?

The grid of 6 x 6 with coins on three squares, where each square is worth something of its own. One
demonstrator is after the first square, the other after the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from boirl.decisions.mixtures import fit_mixture
from boirl.demonstrations import Demonstrations
from boirl.experiments.ambiguous import open_grid
from boirl.experiments.trials import Experiment, OnTrial, Row, quiet, run_seeds
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward

STREAM = 1906
SQUARES = {7: "first", 20: "second", 31: "third"}
PER_DEMONSTRATOR = 20
HORIZON = 15


def problem_of(seed: int) -> tuple[TabularProblem, np.ndarray, np.ndarray]:
    """The mixed demonstrations, who showed each, `N`, and both truths, `2 x d`."""
    rng = np.random.default_rng([STREAM, seed])
    mdp = open_grid(6, SQUARES, gamma=0.9)
    features = np.zeros((mdp.n_states, 3))
    features[list(SQUARES), range(3)] = 1.0
    reward = LinearReward(features, dict.fromkeys(SQUARES.values(), (0.0, 10.0)))
    truths = np.array([[9.0, 2.0, 1.0], [1.0, 2.0, 9.0]]) + rng.uniform(-1.0, 1.0, (2, 3))
    solver = TabularSolver("max", 2.0)
    start = rng.choice(np.setdiff1d(np.arange(36), list(SQUARES)), (2, PER_DEMONSTRATOR))
    shown = [
        solver.solve(mdp, mdp.expected_rewards(reward, truth[None])[0]).sample(
            mdp, starts, HORIZON, rng
        )
        for truth, starts in zip(truths, start, strict=True)
    ]
    order = rng.permutation(2 * PER_DEMONSTRATOR)
    mixed = Demonstrations.concatenate(shown).subset(order)
    problem = TabularProblem(mdp, reward, mixed, solver, horizon=HORIZON, name="two demonstrators")
    return problem, np.repeat([0, 1], PER_DEMONSTRATOR)[order], truths


def run_trial(seed: int, evaluations: int) -> Row:
    """One mixture: the share of right labels, and how like the truths the best rewards act."""
    problem, owners, truths = problem_of(seed)
    mixture = fit_mixture(problem, 2, evaluations=evaluations, seed=seed)
    right = float((mixture.labels == owners).mean())
    turned = right < 0.5
    sets = mixture.sets[::-1] if turned else mixture.sets
    policies = [problem.policy(theta) for theta in [*truths, *(one.best for one in sets)]]
    distances = problem.behaviour_distances(policies)
    return {
        "seed": seed,
        "evaluations": evaluations,
        "labels_right": max(right, 1.0 - right),
        "distance": [float(distances[0, 2]), float(distances[1, 3])],
        "distance_of_truths": float(distances[0, 1]),
        "bic": mixture.bic,
    }


def run(
    out: Path,
    seeds: Sequence[int] = tuple(range(20)),
    evaluations: int = 20,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Tell two demonstrators apart for each seed, see `Experiment`."""
    return run_seeds(out, run_trial, summarise, seeds, evaluations, on_trial)


def summarise(rows: Sequence[Row]) -> Row:
    """Mean and worst."""
    right = [row["labels_right"] for row in rows]
    apart = [distance for row in rows for distance in row["distance"]]
    return {
        "seeds": len(rows),
        "labels_right": float(np.mean(right)),
        "labels_right_worst": min(right),
        "at_95_percent": float(np.mean([share >= 0.95 for share in right])),
        "distance": float(np.mean(apart)),
        "distance_worst": max(apart),
        "distance_of_truths": float(np.mean([row["distance_of_truths"] for row in rows])),
    }


EXPERIMENT = Experiment(
    run,
    {
        "seeds": lambda row: str(row["seeds"]),
        "labels right": lambda row: f"{row['labels_right']:.1%}",
        "worst": lambda row: f"{row['labels_right_worst']:.1%}",
        "behavioural distance from the truth": lambda row: f"{row['distance']:.3f}",
        "between the truths": lambda row: f"{row['distance_of_truths']:.3f}",
    },
    tiny={"seeds": [1000], "evaluations": 4},
)
