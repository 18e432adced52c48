"""`boirl run`: a search, or a baseline."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Annotated, Any

import typer

from boirl.cli.app import app, console, errors
from boirl.cli.loading import (
    Bellman,
    BoxName,
    Data,
    DemonstrationFile,
    ExactPictures,
    Name,
    draw,
    load,
    parse_initial,
)
from boirl.errors import InvalidInputError

VERIFY_EVALUATIONS = 2000


@app.command()
def run(
    context: typer.Context,
    problem: Name,
    method: Annotated[
        str | None,
        typer.Option(
            help="Another method than boirl's search, to compare with: one of `boirl methods`.",
            show_default="boirl's search",
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="A setting of --method, such as reward=network (may be repeated)."),
    ] = None,
    kernel: Annotated[
        str,
        typer.Option(
            help="rho-matern or rho-rbf (on the rho-projection), rbf or matern (on theta)."
        ),
    ] = "rho-matern",
    evaluations: Annotated[
        int | None,
        typer.Option(
            help="Evaluations in all, initial ones included.",
            show_default="40, or the usual number of --method",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seeds every random choice of the search.")] = 0,
    storage: Annotated[
        str | None,
        typer.Option(
            help="Database to keep every evaluation in, such as sqlite:///search.db. Running the "
            "same command again resumes.",
            show_default="in memory",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for rewards.npz and the pictures.", show_default="none"),
    ] = None,
    initial: Annotated[
        list[str] | None,
        typer.Option(
            help="Where to start: sobol, hard, or a theta such as 1.25,5,0 (may be repeated).",
            show_default="sobol",
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(help="Name of the search within the storage.", show_default="boirl-PROBLEM"),
    ] = None,
    acquisition: Annotated[str, typer.Option(help="resolve, log-ei or random.")] = "resolve",
    projection: Annotated[
        str,
        typer.Option(
            help="log-rho, rho (as in the paper's text), or canonical (log-rho that no potential "
            "shaping changes; for known dynamics)."
        ),
    ] = "log-rho",
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Verify the answer by exact evaluations, where dynamics are known; prints it, and "
            "writes verified.npz to --out.",
        ),
    ] = False,
    verify_evaluations: Annotated[
        int, typer.Option(help="Evaluations that --verify takes.")
    ] = VERIFY_EVALUATIONS,
    bellman: Bellman = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    box: BoxName = None,
    exact: ExactPictures = False,
) -> None:
    """Search for the rewards that explain the demonstrations of a problem.

    Example: boirl run gridworld --evaluations 40 --storage sqlite:///search.db --out results
    """
    from boirl.drawing.views import check_exact
    from boirl.files import make_folder
    from boirl.results.verified import check_verifiable
    from boirl.search import Study

    if evaluations is not None and evaluations < 1:
        raise InvalidInputError(f"evaluations is {evaluations}; expected at least 1")
    if method is None and setting:
        raise InvalidInputError("--setting belongs to --method; name a method")
    if method is not None:
        given = [name for name in SEARCH_OPTIONS if _is_given(context, name)]
        if given:
            option = given[0].replace("_", "-")
            raise InvalidInputError(
                f"--{option} belongs to boirl's search, not to --method {method}; leave it out"
            )
    chosen = load(problem, demonstrations, bellman=bellman, data=data, box=box)
    if exact:
        check_exact(chosen)
    if verify:
        check_verifiable(chosen, verify_evaluations)
    if out is not None:
        make_folder(out)
    if method is not None:
        _run_baseline(chosen, method, evaluations, _settings(setting), seed, out)
        return
    search = Study(
        chosen,
        kernel=kernel,
        acquisition=acquisition,
        projection=projection,
        seed=seed,
        initial=parse_initial(initial),
        storage=storage,
        name=study,
    )
    total = SEARCH_EVALUATIONS if evaluations is None else evaluations
    done, place = len(search.trials), search.storage_name
    if done >= total:
        errors.print(f"nothing to do: {done} evaluations are in {place}", markup=False)
    elif done:
        errors.print(f"resuming: {done} of {total} evaluations are in {place}", markup=False)
    try:
        found = search.run(total, progress=True)
    except KeyboardInterrupt:
        done = len(search.trials)
        kept = "they are lost: there was neither --storage nor --out"
        if storage is not None:
            kept = "run the same command again to resume"
        elif out is not None and done:
            search.result().save(out / "rewards.npz")
            kept = f"they are in {out / 'rewards.npz'}"
        errors.print(f"interrupted after {done} evaluations; {kept}", style="red", markup=False)
        raise typer.Exit(130) from None
    console.print(str(found), markup=False)
    if out is not None:
        found.save(out / "rewards.npz")
        draw(found, out, exact)
    if verify:
        with errors.status("verifying"):
            verified = found.verify(verify_evaluations, seed)
        console.print(str(verified), markup=False)
        if out is not None:
            verified.save(out / "verified.npz")
            console.print(f"verified: {out / 'verified.npz'}", markup=False)


SEARCH_EVALUATIONS = 40
SEARCH_OPTIONS = (
    "kernel",
    "storage",
    "initial",
    "study",
    "acquisition",
    "projection",
    "verify",
    "verify_evaluations",
    "exact",
)
"""What `boirl run` takes for its own search alone."""


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _settings(given: list[str] | None) -> dict[str, Any]:
    settings = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidInputError(f"the setting is {text!r}; expected name=value")
        try:
            settings[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            settings[name] = value
    return settings


def _run_baseline(
    problem: Any,
    method: str,
    evaluations: int | None,
    settings: dict[str, Any],
    seed: int,
    out: Path | None,
) -> None:
    from boirl.baselines import get
    from boirl.drawing import convergence
    from boirl.evaluation import Evaluation
    from boirl.files import save_figure
    from boirl.search.progress import SearchProgress

    baseline = get(method, **settings)
    baseline.check(problem)
    total = baseline.default_evaluations if evaluations is None else evaluations
    checkpoint = None if out is None else out / f"{method}.run"
    if checkpoint is not None and checkpoint.exists():
        errors.print(f"resuming from {checkpoint}", markup=False)
    try:
        with SearchProgress(total, enabled=True) as bar:

            def show(done: Evaluation, number: int) -> None:
                bar.advance(done.nll if done.ok else None)

            found = baseline.run(problem, total, seed, show, checkpoint, bar.report)
    except KeyboardInterrupt:
        kept = "what was done is lost: there was no --out"
        if checkpoint is not None:
            kept = "run the same command again to resume"
        errors.print(f"interrupted; {kept}", style="red", markup=False)
        raise typer.Exit(130) from None
    console.print(str(found), markup=False)
    if out is not None:
        paths = [out / f"{method}.npz", out / f"{method}.csv"]
        found.save(paths[0])
        found.save_table(paths[1])
        paths.append(save_figure(convergence(found), out / f"{method}.png"))
        console.print("written: " + " ".join(map(str, paths)), markup=False)
