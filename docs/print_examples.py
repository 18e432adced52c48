"""Run the examples whose output the documentation shows: `make docs-printed`.

Writes `docs/results/printed.json`: the lines that each prints, by name. Names as arguments run
these alone and keep the others.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path

import boirl

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "results" / "printed.json"
Folders = dict[str, str | None]


def gridworld(data: Folders) -> None:
    print(boirl.explore(boirl.load_problem("gridworld"), evaluations=30))


def buses(data: Folders) -> None:
    for name in ("bus-engines", "bus-engines-myopic"):
        print(boirl.maximum_likelihood(boirl.load_problem(name, data=data["buses"])))


def labyrinth(data: Folders) -> None:
    problem = boirl.load_problem("labyrinth", data=data["labyrinth"], gamma=0.97)
    print(boirl.maximum_likelihood(problem))


def borlange(data: Folders) -> None:
    problem = boirl.load_problem("borlange-recursive-logit", data=data["borlange"])
    estimate = boirl.maximum_likelihood(problem)
    print(estimate)
    print(estimate.profile_interval("time"))
    print(estimate.robust_standard_errors().round(3))


def borlange_held_out(data: Folders) -> None:
    problem = boirl.load_problem("borlange-recursive-logit", data=data["borlange"])
    print(boirl.cross_validate(problem, starts=1))


def cross_validation(data: Folders) -> None:
    print(boirl.cross_validate(boirl.load_problem("gridworld2d", bellman="logsumexp")))


def _program(name: str) -> Callable[[Folders], None]:
    def run(data: Folders) -> None:
        exec(compile((ROOT / "examples" / name).read_text(), name, "exec"), {"__name__": name})

    return run


EXAMPLES: dict[str, Callable[[Folders], None]] = {
    "gridworld": gridworld,
    "own_problem": _program("own_problem.py"),
    "compare_models": _program("compare_models.py"),
    "cross_validation": cross_validation,
    "buses": buses,
    "borlange": borlange,
    "borlange_held_out": borlange_held_out,
    "labyrinth": labyrinth,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(EXAMPLES)}")
    for name in ("borlange", "buses", "labyrinth"):
        parser.add_argument(f"--{name}", help="folder with these data; by default the cache")
    given = parser.parse_args()
    unknown = set(given.names) - set(EXAMPLES)
    if unknown:
        raise SystemExit(f"no example {', '.join(unknown)}; expected some of {', '.join(EXAMPLES)}")
    kept = json.loads(OUT.read_text()) if OUT.exists() else {}
    for name in given.names or EXAMPLES:
        print(name, flush=True)
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            EXAMPLES[name](vars(given))
        kept[name] = [line.rstrip() for line in text.getvalue().splitlines()]
        ordered = {one: kept[one] for one in EXAMPLES if one in kept}
        OUT.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
