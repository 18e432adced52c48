"""The `boirl` command: parses, calls and prints."""

from __future__ import annotations

import ast
import inspect
import math
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from boirl import __version__
from boirl.errors import BoirlError, BoirlWarning, InvalidInputError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Find all reward functions that explain demonstrations, with few policy optimisations.",
)
errors = Console(stderr=True, soft_wrap=True, highlight=False)
console = Console(soft_wrap=True, highlight=False)


def main() -> None:
    """Run the command; an expected error is one line on stderr and exit code 2."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    try:
        app()
    except BoirlError as error:
        errors.print(f"error: {error}", style="red", markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        errors.print("interrupted", style="red")
        sys.exit(130)


def _show_warning(message: Warning | str, category: type[Warning], *args: Any) -> None:
    """Our own warnings are for the user; those of libraries are for whoever writes boirl."""
    if issubclass(category, BoirlWarning):
        errors.print(f"warning: {message}", style="yellow", markup=False)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        console.print(f"boirl {__version__}")
        raise typer.Exit


Name = Annotated[str, typer.Argument(metavar="PROBLEM", help="One of `boirl problems`.")]
Bellman = Annotated[
    str | None,
    typer.Option(help="Bellman operator: max, boltzmann or logsumexp.", show_default="max"),
]
Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder with the data of a problem that needs some.", show_default="the cache"
    ),
]
BoxName = Annotated[
    str | None,
    typer.Option(help="Box of rewards on road networks: narrow or wide.", show_default="wide"),
]
DemonstrationFile = Annotated[
    Path | None,
    typer.Option(
        help="An .npz file with arrays states and actions (N x L) to explain, in place of the "
        "problem's own demonstrations."
    ),
]


@app.command()
def problems() -> None:
    """List the problems that come with boirl."""
    from boirl.problems import PROBLEMS

    table = Table("problem", "what it is", box=None, header_style="bold")
    for name, entry in sorted(PROBLEMS.items()):
        table.add_row(name, entry.summary)
    console.print(table)


@app.command()
def methods() -> None:
    """List the methods that `boirl run --method` knows beside boirl's own."""
    from boirl.baselines import BASELINES

    table = Table("method", "what it is", "settings", box=None, header_style="bold")
    for name, kind in BASELINES.items():
        table.add_row(name, kind.summary, ", ".join(inspect.signature(kind).parameters))
    console.print(table)


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
    iterations: Annotated[
        int | None,
        typer.Option(help="Iterations of --method.", show_default="the method's usual number"),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="A setting of --method, such as reward=network (may be repeated)."),
    ] = None,
    kernel: Annotated[
        str, typer.Option(help="rho-rbf (on the rho-projection), rbf or matern (on theta).")
    ] = "rho-rbf",
    evaluations: Annotated[
        int, typer.Option(help="Policy optimisations in all, initial ones included.")
    ] = 40,
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
    acquisition: Annotated[
        str, typer.Option(help="improve-explore, log-ei, level-set, set-sampling or random.")
    ] = "improve-explore",
    projection: Annotated[
        str,
        typer.Option(
            help="log_rho, rho (as in the paper's text), or canonical (log_rho that no potential "
            "shaping changes; for known dynamics)."
        ),
    ] = "log_rho",
    bellman: Bellman = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    box: BoxName = None,
) -> None:
    """Search for the rewards that explain the demonstrations of a problem.

    Example: boirl run gridworld --evaluations 40 --storage sqlite:///search.db --out results
    """
    from boirl.files import make_folder
    from boirl.study import Study

    if method is None and (iterations is not None or setting):
        raise InvalidInputError("--iterations and --setting belong to --method; name a method")
    if method is not None:
        given = [name for name in SEARCH_OPTIONS if _is_given(context, name)]
        if given:
            raise InvalidInputError(
                f"--{given[0]} belongs to boirl's search, not to --method {method}; leave it out"
            )
    chosen = _load(problem, demonstrations, bellman=bellman, data=data, box=box)
    if out is not None:
        make_folder(out)
    if method is not None:
        _run_baseline(chosen, method, iterations, _settings(setting), seed, out)
        return
    search = Study(
        chosen,
        kernel=kernel,
        acquisition=acquisition,
        projection=projection,
        seed=seed,
        initial=_initial(initial),
        storage=storage,
        name=study,
        policies=None if out is None else out / "policies",
    )
    done = len(search.trials)
    if done >= evaluations:
        errors.print(f"nothing to do: {done} evaluations are in {storage}", markup=False)
    elif done:
        errors.print(
            f"resuming: {done} of {evaluations} evaluations are in {storage}", markup=False
        )
    try:
        found = search.run(evaluations, progress=True)
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
        _draw(found, out)


