"""Asking the demonstrator, and counting the answers."""

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
    problem: ProblemOfResult = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say what to ask the demonstrator next: what the answer is expected to tell, and what each
    reward would answer.

    Example: boirl ask results/rewards.npz -n 3 --out questions.png
    """
    from boirl.decisions.facts import decision_facts
    from boirl.decisions.questions import describe_questions
    from boirl.files import save_figure

    found = open_rewards(file, problem)
    options: dict[str, Any] = {"policies": policies, "seed": seed}
    if kind == "start":
        options["trajectories"] = trajectories
    with notes.status("thinking of questions"):
        questions = found.questions(n, kind=kind, **options)
    if as_json:
        print_json({"questions": decision_facts(questions)})
    else:
        console.print(describe_questions(questions), markup=False)
    if save is not None:
        if kind != "comparison":
            raise InvalidInputError("--save is for comparisons; expected --kind comparison with it")
        from boirl.problem.preferences import Preferences

        Preferences.concatenate([one.answer(True) for one in questions]).save(save)
        notes.print(f"comparisons: {save}", markup=False)
    if out is not None:
        from boirl.drawing.questions import questions_figure

        path = save_figure(questions_figure(found.problem, questions), out)
        notes.print(f"picture: {path}", markup=False)


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
    as_json: AsJson = False,
    quiet: Quiet = False,
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
    notes.print(
        f"{known} evaluations scored under {len(search.problem.demonstrations)} demonstrations",
        markup=False,
    )
    found = search.run(known + evaluations, progress=not quiet) if evaluations else search.result()
    if as_json:
        print_json(found.to_dict())
    else:
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
