"""Looking at rewards: one theta, a saved result, a film, a map; and demonstrations to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boirl.cli.app import app, console, notes
from boirl.cli.loading import (
    AsJson,
    Bellman,
    BoxName,
    Data,
    DemonstrationFile,
    ExactPictures,
    LearningBar,
    Name,
    ProblemOfResult,
    Quiet,
    ResultFile,
    draw,
    load,
    open_result,
    print_json,
)
from boirl.cli.thetas import parse_theta, theta_of
from boirl.errors import BoirlError, InvalidInputError


# Negative numbers look like options that nobody knows.
@app.command(context_settings={"ignore_unknown_options": True})
def evaluate(
    problem: Name,
    theta: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[THETA]...",
            help="Its numbers, such as 1.25 5 0 or 1.25,5,0.",
            show_default=False,
        ),
    ] = None,
    theta_option: Annotated[
        str | None,
        typer.Option("--theta", help="The same as an option: --theta -1 5 0.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seeds a policy that is learned.")] = 0,
    bellman: Bellman = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    box: BoxName = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Solve for the policy of one theta and print how well it explains the demonstrations.

    Example: boirl evaluate gridworld 1.25 5 0
    """
    parsed = theta_of(theta or [], theta_option)
    chosen = load(problem, demonstrations, bellman=bellman, data=data, box=box)
    with LearningBar("learning") as report:
        evaluation = chosen.evaluate(parsed, seed=seed, report=report)
    if not evaluation.ok:
        raise BoirlError(str(evaluation.failure))
    facts = {"theta": parsed, "nll": evaluation.nll, "nll_se": evaluation.nll_se}
    if chosen.truth is not None:
        with LearningBar("learning the expert's policy") as report:
            truth = chosen.evaluate(chosen.truth, seed=seed, report=report)
        facts["esor"] = chosen.true_return(chosen.policy_of(evaluation))
        facts["expert_esor"] = chosen.true_return(chosen.policy_of(truth))
    if as_json:
        print_json(facts)
        return
    error = f" ± {evaluation.nll_se:.6f}" if evaluation.nll_se else ""
    console.print(f"NLL   {evaluation.nll:.6f}{error} (mean per trajectory)")
    if "esor" in facts:
        console.print(f"ESOR  {facts['esor']:.6f} (expert {facts['expert_esor']:.6f})")


@app.command()
def show(
    file: ResultFile,
    out: Annotated[
        Path | None, typer.Option(help="Folder to draw the pictures into.", show_default="none")
    ] = None,
    exact: ExactPictures = False,
    problem: ProblemOfResult = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Print, and draw again, the result of an earlier search or baseline."""
    found = open_result(file, problem)
    if not as_json:
        console.print(str(found), markup=False)
    paths = [] if out is None else draw(found, out, exact)
    if as_json:
        print_json({**found.to_dict(), "files": [str(path) for path in paths]})


@app.command()
def demonstrate(
    problem: Name,
    out: Annotated[Path, typer.Option(help="The .npz file to write.")],
    seed: Annotated[int, typer.Option(help="Seeds the demonstrator and what it does.")] = 0,
    n: Annotated[
        int | None,
        typer.Option(
            "--trajectories", min=1, help="How many.", show_default="the problem's own number"
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write demonstrations of a problem whose demonstrator is simulated.

    Example: boirl demonstrate point-mass-maze --seed 1 --out demonstrations.npz
    """
    from boirl.files import make_folder

    make_folder(out.parent)
    chosen = load(problem, None, seed=seed, n_demonstrations=n)
    chosen.demonstrations.save(out)
    console.print(f"{len(chosen.demonstrations)} trajectories: {out}", markup=False)


@app.command()
def film(
    file: ResultFile,
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
    problem: ProblemOfResult = None,
    quiet: Quiet = False,
) -> None:
    """Film what the policy of a reward does, in an environment where policies are learned.

    Example: boirl film results/rewards.npz --evaluation 7 --out film.gif
    """
    from boirl.drawing.films import save_film
    from boirl.drawing.paths import has_paths

    found = open_result(file, problem)
    if not has_paths(found.problem):
        raise InvalidInputError(
            f"problem {found.problem.name!r} is not played in an environment; there is no film"
        )
    number = found.best_index if evaluation is None else evaluation
    if not 0 <= number < len(found):
        raise InvalidInputError(
            f"there is no evaluation {number}; expected a number from 0 to {len(found) - 1}"
        )
    with notes.status("filming"):
        path = save_film(
            found.problem,
            found.policy(number),
            found.thetas[number],
            out,
            episodes,
            seed,
            camera,
        )
    console.print(f"film: {path}", markup=False)


@app.command(name="map")
def map_command(
    problem: Name,
    out: Annotated[Path, typer.Option(help="The picture to write, such as map.png.")],
    theta: Annotated[
        list[str] | None,
        typer.Option(
            help="Where this reward would drive, such as --theta -2 -1 -1. Given twice: where "
            "the two differ.",
            show_default="the trips",
        ),
    ] = None,
    data: Data = None,
    box: BoxName = None,
    quiet: Quiet = False,
) -> None:
    """Draw a road network with its trips, with a reward's visits, or with two rewards' difference.

    Example: boirl map road-network --theta -2 -1 -1 --theta -1 1 -1 --out difference.png
    """
    from boirl.domains.roads import maps
    from boirl.files import save_figure

    chosen = load(problem, None, data=data, box=box)
    if not maps.has_map(chosen):
        raise InvalidInputError(f"problem {problem!r} is not on roads; there is no map of it")
    thetas = [parse_theta(text) for text in theta or []]
    if len(thetas) > 2:
        raise InvalidInputError(f"there are {len(thetas)} thetas; expected at most two")
    draw_map = (maps.trips_map, maps.visits_map, maps.difference_map)[len(thetas)]
    with notes.status("drawing"):
        rewards = [maps.SolvedReward(theta, chosen.policy(theta)) for theta in thetas]
        path = save_figure(draw_map(chosen, *rewards), out)
    console.print(f"picture: {path}", markup=False)
