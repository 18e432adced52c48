"""Are the samples of Bayesian IRL the posterior? Gridworld, against the exact one.

The box is cut into 20 x 20 x 4 cells (steepness, midpoint, translation). The exact probability of
each is the mean over 64 points in it; 144 of the 1,600 cells hold 99 %. Total variation between
these probabilities and the shares of samples in each cell is measured whenever the number of
steps doubles, always of the second half of them. Samples that are few do not fill cells evenly
even if they are right, so that beside it stands what as many independent draws would have as the
smallest effective sample size of the parameters says.

Chains start anywhere in the box. R-hat is measured in each trial, and over all trials together,
which shows what one chain cannot: that others ended elsewhere. The grid of the policy walk has its
points in the middles of cells; what that alone makes of the posterior is 0.015 away from it.

The table: total variation after so many steps (mean and worst), that of independent draws, the
worst R-hat of a trial, R-hat of all trials together, effective sample size, and policies solved.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from boirl.baselines import BaselineRun, get
from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    check_methods,
    quiet,
    run_trials,
    write_summary,
)
from boirl.files import read_arrays, save_figure, write_arrays
from boirl.metrics.chains import r_hat
from boirl.metrics.posterior import INSIDE, ExactPosterior, exact_posterior
from boirl.problem import TabularProblem, load_problem
from boirl.types import FloatArray

CELLS = (20, 20, 4)
STEPS = {"differential-evolution": 2**12, "policy-walk": 2**17}
"""Steps of each sampler."""

FIRST_MARK = 64
CLOSE, MIXED = 0.1, 1.05
"""Total variation and R-hat below which samples count as the posterior."""

MEASURES = (
    "total_variation",
    "of_independent_draws",
    "largest_r_hat",
    "smallest_effective_sample_size",
    "acceptance_rate",
    "policies",
    "seconds",
)


def run_trial(
    problem: TabularProblem, exact: ExactPosterior, sampler: str, seed: int, steps: int, file: Path
) -> Row:
    """One run, measured as it goes on; the samples of its chains go to a file."""
    curve = []
    with tempfile.TemporaryDirectory() as folder:
        for mark in marks(steps):
            baseline = get("birl", sampler=sampler)
            run = baseline.run(problem, mark, seed, checkpoint=Path(folder) / "run")
            curve.append(measure(run, exact))
    assert run.samples is not None
    chains = run.samples.reshape(-1, steps - run.facts["burn-in"], problem.box.dimension)
    write_arrays(file, {"samples": chains})
    return {
        "problem": problem.fingerprint(),
        "cells": list(exact.probabilities.shape),
        "sampler": sampler,
        "seed": seed,
        "steps": steps,
        "curve": curve,
    }


def measure(run: BaselineRun, exact: ExactPosterior) -> Row:
    """How close samples are to the posterior, what as many draws would be, and what they cost."""
    assert run.samples is not None
    size = min(run.facts["effective sample size"].values())
    return {
        "steps": len(run),
        "total_variation": exact.total_variation(run.samples),
        "of_independent_draws": exact.variation_of_draws(size),
        "r_hat": run.facts["R-hat"],
        "largest_r_hat": run.facts["largest R-hat"],
        "effective_sample_size": run.facts["effective sample size"],
        "smallest_effective_sample_size": size,
        "acceptance_rate": run.facts["acceptance rate"],
        "policies": run.n_policies,
        "seconds": float(run.seconds.sum()),
    }


def marks(steps: int) -> list[int]:
    """Numbers of steps after which to measure."""
    doubled = [2**power for power in range(steps.bit_length())]
    return [mark for mark in doubled if FIRST_MARK <= mark < steps] + [steps]


def run(
    out: Path,
    methods: Sequence[str] = tuple(STEPS),
    seeds: Sequence[int] = tuple(range(10)),
    on_trial: OnTrial = quiet,
    steps: Mapping[str, int] = STEPS,
    cells: Sequence[int] = CELLS,
) -> list[Row]:
    """Run samplers, see `Experiment`, and draw the first run of each; with fewer steps, quickly."""
    check_methods(methods, STEPS)
    problem = load_problem("gridworld")
    exact = exact_posterior(problem, cells)
    fingerprint = problem.fingerprint()
    files = {
        (sampler, seed): out / "samples" / f"{sampler}-{seed}-{steps[sampler]}.npz"
        for sampler in methods
        for seed in seeds
    }
    wanted: dict[Hashable, Callable[[], Row]] = {
        (fingerprint, tuple(cells), sampler, seed, steps[sampler]): partial(
            run_trial, problem, exact, sampler, seed, steps[sampler], file
        )
        for (sampler, seed), file in files.items()
    }
    rows = run_trials(out, wanted, _key, on_trial)
    samples = {key: read_arrays(file, "samples")["samples"] for key, file in files.items()}
    summary = []
    for sampler in methods:
        chains = np.concatenate([samples[sampler, seed] for seed in seeds])
        summary.append(summarise([row for row in rows if row["sampler"] == sampler], chains))
    write_summary(out, summary)
    fine = exact_posterior(problem, [2 * count for count in cells], INSIDE // 2)
    first = {sampler: samples[sampler, seeds[0]] for sampler in methods}
    save_figure(draw(exact, fine, first), out / "posterior.png")
    return summary


def _key(row: Row) -> Hashable:
    return row["problem"], tuple(row["cells"]), row["sampler"], row["seed"], row["steps"]


def summarise(rows: Sequence[Row], chains: FloatArray) -> Row:
    """Means over the trials of a sampler, and the worst; `chains` are those of all trials."""
    last = [row["curve"][-1] for row in rows]
    line: Row = {
        "method": rows[0]["sampler"],
        "trials": len(rows),
        "steps": rows[0]["steps"],
        "close": float(np.mean([point["total_variation"] < CLOSE for point in last])),
        "mixed": float(np.mean([point["largest_r_hat"] < MIXED for point in last])),
        "total_variation_worst": max(point["total_variation"] for point in last),
        "largest_r_hat_worst": max(point["largest_r_hat"] for point in last),
        "r_hat_together": max(r_hat(numbers) for numbers in np.moveaxis(chains, 2, 0)),
    }
    for name in MEASURES:
        line[f"{name}_mean"] = float(np.mean([point[name] for point in last]))
        line[f"{name}_sd"] = float(np.std([point[name] for point in last]))
    line["total_variation_curve"] = {
        str(points[0]["steps"]): float(np.mean([point["total_variation"] for point in points]))
        for points in zip(*(row["curve"] for row in rows), strict=True)
    }
    return line


def draw(exact: ExactPosterior, fine: ExactPosterior, samples: Mapping[str, FloatArray]) -> Figure:
    """The exact posterior beside samples of chains, `c x n x d`; of the first two parameters.

    A policy walk is drawn in the cells, as its grid is no finer, and all else in `fine` ones.
    """
    box = exact.box
    panels = {"exact": _marginal(fine.probabilities)}
    for sampler, chains in samples.items():
        drawn = chains.reshape(-1, box.dimension)
        own = exact if sampler == "policy-walk" else fine
        title = f"{sampler}, {exact.total_variation(drawn):.3f} away"
        panels[title] = _marginal(own.shares(drawn))
    figure = Figure(figsize=(4.5 * len(panels), 4.4), layout="constrained")
    axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    highest = 1.2 * float(panels["exact"].max())
    for one, (title, density) in zip(axes, panels.items(), strict=True):
        x, y = (
            np.linspace(low, high, count + 1)
            for low, high, count in zip(box.low, box.high, density.shape, strict=False)
        )
        image = one.pcolormesh(x, y, density.T, vmin=0.0, vmax=highest)
        one.set_title(title)
        one.set_xlabel(box.names[0])
        one.locator_params(nbins=5)
    axes[0].set_ylabel(box.names[1])
    figure.colorbar(image, ax=axes, label="density, uniform = 1", extend="max")
    return figure


def _marginal(probabilities: FloatArray) -> FloatArray:
    """Density of the first two parameters, 1 where it is that of the prior."""
    marginal = probabilities.sum(axis=tuple(range(2, probabilities.ndim)))
    return marginal * marginal.size


EXPERIMENT = Experiment(
    run,
    {
        "sampler": lambda row: row["method"],
        "steps": lambda row: str(row["steps"]),
        "away": lambda row: f"{row['total_variation_mean']:.3f}",
        "worst": lambda row: f"{row['total_variation_worst']:.3f}",
        "draws": lambda row: f"{row['of_independent_draws_mean']:.3f}",
        "R-hat": lambda row: f"{row['largest_r_hat_worst']:.3f}",
        "all": lambda row: f"{row['r_hat_together']:.2f}",
        "ESS": lambda row: f"{row['smallest_effective_sample_size_mean']:.0f}",
        "solved": lambda row: f"{row['policies_mean']:.0f}",
    },
    tiny={"seeds": [1000], "steps": dict.fromkeys(STEPS, 64), "cells": (4, 4, 2)},
)
