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
from drills.fuzz.targets import targets
from drills.table import evaluations, inputs, processes, storages
from drills.table.lines import BEFORE

Drill = Callable[[Any, Path, int], dict[str, Any]]

DRILLS: dict[str, Drill] = {
    "4 processes on one SQLite study": processes.shared_file,
    "processes that create a new study together": processes.creation,
    "one abandoned evaluation, 4 processes": processes.abandoned,
    "containers with one hostname": processes.containers,
    "host changed after a kill": processes.change_of_host,
    "an evaluation that raises": evaluations.raises,
    "a worker that is killed": evaluations.worker_killed,
    "all training processes killed": evaluations.training_killed,
    "a worker that hangs": evaluations.worker_hangs,
    "SIGTERM and Ctrl-C, in memory or --out": evaluations.interruptions,
    "PostgreSQL server restarted": storages.server_restarts,
    "code execution": inputs.code_execution,
    "memory corruption": inputs.memory_corruption,
    "passwords": inputs.passwords,
    "unbounded input": inputs.unbounded_input,
    "an NLL of 1e200, a trial without parameters": evaluations.absurd,
    "damaged and locked databases": storages.damage,
    "full disk": storages.full_disk,
    "scheduler that vanishes": storages.scheduler_vanishes,
}
"""What is done for each line of the table."""

TINY = ("one abandoned evaluation, 4 processes", "an evaluation that raises", "passwords")


def fuzz(out: Path) -> dict[str, Any]:
    """Raw exceptions and other failures of `python -m drills.fuzz`, by kind of file."""
    file = out / "fuzz.json"
    if not file.exists():
        return {"skipped": "run python -m drills.fuzz with the same --out first", "clean": False}
    kinds = json.loads(file.read_text())
    found = {kind: {"mutations": one["mutations"], **one["counts"]} for kind, one in kinds.items()}
    missing = len(set(targets()) - set(kinds))
    failed = any(one["failures"] for one in kinds.values())
    return {**found, "kinds_not_run": missing, "clean": not failed and not missing}


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


FROM_FILES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "fuzz: raw exceptions": fuzz,
    "ask at 100, 500, 1,000 and 2,000 evaluations": asks,
}
"""What is read for the others."""


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
            after = FROM_FILES[name](given.out)
        else:
            with tempfile.TemporaryDirectory() as folder:
                after = DRILLS[name](problem, Path(folder), 1 if given.tiny else given.repeats)
        seconds = round(time.monotonic() - began, 1)
        print(f"{name}: {'clean' if after['clean'] else after}", file=sys.stderr, flush=True)
        found[name] = {"before": BEFORE[name], "after": after, "seconds": seconds}
        in_order = {one: found[one] for one in BEFORE if one in found}
        clean = all(one["after"]["clean"] for one in in_order.values())
        rig.write(given.out, "drill_table", {"all_clean": clean, "lines": in_order}, quiet=True)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
