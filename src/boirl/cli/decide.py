"""Acting while the reward is not known, what if, and several demonstrators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from boirl.cli.app import app, console, notes
from boirl.cli.constraining import states_at
from boirl.cli.loading import (
    AsJson,
    Bellman,
    BoxName,
    Data,
    DemonstrationFile,
    Name,
    Policies,
    ProblemOfResult,
    Quiet,
    ResultFile,
    Seed,
    load,
    open_rewards,
    print_json,
)
from boirl.errors import InvalidInputError


@app.command()
def act(
    file: ResultFile,
    risk: Annotated[
        str, typer.Option(help="mean, worst, or a level from 0 (the mean) to 1 (the worst).")
    ] = "mean",
    out: Annotated[
        Path | None, typer.Option(help="An .npz file for the policy's probabilities, S x A.")
    ] = None,
    policies: Policies = None,
    seed: Seed = 0,
    problem: ProblemOfResult = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find one policy for all rewards that explain the demonstrations, and its regrets.

    Example: boirl act results/rewards.npz --risk worst
    """
    from boirl.files import write_arrays

    found = open_rewards(file, problem)
    with notes.status("deciding"):
        decision = found.policy(risk=_risk(risk), policies=policies, seed=seed)
    _tell(decision, as_json)
    if out is not None:
        probabilities = getattr(decision, "probabilities", None)
        if probabilities is None:
            raise InvalidInputError(
                "the policy is learned and not a table of probabilities; use Python, "
                "found.policy(risk=...)"
            )
        write_arrays(out, {"probabilities": probabilities, "regrets": decision.regrets})
        notes.print(f"policy: {out}", markup=False)


def _tell(found: Any, as_json: bool) -> None:
    """Print what was found, in words or as numbers for other programs."""
    from boirl.decisions.facts import decision_facts

    if as_json:
        print_json(decision_facts(found))
    else:
        console.print(str(found), markup=False)


def _risk(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


@app.command(name="what-if")
def what_if(
    file: ResultFile,
    close: Annotated[
        str | None,
        typer.Option(help="States (links, on roads) that are closed, such as 14,15, or by name."),
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="States to start from, each as likely, such as 3 or 3,4,5.")
    ] = None,
    destination: Annotated[int | None, typer.Option(help="On roads: where trips go.")] = None,
    reach: Annotated[
        list[str] | None,
        typer.Option(
            help="States (links, on roads) whose probability to be reached is shown (may be "
            "repeated)."
        ),
    ] = None,
    policies: Policies = None,
    seed: Seed = 0,
    problem: ProblemOfResult = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say what would change if states were closed, or trajectories started elsewhere.

    Example: boirl what-if results/rewards.npz --close 13 --reach 7 --reach 20
    """
    from boirl.constraints import ExpectedTotal, Reach
    from boirl.decisions.changed import changed_problem

    found = open_rewards(file, problem)
    closed = [] if close is None else _states(close, "--close", found.problem)
    begin = None if start is None else _states(start, "--start", found.problem)
    other = changed_problem(found.problem, closed, begin, destination)
    quantities: list[Any] = []
    for text in reach or []:
        places = _states(text, "--reach", found.problem)
        states = states_at(places, found.problem)
        by_number = states == places and text.replace(",", "").replace(" ", "").isdigit()
        quantities.append(Reach(states, name=None if by_number else f"reaching {text}"))
    quantities += [] if quantities else [ExpectedTotal()]
    with notes.status("imagining"):
        found_there = found.transfer(other, quantities, policies=policies, seed=seed)
    _tell(found_there, as_json)


@app.command()
def mixture(
    problem: Name,
    demonstrators: Annotated[
        int | None,
        typer.Option(min=1, help="How many there are.", show_default="by BIC, up to 4"),
    ] = None,
    evaluations: Annotated[int, typer.Option(min=1, help="Of each search.")] = 30,
    labels: Annotated[
        Path | None,
        typer.Option(help="A text file that says who showed what: one name per trajectory."),
    ] = None,
    temperatures: Annotated[
        bool,
        typer.Option(
            "--temperatures", help="All want the same and differ in how carefully they choose."
        ),
    ] = False,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for one result per demonstrator.")
    ] = None,
    bellman: Bellman = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    box: BoxName = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Tell several demonstrators apart, and find what each of them wants.

    Example: boirl mixture gridworld --demonstrations mixed.npz --demonstrators 2
    """
    from boirl.decisions.mixtures import fit_mixture
    from boirl.decisions.temperatures import fit_temperatures
    from boirl.files import make_folder
    from boirl.search import explore

    chosen = load(problem, demonstrations, bellman=bellman, data=data, box=box)
    who = None if labels is None else _names_in(labels)
    if temperatures:
        with notes.status("searching"):
            rewards = explore(chosen, evaluations, seed=seed)
        careful = fit_temperatures(rewards, demonstrators or 2, who, seed=seed)
        _tell(careful, as_json)
        if out is not None:
            make_folder(out)
            rewards.save(out / "rewards.npz")
        return
    with notes.status("telling demonstrators apart"):
        found = fit_mixture(chosen, demonstrators, who, evaluations=evaluations, seed=seed)
    _tell(found, as_json)
    if not as_json:
        console.print("trajectories: " + " ".join(map(str, found.labels + 1)), markup=False)
    if out is not None:
        make_folder(out)
        for name, one in zip(found.names, found.sets, strict=True):
            one.save(out / f"{name.replace(' ', '-')}.npz")


def _names_in(file: Path) -> list[str]:
    """The words of a text file."""
    try:
        return file.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"{str(file)!r} cannot be read ({error}); expected a text file with one name per "
            "trajectory"
        ) from error


def _states(text: str, option: str, problem: Any) -> list[int]:
    """The numbers of states that are given by number, or by name where they have names."""
    names = getattr(getattr(problem, "mdp", None), "state_names", ())
    parts = [part.strip() for part in text.split(",")]
    try:
        return [names.index(part) if part in names else int(part) for part in parts]
    except ValueError:
        known = f", or names of states such as {names[0]!r}," if names else ""
        raise InvalidInputError(
            f"{option} is {text!r}; expected whole numbers{known} with commas between"
        ) from None
