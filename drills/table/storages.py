"""Databases that are damaged, locked, full or restarted, and a scheduler that goes away."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boirl
from boirl.errors import BoirlError, StorageError
from boirl.search import storage as storage_module
from drills import rig
from drills.postgres import Server

QUICK: dict[str, Any] = {"seed": 3, "kernel": "rbf", "acquisition": "random"}
DISK_KILOBYTES = 6000
"""Of the disk that is filled."""


def damage(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """A file that is no database, one that is cut off, and one that somebody keeps locked."""
    boirl.Study(problem, storage=f"sqlite:///{folder}/whole.db", **QUICK).run(3)
    content = (folder / "whole.db").read_bytes()
    (folder / "text.db").write_text("not a database " * 100)
    (folder / "cut.db").write_bytes(content[: len(content) // 2])
    shutil.copy(folder / "whole.db", folder / "locked.db")
    holder = sqlite3.connect(folder / "locked.db")
    holder.execute("BEGIN EXCLUSIVE")
    found: dict[str, Any] = {}
    with patch.multiple(storage_module, BUSY_SECONDS=1.0, CREATION_PATIENCE=3.0):
        for name in ("text", "cut", "locked"):
            try:
                boirl.Study(problem, storage=f"sqlite:///{folder}/{name}.db", **QUICK).run(4)
                found[name] = "worked"
            except BoirlError as error:
                found[name] = str(error).replace(str(folder), "FOLDER")
    holder.close()
    words = {"text": "not a database", "cut": "malformed", "locked": "locked"}
    return {**found, "clean": all(words[name] in found[name] for name in found)}


def full_disk(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """The disk is full in the middle of a search: what is said, and is anything lost?"""
    disk = folder / "disk"
    disk.mkdir()
    inside = f'mount -t tmpfs -o size={DISK_KILOBYTES}k none "$1" && exec "$2" -m "$3" "$1"'
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", inside, "sh"]
    command += [str(disk), sys.executable, "drills.table.storages"]
    done = subprocess.run(
        command, env=rig.environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        return {"failed": done.stderr[-500:], "clean": False}
    found: dict[str, Any] = json.loads(done.stdout)
    found["said"] = found["said"].replace(str(disk), "DISK")
    is_kept = found["told_before"] == found["stored_when_full"]
    said = "disk" in found["said"] or "space" in found["said"]
    return {**found, "clean": is_kept and said and found["completed_in_the_end"] == 12}


def _fill(disk: Path) -> None:
    """What happens inside: fill the disk of a search, free it again, and go on."""
    problem = boirl.load_problem("gridworld")
    options: dict[str, Any] = {**QUICK, "storage": f"sqlite:///{disk}/search.db"}
    study = boirl.Study(problem, **options)
    study.run(4)
    with (disk / "filler").open("wb") as filler, suppress(OSError):
        while True:
            os.write(filler.fileno(), b"x" * 1024)
    told, said = 4, ""
    try:
        for _ in range(8):
            question = study.ask()
            study.tell(question, problem.evaluate(question.theta))
            told += 1
    except StorageError as error:
        said = str(error)
    del study
    (disk / "filler").unlink()
    again = boirl.Study(problem, **options)
    stored = len(again.trials)
    again.run(12)
    completed = rig.check_study(problem, again)
    found = {
        "said": said,
        "told_before": told,
        "stored_when_full": stored,
        "completed_in_the_end": completed["completed"],
    }
    print(json.dumps(found))


def server_restarts(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """A PostgreSQL server is restarted again and again while one search runs."""
    server = Server(folder)
    total, restarts = 4 * repeats + 4, 0
    try:
        options = ("--acquisition", "random", "--sleep", "0.2", "--artifacts", str(folder / "kept"))
        search = rig.start_search(server.address, total, *options)
        study = None
        while search.poll() is None and restarts < repeats:
            study = study or boirl.Study(
                problem,
                storage=server.address,
                seed=0,
                acquisition="random",
                artifacts=folder / "kept",
            )
            if len(study.trials) >= 4 * (restarts + 1):
                server.stop()
                time.sleep(1.0)
                server.start()
                restarts += 1
            time.sleep(0.1)
        code = search.wait()
        assert study is not None
        checked = rig.check_study(problem, study)
    finally:
        server.stop()
    clean = code == 0 and checked["completed"] == checked["different_thetas"] == total
    return {"restarts": restarts, "exit_code": code, **checked, "clean": clean}


def scheduler_vanishes(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """The scheduler of a cluster is killed in the middle of a search, which then goes on here."""
    from drills.cluster import start_cluster

    started, address = start_cluster(folder, workers=2)
    file = folder / "search.db"
    storage = f"sqlite:///{file}"
    command = [sys.executable, "-m", "drills.rig", storage, "12", "--cluster", address]
    command += ["--acquisition", "random", "--sleep", "0.5"]
    try:
        search = subprocess.Popen(command, env=rig.environment(), stderr=subprocess.PIPE, text=True)
        while rig.n_finished(file) < 4 and search.poll() is None:
            time.sleep(0.1)
        started[0].kill()
        began = time.monotonic()
        lines = search.communicate()[1].splitlines()
        seconds = round(time.monotonic() - began, 1)
    finally:
        for process in started:
            process.kill()
            process.wait()
    before = rig.n_finished(file)
    study = boirl.Study(problem, storage=storage, seed=0, acquisition="random")
    study.run(12)
    checked = rig.check_study(problem, study)
    said = [line for line in lines if "has gone; what was finished before is kept" in line]
    return {
        "exit_code": search.returncode,
        "said": said,
        "seconds_until_said": seconds,
        "evaluations_kept": before,
        "completed_in_the_end": checked["completed"],
        "clean": len(said) == 1 and checked["completed"] == checked["different_thetas"] == 12,
    }


if __name__ == "__main__":
    _fill(Path(sys.argv[1]))
