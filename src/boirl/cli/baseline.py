"""`boirl run --method`: a baseline in place of boirl's search."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import typer

from boirl.cli.app import console, errors, notes
from boirl.cli.loading import print_json
from boirl.cli.parallel import resume_command
from boirl.errors import InvalidInputError


def run_baseline(
    problem: Any,
    method: str,
    evaluations: int | None,
    settings: list[str] | None,
    seed: int,
    out: Path | None,
    as_json: bool = False,
) -> None:
    """Run a baseline, print what it found and write its files."""
    from boirl.baselines import get
    from boirl.cache import interrupted_path
    from boirl.drawing import convergence
    from boirl.evaluation import Evaluation
    from boirl.files import save_figure
    from boirl.search.progress import SearchProgress

    baseline = get(method, **parse_settings(settings))
    baseline.check(problem)
    total = baseline.default_evaluations if evaluations is None else evaluations
    checkpoint = None if out is None else out / f"{method}.run"
    spare = interrupted_path(f"{problem.name}-{method}") / f"{method}.run"
    if checkpoint is not None and checkpoint.exists():
        notes.print(f"resuming from {checkpoint}", markup=False)
    try:
        with SearchProgress(total, enabled=not notes.quiet) as bar:

            def show(done: Evaluation, number: int) -> None:
                bar.advance(done.nll if done.ok else None)

            found = baseline.run(problem, total, seed, show, checkpoint, bar.report, spare)
    except KeyboardInterrupt:
        kept = "nothing was done yet"
        if checkpoint is not None:
            kept = f"resume with: {resume_command()}"
        elif spare.exists():
            further = ("--out", str(spare.parent))
            kept = f"what was done is in {spare}; resume with: {resume_command(*further)}"
        errors.print(f"interrupted; {kept}", style="red", markup=False)
        raise typer.Exit(130) from None
    paths: list[Path] = []
    if out is not None:
        paths = [out / f"{method}.npz", out / f"{method}.csv"]
        found.save(paths[0])
        found.save_table(paths[1])
        paths.append(save_figure(convergence(found), out / f"{method}.png"))
        notes.print("written: " + " ".join(map(str, paths)), markup=False)
    if as_json:
        print_json({**found.to_dict(), "files": [str(path) for path in paths]})
    else:
        console.print(str(found), markup=False)


def parse_settings(given: list[str] | None) -> dict[str, Any]:
    """Settings of a baseline, from `name=value` each."""
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
