"""`boirl run`: a search, or a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boirl.cli.app import app, console, notes
from boirl.cli.baseline import run_baseline
from boirl.cli.constraining import ConstraintTexts, parse_constraints
from boirl.cli.loading import (
    AsJson,
    Bellman,
    BoxName,
    Data,
    DemonstrationFile,
    ExactPictures,
    Name,
    Quiet,
    draw,
    load,
    print_json,
)
from boirl.cli.parallel import (
    PARALLEL_OPTIONS,
    Cluster,
    Retries,
    Timeout,
    Workers,
    executor_at,
    kept_if_it_ends_early,
)
from boirl.cli.search_options import (
    Acquisition,
    Artifacts,
    Drop,
    Initial,
    Kernel,
    Linear,
    NDemonstrations,
    NInitial,
    NRollouts,
    ProjectionName,
    Rollouts,
    Scale,
    Smoothness,
)
from boirl.cli.thetas import parse_initial
from boirl.errors import InvalidInputError

if TYPE_CHECKING:
    from boirl.results import RewardSet

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
    kernel: Kernel = "rho-matern",
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
    initial: Initial = None,
    n_initial: NInitial = None,
    study: Annotated[
        str | None,
        typer.Option(help="Name of the search within the storage.", show_default="boirl-PROBLEM"),
    ] = None,
    acquisition: Acquisition = "resolve",
    projection: ProjectionName = "log-rho",
    n_demonstrations: NDemonstrations = None,
    n_rollouts: NRollouts = 5,
    rollouts: Rollouts = "auto",
    scale: Scale = "auto",
    drop: Drop = None,
    smoothness: Smoothness = None,
    linear: Linear = None,
    artifacts: Artifacts = None,
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
    workers: Workers = None,
    cluster: Cluster = None,
    timeout: Timeout = None,
    retries: Retries = 1,
    constraint: ConstraintTexts = None,
    bellman: Bellman = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    box: BoxName = None,
    exact: ExactPictures = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Search for the rewards that explain the demonstrations of a problem.

    Example: boirl run gridworld --evaluations 40 --storage sqlite:///search.db --out results

    Your own problem: boirl run problem.py --out results
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
        run_baseline(chosen, method, evaluations, setting, seed, out, as_json)
        return
    search = Study(
        chosen,
        kernel=kernel,
        acquisition=acquisition,
        projection=projection,
        n_demonstrations=n_demonstrations,
        n_rollouts=n_rollouts,
        rollouts=rollouts,
        scale=scale,
        drop=tuple(drop or ()),
        smoothness=smoothness,
        linear=linear,
        seed=seed,
        initial=parse_initial(initial),
        n_initial=n_initial,
        storage=storage,
        name=study,
        artifacts=artifacts,
        constraints=parse_constraints(constraint, chosen),
    )
    total = SEARCH_EVALUATIONS if evaluations is None else evaluations
    done, place = len(search.trials), search.storage_name
    if done >= total:
        notes.print(f"nothing to do: {done} evaluations are in {place}", markup=False)
    elif done:
        notes.print(f"resuming: {done} of {total} evaluations are in {place}", markup=False)
    with kept_if_it_ends_early(search, storage, out):
        with executor_at(cluster, workers) as executor:
            found = search.run(
                total,
                progress=not quiet,
                executor=executor,
                workers=workers,
                timeout=timeout,
                retries=retries,
            )
        if out is not None:
            found.save(out / "rewards.npz")
        _present(found, out, exact, verify_evaluations if verify else None, as_json)


def _present(
    found: RewardSet, out: Path | None, exact: bool, verify: int | None, as_json: bool
) -> None:
    """Print an answer, and write its pictures.

    Args:
        found: The answer.
        out: Folder for files; None for none.
        exact: Whether pictures show exact NLLs.
        verify: Evaluations to verify it by; None not to.
        as_json: Whether to print JSON in place of text.
    """
    if not as_json:
        console.print(str(found), markup=False)
    paths = []
    if out is not None:
        paths = [out / "rewards.npz", *draw(found, out, exact)]
    exact_samples = {}
    if verify is not None:
        with notes.status("verifying"):
            verified = found.verify(verify, found.settings["seed"])
        exact_samples = {"verified": verified.to_dict()}
        if not as_json:
            console.print(str(verified), markup=False)
        if out is not None:
            verified.save(out / "verified.npz")
            paths.append(out / "verified.npz")
            notes.print(f"verified: {out / 'verified.npz'}", markup=False)
    if as_json:
        print_json({**found.to_dict(), **exact_samples, "files": [str(path) for path in paths]})


SEARCH_EVALUATIONS = 40
SEARCH_OPTIONS = (
    "kernel",
    "storage",
    "initial",
    "study",
    "acquisition",
    "projection",
    "n_initial",
    "n_demonstrations",
    "n_rollouts",
    "rollouts",
    "scale",
    "drop",
    "smoothness",
    "linear",
    "artifacts",
    "constraint",
    "verify",
    "verify_evaluations",
    "exact",
    *PARALLEL_OPTIONS,
)
"""What `boirl run` takes for its own search alone."""


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
