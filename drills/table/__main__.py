"""Run every drill of the table, and write what happened before and what happens now.

    python -m drills.table --out docs/results

Two lines of the table are long runs of their own, `python -m drills.fuzz` and
`python benchmarks/long_study.py`: what their files in the same folder say is taken from there.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boirl
from drills import rig
from drills.table import evaluations, inputs, processes, storages

Drill = Callable[[Any, Path, int], dict[str, Any]]

DRILLS: dict[str, tuple[Drill, str]] = {
    "4 processes on one SQLite study": (
        processes.shared_file,
        "5 of 32 processes died with KeyError",
    ),
    "processes that create a new study together": (
        processes.creation,
        "2 at once: 7 of 20 died; 4 at once: 23 of 40; the message blamed the disk",
    ),
    "one abandoned evaluation, 4 processes": (
        processes.abandoned,
        "taken by 3 or 4 of them in 7 of 10 drills",
    ),
    "containers with one hostname": (processes.containers, "a process lost in 4 of 5 drills"),
    "host changed after a kill": (
        processes.change_of_host,
        "the evaluation stayed RUNNING for ever",
    ),
    "an evaluation that raises": (
        evaluations.raises,
        "ended the run, and the next run took up the same theta: 5 of 5",
    ),
    "a worker that is killed": (evaluations.worker_killed, "there were no workers"),
    "all training processes killed": (
        evaluations.training_killed,
        "the theta counted as bad (worst NLL, never tried again)",
    ),
    "a worker that hangs": (evaluations.worker_hangs, "waited for without limit"),
    "SIGTERM and Ctrl-C, in memory or --out": (
        evaluations.interruptions,
        "SIGTERM: everything lost, no message",
    ),
    "PostgreSQL server restarted": (storages.server_restarts, "run aborted, 5 of 5"),
    "code execution": (
        inputs.code_execution,
        "a crafted maxent.run was unpickled, and its code ran",
    ),
    "memory corruption": (
        inputs.memory_corruption,
        "9223372036854775807 aborted the interpreter, 2000000000 asked for 15 GiB",
    ),
    "passwords": (inputs.passwords, "printed in full in every message that names the storage"),
    "unbounded input": (
        inputs.unbounded_input,
        "an endless stream was read to 3.4 GB; an npz of 2 MB expanded to 2.4 GB",
    ),
    "an NLL of 1e200, a trial without parameters": (
        evaluations.absurd,
        "every later ask failed",
    ),
    "damaged and locked databases": (storages.damage, "one message, which blamed the disk"),
    "full disk": (storages.full_disk, "not measured"),
    "scheduler that vanishes": (storages.scheduler_vanishes, "there was no cluster"),
}
"""What is drilled, by the line of the table, and what came of it at first."""

TINY = ("one abandoned evaluation, 4 processes", "an evaluation that raises", "passwords")


def fuzz(out: Path) -> dict[str, Any]:
    """Raw exceptions and other failures of `python -m drills.fuzz`, by kind of file."""
    file = out / "fuzz.json"
    if not file.exists():
        return {"skipped": "run python -m drills.fuzz with the same --out first", "clean": False}
    kinds = json.loads(file.read_text())
    found = {kind: {"mutations": one["mutations"], **one["counts"]} for kind, one in kinds.items()}
    return {**found, "clean": not any(one["failures"] for one in kinds.values())}


def asks(out: Path) -> dict[str, Any]:
    """Seconds of proposals in long studies, of `python benchmarks/long_study.py`."""
    file = out / "long_study.json"
    if not file.exists():
        return {"skipped": "run benchmarks/long_study.py with the same --out first", "clean": False}
    rows = json.loads(file.read_text())
    found = {
        str(row["evaluations"]): {
            "refit": round(row["refit"]["total"], 2),
            "ask": round(row["ask"]["total"], 2),
            "answer": round(row["answer"], 1),
            "megabytes": round(row["megabytes"]),
        }
        for row in rows
    }
    return {**found, "clean": rows[-1]["ask"]["total"] < 0.5}


FROM_FILES = {
    "fuzz: raw exceptions": (
        fuzz,
        "demonstrations 454 of 15,000, results 638 of 5,000, road text 48 of 21,500, databases 31 "
        "of 250, road CSV 0 of 21,500",
    ),
    "ask at 100, 500, 1,000 and 2,000 evaluations": (
        asks,
        "1.5, 4, 25 and 163 s with a refit; the final fit at 1,000: 53 s",
    ),
}


def main() -> int:
    parser = rig.arguments(__doc__)
    parser.add_argument("--only", nargs="*", choices=[*DRILLS, *FROM_FILES], metavar="LINE")
    parser.add_argument("--repeats", type=int, default=8)
    given = parser.parse_args()
    chosen = TINY if given.tiny else given.only or [*DRILLS, *FROM_FILES]
    problem = boirl.load_problem("gridworld")
    file = given.out / "drill_table.json"
    found: dict[str, Any] = {}
    if given.only and file.exists():
        found = json.loads(file.read_text())["lines"]
    for name in chosen:
        began = time.monotonic()
        if name in FROM_FILES:
            read, before = FROM_FILES[name]
            after = read(given.out)
        else:
            drill, before = DRILLS[name]
            with tempfile.TemporaryDirectory() as folder:
                after = drill(problem, Path(folder), 1 if given.tiny else given.repeats)
        seconds = round(time.monotonic() - began, 1)
        print(f"{name}: {'clean' if after['clean'] else after}", file=sys.stderr, flush=True)
        found[name] = {"before": before, "after": after, "seconds": seconds}
        in_order = {one: found[one] for one in (*DRILLS, *FROM_FILES) if one in found}
        clean = all(one["after"]["clean"] for one in in_order.values())
        rig.write(given.out, "drill_table", {"all_clean": clean, "lines": in_order}, quiet=True)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