SEARCH_OPTIONS = (
    "kernel",
    "evaluations",
    "storage",
    "initial",
    "study",
    "acquisition",
    "projection",
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
    iterations: int | None,
    settings: dict[str, Any],
    seed: int,
    out: Path | None,
) -> None:
    from boirl.baselines import Iterate, get
    from boirl.files import save_figure
    from boirl.plots import iterations as draw
    from boirl.progress import SearchProgress

    baseline = get(method, **settings)
    baseline.check(problem)
    total = iterations or baseline.usual_iterations
    checkpoint = None if out is None else out / f"{method}.run"
    if checkpoint is not None and checkpoint.exists():
        errors.print(f"resuming from {checkpoint}", markup=False)
    try:
        with SearchProgress(total, enabled=True, what="iterations") as bar:

            def tell(done: Iterate) -> None:
                bar.advance(None if math.isnan(done.nll) else done.nll)

            found = baseline.run(problem, total, seed, tell, checkpoint, bar.report)
    except KeyboardInterrupt:
        kept = "what was done is lost: there was no --out"
        if checkpoint is not None:
            kept = "run the same command again to resume"
        errors.print(f"interrupted; {kept}", style="red", markup=False)
        raise typer.Exit(130) from None
    console.print(str(found), markup=False)
    if out is not None:
        paths = [*found.save(out), save_figure(draw(found), out / f"{method}.png")]
        console.print("written: " + " ".join(map(str, paths)), markup=False)


@app.command()
def evaluate(
    problem: Name,
    theta: Annotated[str, typer.Argument(help="Parameters with commas between, such as 1.25,5,0.")],
    seed: Annotated[int, typer.Option(help="Seeds a policy that is learned.")] = 0,
    bellman: Bellman = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    box: BoxName = None,
) -> None:
    """Solve for the policy of one theta and print how well it explains the demonstrations.

    For a theta that starts with a minus sign write: boirl evaluate gridworld -- -1,5,0
    """
    chosen = _load(problem, demonstrations, bellman=bellman, data=data, box=box)
    parsed = _theta(theta)
    with _Learning("learning") as report:
        evaluation = chosen.evaluate(parsed, seed=seed, report=report)
    if not evaluation.ok:
        raise BoirlError(str(evaluation.failure))
    error = f" ± {evaluation.nll_se:.6f}" if evaluation.nll_se else ""
    console.print(f"NLL   {evaluation.nll:.6f}{error} (mean a trajectory)")
    if chosen.truth is not None:
        expert = chosen.esor(chosen.truth)
        console.print(f"ESOR  {chosen.esor(parsed):.6f} (expert {expert:.6f})")


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A rewards.npz that `boirl run --out` wrote.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder to draw the pictures into.", show_default="none")
    ] = None,
) -> None:
    """Print, and draw again, the result of an earlier search."""
    from boirl.solutions import RewardSet

    found = RewardSet.load(file)
    console.print(str(found), markup=False)
    if out is not None:
        _draw(found, out)


