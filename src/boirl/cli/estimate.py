"""`boirl estimate` and `boirl compare`: maximum likelihood, of one model or of several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from boirl.cli.app import app, console, notes
from boirl.cli.loading import (
    AsJson,
    Bellman,
    BoxName,
    Data,
    DemonstrationFile,
    Name,
    ProblemOfResult,
    Quiet,
    is_result,
    load,
    open_result,
    print_json,
    refuse_options,
)
from boirl.errors import InvalidInputError

Starts = Annotated[int, typer.Option(help="Descents of an estimate.")]


@app.command()
def estimate(
    problem: Name,
    profile: Annotated[
        list[str] | None,
        typer.Option(help="A parameter to print the profile interval of (may be repeated)."),
    ] = None,
    level: Annotated[float, typer.Option(help="Of confidence of --profile.")] = 0.95,
    robust: Annotated[
        bool, typer.Option("--robust", help="Print robust standard errors too.")
    ] = False,
    gamma: Annotated[
        float | None,
        typer.Option(help="Another discount than the problem's.", show_default="the problem's"),
    ] = None,
    starts: Starts = 4,
    seed: Annotated[int, typer.Option(help="Of the thetas that descents start from.")] = 0,
    as_json: AsJson = False,
    bellman: Bellman = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    box: BoxName = None,
    quiet: Quiet = False,
) -> None:
    """Estimate the reward by maximum likelihood: standard errors, t-values, AIC, BIC.

    For problems with known dynamics. What the demonstrations do not determine is named.

    Example: boirl estimate gridworld2d --bellman logsumexp --profile midpoint
    """
    from boirl.estimation import maximum_likelihood
    from boirl.estimation.tables import plain

    chosen = load(problem, demonstrations, bellman=bellman, data=data, box=box)
    if gamma is not None:
        chosen = chosen.with_gamma(gamma)
    with notes.status("estimating"):
        found = maximum_likelihood(chosen, starts, seed)
    intervals = []
    for name in profile or []:
        with notes.status(f"profile of {name}"):
            intervals.append(found.profile_interval(name, level))
    errors_by_name = {}
    if robust:
        with notes.status("robust standard errors"):
            spread = found.robust_standard_errors()
        errors_by_name = dict(zip(found.names, spread.tolist(), strict=True))
    if as_json:
        facts = {**found.to_dict(), "profiles": [vars(one) for one in intervals]}
        if robust:
            facts["robust_standard_errors"] = plain(errors_by_name)
        print_json(facts)
        return
    console.print(str(found), markup=False)
    for name, error in errors_by_name.items():
        console.print(f"robust standard error of {name}: {error:.5g}", markup=False)
    for interval in intervals:
        console.print(f"profile interval, {level:.0%}: {interval}", markup=False)


@app.command()
def compare(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="PROBLEM",
            help="One or more of `boirl problems`, your own (problem.py:name or module:name), or "
            "what `boirl run --out` wrote.",
        ),
    ],
    gamma: Annotated[
        list[float] | None,
        typer.Option(
            help="A discount to compare each problem with (may be repeated).",
            show_default="the problem's",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            help="Of the cross-validation; 0 leaves it out.",
            min=0,
            show_default="5, or as many as there are trajectories",
        ),
    ] = None,
    starts: Starts = 4,
    seed: Annotated[int, typer.Option(help="Of folds and of starting thetas.")] = 0,
    as_json: AsJson = False,
    bellman: Bellman = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    box: BoxName = None,
    problem: ProblemOfResult = None,
    quiet: Quiet = False,
) -> None:
    """Compare reward families and discounts that explain the same demonstrations.

    Prints parameters, log-likelihood, AIC, BIC, held-out log-likelihood per step (and in bits per
    decision), the p-value of a likelihood-ratio test against the model that it is nested in, and
    how suboptimal the demonstrator is under it (0: optimal, 1: uniform choice).

    Example: boirl compare gridworld2d --gamma 0.9 --gamma 0.99
    """
    from boirl.estimation import compare as compare_models

    options = {"bellman": bellman, "data": data, "box": box}
    chosen = {}
    for name in models:
        if name in chosen:
            raise InvalidInputError(f"{name} is given twice; expected different models")
        chosen[name] = _model(name, demonstrations, starts, seed, options, problem)
    with notes.status("estimating"):
        found = compare_models(chosen, gamma or (), folds, seed, starts=starts)
    if as_json:
        print_json(found.to_dict())
    else:
        console.print(str(found), markup=False)


def _model(
    name: str,
    demonstrations: Path | None,
    starts: int,
    seed: int,
    options: dict[str, Any],
    problem: str | None,
) -> Any:
    """A problem by name, or the estimate of one from a file, which starts from its best theta."""
    if not is_result(name):
        return load(name, demonstrations, **options)
    refuse_options(name, {**options, "demonstrations": demonstrations})
    from boirl.estimation import maximum_likelihood

    result = open_result(Path(name), problem)
    with notes.status("estimating"):
        return maximum_likelihood(result.problem, starts, seed, result.best)
