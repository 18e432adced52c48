"""How noisy is learning in the maze, and does the posterior know? Repeated evaluations of targets.

The true target, those 0.1 away from it and a far one are evaluated several times with different
seeds, next to others all over the box. The spread of the NLLs at a target is what the standard
deviation of the posterior, for a further evaluation there, should say. At the truth it
should be small against the distance to the NLLs of the targets around.

A posterior that has seen the very evaluations whose spread it is compared with knows it easily. The
seeds of each target are therefore also split: a surrogate that sees one half says what the other
will spread, both ways round. The two ratios are not averaged: where one half spreads more than the
other, one of them is too high and the other too low. A search seldom repeats a target; a surrogate
that sees one evaluation of each therefore says what the others will spread, too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from boirl.evaluation import Evaluation
from boirl.experiments.trials import Experiment, OnTrial, Row, quiet, run_trials, write_summary
from boirl.problem import load_problem
from boirl.problem.simulated import GymProblem
from boirl.search import SearchSettings
from boirl.types import FloatArray

TARGETS = ((0.3, 0.5), (0.4, 0.5), (0.2, 0.5), (0.3, 0.6), (0.3, 0.4), (0.1, 0.1))
"""The true target comes first."""

OTHERS = 8
TINY_STEPS = 2_000
PROJECTED = 10


def run(
    out: Path,
    seeds: Sequence[int] = tuple(range(8)),
    on_trial: OnTrial = quiet,
    steps: int | None = None,
) -> list[Row]:
    """Evaluate what `trials.json` does not hold yet, and write `summary.json` at the end.

    Args:
        out: Folder for both files.
        seeds: Of the evaluations of each target.
        on_trial: See `OnTrial`.
        steps: Training budget, for a quick look in this process.
    """
    budget: Row = {} if steps is None else {"steps": steps, "workers": 0}
    problem = load_problem("point-mass-maze", **budget)
    unit = qmc.Sobol(problem.box.dimension, scramble=False).random(2 * OTHERS)[-OTHERS:]
    thetas = [(theta, seed) for theta in TARGETS for seed in seeds]
    thetas += [(tuple(theta), 0) for theta in problem.box.from_unit(unit).tolist()]
    fingerprint = problem.fingerprint()
    wanted: dict[Hashable, Callable[[], Row]] = {
        (fingerprint, theta, seed): partial(_evaluate, problem, theta, seed)
        for theta, seed in thetas
    }
    rows = run_trials(out, wanted, _key, on_trial)
    summary = summarise(problem, rows)
    write_summary(out, summary)
    return summary


def _evaluate(problem: GymProblem, theta: tuple[float, ...], seed: int) -> Row:
    evaluation: Evaluation = problem.evaluate(theta, seed)
    return {
        "problem": problem.fingerprint(),
        "theta": list(evaluation.theta),
        "seed": seed,
        "nll": evaluation.nll,
        "nll_se": evaluation.nll_se,
    }


def _key(row: Row) -> Hashable:
    return row["problem"], tuple(row["theta"]), row["seed"]


def summarise(problem: GymProblem, rows: Sequence[Row]) -> list[Row]:
    """The measured spread and the posterior's at each target, also of evaluations not seen."""
    learned = [row for row in rows if np.isfinite(row["nll"])]
    thetas, nll, nll_se = (
        np.array([row[name] for row in learned]) for name in ("theta", "nll", "nll_se")
    )
    surrogate = SearchSettings(n_demonstrations=PROJECTED).build_surrogate(problem)
    fitted = surrogate.fit(thetas, nll, nll_se=nll_se)
    _, latent = fitted.posterior(np.array(TARGETS))
    _, observed = fitted.posterior(np.array(TARGETS), observed=True)
    splits = _splits(thetas)
    predicted = []
    for seen in splits:
        part = surrogate.fit(thetas[seen], nll[seen], nll_se=nll_se[seen])
        predicted.append(part.posterior(np.array(TARGETS), observed=True)[1])
    summary = []
    for number, target in enumerate(TARGETS):
        here = (thetas == target).all(axis=1)
        own, spread = nll[here], _spread(nll[here])
        *held_out, unrepeated = (
            _held_out(float(sd[number]), nll[here & ~seen])
            for sd, seen in zip(predicted, splits, strict=True)
        )
        summary.append(
            {
                "target": list(target),
                "evaluations": len(own),
                "nll": float(own.mean()),
                "above_truth": float(own.mean() - nll[(thetas == TARGETS[0]).all(axis=1)].mean()),
                "measured_spread": spread,
                "posterior_sd_of_an_evaluation": float(observed[number]),
                "ratio": float(observed[number]) / spread if spread else None,
                "posterior_sd_of_the_nll": float(latent[number]),
                "measured_error_of_the_mean": spread / len(own) ** 0.5 if spread else None,
                "held_out": held_out,
                "unrepeated": unrepeated,
            }
        )
    return summary


def _splits(thetas: FloatArray) -> list[NDArray[np.bool_]]:
    """Which evaluations are seen: one half of each target's, the other half, the first alone."""
    first, second, alone = (np.ones(len(thetas), dtype=bool) for _ in range(3))
    for target in TARGETS:
        own = np.flatnonzero((thetas == target).all(axis=1))
        middle = (len(own) + 1) // 2
        first[own[middle:]] = second[own[:middle]] = alone[own[1:]] = False
    return [first, second, alone]


def _spread(nll: FloatArray) -> float | None:
    return float(nll.std(ddof=1)) if len(nll) > 1 else None


def _held_out(predicted: float, nll: FloatArray) -> Row:
    """What was said of the spread of evaluations before they were seen, and their spread."""
    spread = _spread(nll)
    return {
        "predicted_sd": predicted,
        "measured_spread": spread,
        "ratio": predicted / spread if spread else None,
    }


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _both(name: str) -> Callable[[Row], str]:
    """Shows a measure of both held-out halves."""
    return lambda row: ", ".join(_number(one[name]) for one in row["held_out"])


EXPERIMENT = Experiment(
    run,
    {
        "target": lambda row: ", ".join(f"{value:g}" for value in row["target"]),
        "evaluations": lambda row: str(row["evaluations"]),
        "NLL": lambda row: f"{row['nll']:.1f}",
        "above the truth's": lambda row: f"{row['above_truth']:.1f}",
        "measured spread": lambda row: _number(row["measured_spread"]),
        "posterior sd": lambda row: f"{row['posterior_sd_of_an_evaluation']:.1f}",
        "ratio": lambda row: _number(row["ratio"]),
        "held-out spread": _both("measured_spread"),
        "predicted": _both("predicted_sd"),
        "held-out ratio": _both("ratio"),
        "ratio without repeats": lambda row: _number(row["unrepeated"]["ratio"]),
    },
    tiny={"seeds": [1000], "steps": TINY_STEPS},
)