@app.command()
def demonstrate(
    problem: Name,
    out: Annotated[Path, typer.Option(help="The .npz file to write.")],
    seed: Annotated[int, typer.Option(help="Seeds the demonstrator and what it does.")] = 0,
    count: Annotated[
        int | None, typer.Option(min=1, help="Trajectories.", show_default="the problem's own")
    ] = None,
) -> None:
    """Write demonstrations of a problem whose demonstrator is simulated.

    Example: boirl demonstrate point-mass-maze --seed 1 --out demonstrations.npz
    """
    from boirl.files import make_folder

    make_folder(out.parent)
    chosen = _load(problem, None, seed=seed, n_demonstrations=count)
    chosen.demonstrations.save(out)
    console.print(f"{len(chosen.demonstrations)} trajectories: {out}", markup=False)


@app.command()
def film(
    file: Annotated[Path, typer.Argument(help="A rewards.npz that `boirl run --out` wrote.")],
    out: Annotated[Path, typer.Option(help="The film to write, .gif or (with ffmpeg) .mp4.")],
    evaluation: Annotated[
        int | None,
        typer.Option(help="Number of the evaluation, from 0.", show_default="the best"),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Roll-outs to show.")] = 12,
    seed: Annotated[int, typer.Option(help="Seeds the roll-outs.")] = 0,
    camera: Annotated[
        bool, typer.Option(help="Let the environment draw the pictures, in place of paths.")
    ] = False,
) -> None:
    """Film what the policy of a reward does, in an environment where policies are learned.

    Example: boirl film results/rewards.npz --evaluation 7 --out film.gif
    """
    from boirl.paths import has_paths, save_film
    from boirl.solutions import RewardSet

    found = RewardSet.load(file)
    if not has_paths(found.problem):
        raise InvalidInputError(
            f"problem {found.problem.name!r} is not played in an environment; there is no film"
        )
    number = found.best_index if evaluation is None else evaluation
    if not 0 <= number < len(found):
        raise InvalidInputError(
            f"there is no evaluation {number}; expected a number from 0 to {len(found) - 1}"
        )
    with errors.status("filming"):
        path = save_film(found.problem, found.thetas[number], out, episodes, seed, camera)
    console.print(f"film: {path}", markup=False)


@app.command()
def data(
    name: Annotated[str, typer.Argument(metavar="DATASET", help="borlange.")],
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Folder or address that the files are in.",
            show_default="look in the cache",
        ),
    ] = None,
) -> None:
    """Bring a public data set to the cache, checked; problems then find it without --data.

    The cache is $BOIRL_CACHE or ~/.cache/boirl.
    Example: boirl data borlange --from https://example.org/borlange
    """
    from boirl.data import data_folder, fetch

    if source is None:
        console.print(f"{name} is in {data_folder(name)}", markup=False)
        return
    with errors.status("fetching"):
        folder = fetch(name, source, lambda file: errors.print(f"checked: {file}", markup=False))
    console.print(f"{name} is in {folder}", markup=False)


@app.command(name="map")
def map_command(
    problem: Name,
    out: Annotated[Path, typer.Option(help="The picture to write, such as map.png.")],
    theta: Annotated[
        list[str] | None,
        typer.Option(
            help="Where this reward would drive, such as --theta=-2,-1,-1. Given twice: where "
            "the two differ.",
            show_default="the trips",
        ),
    ] = None,
    data: Data = None,
    box: BoxName = None,
) -> None:
    """Draw a road network with its trips, with a reward's visits, or with two rewards' difference.

    Example: boirl map road-network --theta=-2,-1,-1 --theta=-1,1,-1 --out difference.png
    """
    from boirl import maps
    from boirl.files import save_figure

    chosen = _load(problem, None, data=data, box=box)
    if not maps.has_map(chosen):
        raise InvalidInputError(f"problem {problem!r} is not on roads; there is no map of it")
    thetas = [_theta(text) for text in theta or []]
    if len(thetas) > 2:
        raise InvalidInputError(f"there are {len(thetas)} thetas; expected at most two")
    draw = (maps.trips_map, maps.visits_map, maps.difference_map)[len(thetas)]
    with errors.status("drawing"):
        path = save_figure(draw(chosen, *thetas), out)
    console.print(f"picture: {path}", markup=False)


