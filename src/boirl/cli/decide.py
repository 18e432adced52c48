"""From a set of rewards to a decision: ask, answer, act, what if, and several demonstrators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from boirl.cli.app import app, console, errors
from boirl.cli.loading import Bellman, BoxName, Data, DemonstrationFile, Name, ResultFile, load
from boirl.errors import InvalidInputError

Seed = Annotated[int, typer.Option(help="Of everything random.")]
Policies = Annotated[
    int | None,
    typer.Option(
        help="Samples of the posterior to solve for; 0 for the policies that the search kept.",
        show_default="64 where that is quick, else 0",
    ),
]


@app.command()
def ask(
    file: ResultFile,
    n: Annotated[int, typer.Option("--questions", "-n", min=1, help="How many.")] = 3,
    kind: Annotated[
        str, typer.Option(help="start (show what you would do from here) or comparison.")
    ] = "start",
    trajectories: Annotated[
        int, typer.Option(min=1, help="Demonstrations that an answer consists of.")
    ] = 1,
    out: Annotated[
        Path | None, typer.Option(help="A picture to write, such as questions.png.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="An .npz file for comparisons, which `boirl answer` reads."),
    ] = None,
    policies: Policies = None,
    seed: Seed = 0,
) -> None:
    """Say what to ask the demonstrator next: what the answer is expected to tell, and what each
    reward would answer.

    Example: boirl ask results/rewards.npz -n 3 --out questions.png
    """
    from boirl.decisions.questions import describe_questions
    from boirl.files import save_figure

    found = _load(file)
    options: dict[str, Any] = {"policies": policies, "seed": seed}
    if kind == "start":
        options["trajectories"] = trajectories
    with errors.status("thinking of questions"):
        questions = found.questions(n, kind=kind, **options)
    console.print(describe_questions(questions), markup=False)
    if save is not None:
        if kind != "comparison":
            raise InvalidInputError("--save is for comparisons; expected --kind comparison with it")
        from boirl.problem.preferences import Preferences

        Preferences.concatenate([one.answer(True) for one in questions]).save(save)
        console.print(f"comparisons: {save}", markup=False)
    if out is not None:
        from boirl.drawing.questions import questions_figure

        path = save_figure(questions_figure(found.problem, questions), out)
        console.print(f"picture: {path}", markup=False)


@app.command()
def answer(
    problem: Name,
    storage: Annotated[str, typer.Option(help="Database of the search.")],
    add: Annotated[
        Path | None, typer.Option(help="An .npz file with further demonstrations.")
    ] = None,
    remove: Annotated[
        str | None,
        typer.Option(help="Numbers of demonstrations to leave out from now on, such as 0,3."),
    ] = None,
    comparisons: Annotated[
        Path | None, typer.Option(help="The .npz file that `boirl ask --save` wrote.")
    ] = None,
    better: Annotated[
        str | None,
        typer.Option(help="Which is better in each comparison: 1, 2 or - (not answered): 1,2,-."),
    ] = None,
    evaluations: Annotated[int, typer.Option(min=0, help="Further evaluations after that.")] = 0,
    study: Annotated[
        str | None,
        typer.Option(help="Name of the search within the storage.", show_default="boirl-PROBLEM"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for rewards.npz.", show_default="none")
    ] = None,
    bellman: Bellman = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    box: BoxName = None,
) -> None:
    """Add demonstrations or comparisons to a search, or leave demonstrations out.

    No policy is solved for again.

    Example: boirl answer gridworld --storage sqlite:///search.db --add more.npz --evaluations 10
    """
    from boirl.demonstrations import Demonstrations
    from boirl.files import make_folder
    from boirl.search.reopening import reopen_study

    if add is None and remove is None and comparisons is None:
        raise InvalidInputError(
            "none of --add, --remove and --comparisons is given; expected one of them"
        )
    if (comparisons is None) != (better is None):
        raise InvalidInputError("expected --comparisons and --better together")
    chosen = load(problem, demonstrations, bellman=bellman, data=data, box=box)
    search = reopen_study(chosen, storage, study)
    if remove is not None:
        try:
            search.remove_demonstrations([int(part) for part in remove.split(",")])
        except ValueError as error:
            if isinstance(error, InvalidInputError):
                raise
            raise InvalidInputError(
                f"--remove is {remove!r}; expected whole numbers with commas between"
            ) from None
    if add is not None:
        search.add_demonstrations(Demonstrations.load(add))
    if comparisons is not None and better is not None:
        search.add_preferences(_answered(comparisons, better))
    known = len(search.trials)
    errors.print(
        f"{known} evaluations scored under {len(search.problem.demonstrations)} demonstrations",
        markup=False,
    )
    found = search.run(known + evaluations, progress=True) if evaluations else search.result()
    console.print(str(found), markup=False)
    if out is not None:
        make_folder(out)
        found.save(out / "rewards.npz")


def _answered(file: Path, better: str) -> Any:
    """Comparisons with their answers; those without one are left out."""
    from boirl.problem.preferences import Preferences

    asked = Preferences.load(file)
    answers = [part.strip() for part in better.split(",")]
    if len(answers) != len(asked) or not set(answers) <= {"1", "2", "-"} or set(answers) == {"-"}:
        raise InvalidInputError(
            f"--better is {better!r}; expected {len(asked)} answers with commas between, each 1 "
            "(the first is better), 2 (the second is) or - (not answered)"
        )
    return asked.answered([{"1": True, "2": False, "-": None}[one] for one in answers])


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
) -> None:
    """Find one policy for all rewards that explain the demonstrations, and its regrets.

    Example: boirl act results/rewards.npz --risk worst
    """
    from boirl.files import write_arrays

    found = _load(file)
    with errors.status("deciding"):
        decision = found.policy(risk=_risk(risk), policies=policies, seed=seed)
    console.print(str(decision), markup=False)
    if out is not None:
        probabilities = getattr(decision, "probabilities", None)
        if probabilities is None:
            raise InvalidInputError(
                "the policy is learned and not a table of probabilities; use Python, "
                "found.policy(risk=...)"
            )
        write_arrays(out, {"probabilities": probabilities, "regrets": decision.regrets})
        console.print(f"policy: {out}", markup=False)


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
        typer.Option(help="States (links, on roads) that are closed, such as 14,15."),
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="States to start from, each as likely, such as 3 or 3,4,5.")
    ] = None,
    destination: Annotated[int | None, typer.Option(help="On roads: where trips go.")] = None,
    reach: Annotated[
        list[str] | None,
        typer.Option(help="States whose probability to be reached is shown (may be repeated)."),
    ] = None,
    policies: Policies = None,
    seed: Seed = 0,
) -> None:
    """Say what would change if states were closed, or trajectories started elsewhere.

    Example: boirl what-if results/rewards.npz --close 13 --reach 7 --reach 20
    """
    from boirl.constraints import ExpectedTotal, Reach
    from boirl.decisions.changed import changed_problem

    found = _load(file)
    closed = [] if close is None else _numbers(close, "--close")
    begin = None if start is None else _numbers(start, "--start")
    other = changed_problem(found.problem, closed, begin, destination)
    quantities: list[Any] = [Reach(_numbers(text, "--reach")) for text in reach or []]
    quantities += [] if quantities else [ExpectedTotal()]
    with errors.status("imagining"):
        found_there = found.transfer(other, quantities, policies=policies, seed=seed)
    console.print(str(found_there), markup=False)


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
) -> None:
    """Tell several demonstrators apart, and find what each of them wants.

    Example: boirl mixture gridworld --demonstrations mixed.npz --demonstrators 2
    """
    from boirl.decisions.mixtures import fit_mixture
    from boirl.decisions.temperatures import fit_temperatures
    from boirl.files import make_folder
    from boirl.search import explore

    chosen = load(problem, demonstrations, bellman=bellman, data=data, box=box)
    who = None if labels is None else labels.read_text(encoding="utf-8").split()
    if temperatures:
        with errors.status("searching"):
            rewards = explore(chosen, evaluations, seed=seed)
        careful = fit_temperatures(rewards, demonstrators or 2, who, seed=seed)
        console.print(str(careful), markup=False)
        if out is not None:
            make_folder(out)
            rewards.save(out / "rewards.npz")
        return
    with errors.status("telling demonstrators apart"):
        found = fit_mixture(chosen, demonstrators, who, evaluations=evaluations, seed=seed)
    console.print(str(found), markup=False)
    console.print("trajectories: " + " ".join(map(str, found.labels + 1)), markup=False)
    if out is not None:
        make_folder(out)
        for name, one in zip(found.names, found.sets, strict=True):
            one.save(out / f"{name.replace(' ', '-')}.npz")


def _load(file: Path) -> Any:
    """The answer of a search."""
    from boirl.results import RewardSet

    return RewardSet.load(file)


def _numbers(text: str, option: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInputError(
            f"{option} is {text!r}; expected whole numbers with commas between"
        ) from None
