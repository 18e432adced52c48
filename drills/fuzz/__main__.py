"""Damage thousands of files of every kind, and count what comes of them.

    python -m drills.fuzz --mutations 1000 --seed 0 --out docs/results

Each kind is drilled in a child process, whose memory is limited: a file that ends the interpreter,
or that takes longer than a minute, is counted and the drill goes on after it. The same seed damages
files in the same way, and a run with more mutations goes on where the file in `--out` ends. Exit
code 1 where something else happened than that a file was accepted or refused with a `BoirlError`.
"""

from __future__ import annotations

import argparse
import json
import queue
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from boirl.files import make_folder, write_bytes
from drills.fuzz.targets import targets
from drills.fuzz.trial import GOOD, run_trial

SECONDS = 60.0
"""A file that takes longer hangs."""

START_SECONDS = 600.0
"""A child that has not begun by then never will."""

MORE_BYTES = 3 * 2**30
"""Memory beyond what the program takes."""

SHOWN = 20
"""Failures of each kind that are written down."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=1000, help="of each kind of file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=list(targets()), help="default: all")
    parser.add_argument("--out", type=Path, help="folder for fuzz.json")
    parser.add_argument("--child", nargs=2, metavar=("FIRST", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        drill(given.kind[0], given.seed, int(given.child[0]), given.mutations, given.child[1])
        return 0
    bad = 0
    kinds = given.kind or list(targets())
    for kind in kinds:
        found = supervise(kind, given.seed, given.mutations, begun(given.out, kind, given.seed))
        bad += len(found["failures"])
        print(f"{kind}: {found['counts']}", flush=True)
        for failure in found["failures"][:3]:
            print(f"  {failure}", flush=True)
        if given.out is not None:
            keep(given.out, kind, found)
    print(f"{given.mutations * len(kinds)} damaged files, {bad} neither accepted nor refused")
    return 1 if bad else 0


def begun(out: Path | None, kind: str, seed: int) -> dict[str, Any]:
    """What earlier runs with that seed found; a drill goes on where they ended."""
    path = None if out is None else out / "fuzz.json"
    if path is None or not path.exists():
        return {}
    found: dict[str, Any] = json.loads(path.read_text()).get(kind, {})
    return found if found.get("seed") == seed else {}


def keep(out: Path, kind: str, found: dict[str, Any]) -> None:
    """Write down what came of one kind, beside the kinds of earlier runs."""
    make_folder(out)
    path = out / "fuzz.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    write_bytes(path, (json.dumps({**kept, kind: found}, indent=1) + "\n").encode())


def drill(kind: str, seed: int, first: int, mutations: int, folder: str) -> None:
    """What a child does: one line of JSON per mutation."""
    known = targets()
    target, index = known[kind], list(known).index(kind)
    whole, copy = Path(folder) / "whole", Path(folder) / "copy"
    whole.mkdir()
    target.make(whole)
    shutil.copytree(whole, copy)
    target.use(copy)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MORE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    print(json.dumps({"begins": first}), flush=True)
    for number in range(first, mutations):
        print(json.dumps(run_trial(target, index, seed, number, whole, copy)), flush=True)


def supervise(kind: str, seed: int, mutations: int, before: dict[str, Any]) -> dict[str, Any]:
    """Counts and failures of all mutations of one kind; children that end are replaced.

    Args:
        kind: Of file.
        seed: Of the drill.
        mutations: How many there are to be.
        before: What was found of the first of them; empty where this is the first run.
    """
    counts: Counter[str] = Counter(before.get("counts", {}))
    failures: list[dict[str, Any]] = list(before.get("failures", []))
    began, first = time.monotonic() - before.get("seconds", 0.0), before.get("mutations", 0)
    while first < mutations:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "drills.fuzz", "--kind", kind]
            command += ["--mutations", str(mutations), "--seed", str(seed)]
            child = subprocess.Popen(
                [*command, "--child", str(first), folder],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            ended, begun = "", False
            for line in _lines(child):
                if line is None:
                    ended = "hangs"
                    break
                said = json.loads(line)
                if "begins" in said:
                    begun = True
                    continue
                counts[said["outcome"]] += 1
                first = said["number"] + 1
                if said["outcome"] not in GOOD:
                    failures.append(said)
            child.kill()
            _, last_words = child.communicate()
        if not begun:
            raise RuntimeError(f"files of {kind} that are as they should be fail: {last_words}")
        if first < mutations:
            ended = ended or f"ended the interpreter ({child.returncode})"
            counts[ended] += 1
            failures.append({"number": first, "outcome": ended, "error": last_words[-300:]})
            first += 1
    return {
        "mutations": max(first, mutations),
        "seed": seed,
        "counts": dict(counts),
        "seconds": round(time.monotonic() - began, 1),
        "failures": failures[:SHOWN],
    }


def _lines(child: subprocess.Popen[str]) -> Any:
    """Lines of a child; None where it takes too long over one."""
    waiting: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            waiting.put(line)
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    patience = START_SECONDS
    while True:
        try:
            line = waiting.get(timeout=patience)
        except queue.Empty:
            yield None
            return
        if line is None:
            return
        patience = SECONDS
        yield line


if __name__ == "__main__":
    sys.exit(main())