@app.command()
def experiment(
    name: Annotated[
        str,
        typer.Argument(
            help="baselines (paper, Table 1), gridworld-efficiency, gridworld-set, "
            "birl-posterior, shaping, many-parameters, borlange-search, borlange-set, "
            "borlange-trips, maze-search, maze-noise, fetch-search or fetch-solvers."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the results.")],
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Seeds 0 to this number less one.", show_default="2 to 10"),
    ] = None,
    evaluations: Annotated[
        int | None,
        typer.Option(help="Evaluations of each trial.", show_default="30 to 80"),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="rho-rbf, rbf, matern, random or another of the experiment (may be repeated).",
            show_default="all",
        ),
    ] = None,
    problem: Annotated[
        list[str] | None,
        typer.Option(
            help="Of baselines: gridworld, 'borlange narrow', 'borlange wide', maze or fetch (may "
            "be repeated).",
            show_default="all",
        ),
    ] = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
) -> None:
    """Run a comparison and write its numbers to files; finished trials are kept."""
    from boirl.experiments import find_experiment, run_experiment

    given = {
        "seeds": None if trials is None else range(trials),
        "evaluations": evaluations,
        "methods": method,
        "problems": problem,
        "demonstrations": demonstrations,
        "data": None if data is None else str(data.resolve()),
    }
    options = {key: value for key, value in given.items() if value is not None}
    find_experiment(name, options)
    with Progress(
        TextColumn("trials"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=errors,
    ) as progress:
        task = progress.add_task("trials", total=None)

        def on_trial(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        lines = run_experiment(name, out, options, on_trial)
    table = Table(*lines[0], box=None)
    for line in lines:
        table.add_row(*line.values())
    console.print(table)
    console.print(f"written: {out}", markup=False)


def _load(name: str, demonstrations: Path | None, **options: Any) -> Any:
    from boirl.demonstrations import Demonstrations
    from boirl.problems import load_problem

    given = {key: value for key, value in options.items() if value is not None}
    if "data" in given:
        given["data"] = str(given["data"].resolve())
    with _Learning("learning to demonstrate") as report:
        problem = load_problem(name, report, **given)
    if demonstrations is not None:
        problem = problem.with_demonstrations(Demonstrations.load(demonstrations))
    return problem


class _Learning(Progress):
    """A bar that appears with the first report, for what is learned before a search."""

    def __init__(self, title: str) -> None:
        columns = (TextColumn(title), BarColumn(), TextColumn("{task.fields[message]}"))
        super().__init__(*columns, console=errors, transient=True)
        self._task = self.add_task(title, total=1.0, message="", visible=False)

    def __enter__(self) -> Any:
        super().__enter__()
        return self.report

    def report(self, share: float, message: str) -> None:
        self.update(self._task, completed=share, message=message, visible=True)


def _initial(given: list[str] | None) -> Any:
    from boirl.initial import DESIGNS

    if not given:
        return "sobol"
    if len(given) == 1 and given[0] in DESIGNS:
        return given[0]
    return [_theta(text) for text in given]


def _theta(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInputError(
            f"theta is {text!r}; expected numbers with commas between, such as 1.25,5,0"
        ) from None


def _draw(found: Any, folder: Path) -> None:
    from boirl.maps import has_map, save_maps
    from boirl.paths import has_paths, save_paths
    from boirl.plots import save_figures

    with errors.status("drawing"):
        paths = save_figures(found, folder)
        if has_map(found.problem):
            paths += save_maps(found, folder)
        if has_paths(found.problem):
            paths += save_paths(found, folder)
    console.print("pictures: " + " ".join(map(str, paths)), markup=False)
