"""One small drill for each thing that went wrong before, with what happened then.

Processes share a file, create a study together, die, hang and raise errors; hosts are simulated by
namespaces where the system allows it. Run with `python drills/table.py --out results/drills`.
"""

from __future__ import annotations

import copy
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import rig

import boirl
from boirl.errors import BoirlError
from boirl.evaluation import Evaluation
from boirl.search import storage as storage_module
from boirl.search.leases import LEASE, Lease
from boirl.search.sampler import search_space

QUICK: dict[str, Any] = {"seed": 3, "kernel": "rbf", "acquisition": "random"}
FORK = multiprocessing.get_context("fork")


def in_processes(work: Callable[[], Any], n: int) -> list[int]:
    """Do something in several processes that start together; their exit codes."""
    start = FORK.Event()

    def begin() -> None:
        start.wait()
        work()

    started = [FORK.Process(target=begin) for _ in range(n)]
    for process in started:
        process.start()
    start.set()
    for process in started:
        process.join()
    return [int(process.exitcode or 0) for process in started]


def shared_file(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """Four processes run one study, proposals with the surrogate included."""
    died = wrong = 0
    for number in range(repeats):
        storage = f"sqlite:///{folder}/shared{number}.db"
        codes = in_processes(partial(boirl.explore, problem, 12, storage=storage, seed=1), 4)
        died += sum(code != 0 for code in codes)
        checked = rig.check_study(problem, boirl.Study(problem, storage=storage, seed=1))
        wrong += checked["completed"] != 12 or checked["different_thetas"] != 12
    return {"processes": 4 * repeats, "died": died, "studies_with_errors": int(wrong)}


def creation(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """Two and four processes create a new study at the same time."""
    found = {}
    for n in (2, 4):
        died = 0
        for number in range(repeats):
            storage = f"sqlite:///{folder}/new{n}-{number}.db"
            codes = in_processes(partial(boirl.Study, problem, storage=storage, **QUICK), n)
            died += sum(code != 0 for code in codes)
        found[f"{n} at once"] = f"{died} of {n * repeats} died"
    return found


def leave_behind(study: Any, **changes: Any) -> int:
    """A trial of a process that is gone; returns its number."""
    lease = replace(study.questions.leases.new(), owner="theirs", **changes)
    trial_id = study.database.create({LEASE: lease.record()})
    params = dict(zip(study.problem.box.names, study.problem.truth, strict=True))
    study.database.propose(trial_id, params, search_space(study.problem.box), {})
    return len(study.optuna_study.trials) - 1


def abandoned(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """One abandoned evaluation, four processes that ask: how many get it?"""
    taken = []
    for number in range(repeats):
        storage = f"sqlite:///{folder}/abandoned{number}.db"
        study = boirl.Study(problem, storage=storage, **QUICK)
        left = leave_behind(study, deadline=1.0)
        said = folder / f"said{number}"
        said.mkdir()

        all_asked = FORK.Barrier(4)

        def ask(at: str, want: int, to: Path, together: Any) -> None:
            study = boirl.Study(problem, storage=at, **QUICK)
            if study.ask().number == want:
                (to / str(os.getpid())).touch()
            # Nobody dies before all have asked: what a dead process has is taken over, too.
            together.wait()

        in_processes(partial(ask, storage, left, said, all_asked), 4)
        taken.append(len(list(said.iterdir())))
    return {"drills": repeats, "taken_by_more_or_fewer_than_one": sum(n != 1 for n in taken)}


def containers(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """Two searches in process namespaces of their own, with one hostname, share a file."""
    if shutil.which("unshare") is None:
        return {"skipped": "there is no unshare here"}
    lost = wrong = 0
    alone = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    for number in range(repeats):
        storage = f"sqlite:///{folder}/containers{number}.db"
        command = [*alone, sys.executable, str(rig.HERE / "rig.py"), storage, "8"]
        command += ["--acquisition", "random", "--sleep", "0.1"]
        environment = {**os.environ, "PYTHONPATH": rig.path_of_source()}
        started = [subprocess.Popen(command, env=environment) for _ in range(2)]
        lost += sum(process.wait() != 0 for process in started)
        study = boirl.Study(problem, storage=storage, seed=0, acquisition="random")
        checked = rig.check_study(problem, study)
        wrong += checked["completed"] != 8 or checked["different_thetas"] != 8
    return {"drills": repeats, "processes_lost": lost, "studies_with_errors": int(wrong)}


def change_of_host(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """A search is killed and goes on elsewhere: is its evaluation taken over, the same theta?"""
    expected = boirl.explore(problem, 4, **QUICK).thetas
    storage = f"sqlite:///{folder}/host.db"
    study = boirl.Study(problem, storage=storage, lease_seconds=3.0, **QUICK)
    study.run(2)
    question = study.ask()
    (trial,) = [one for one in study.optuna_study.trials if one.number == question.number]
    lease = Lease.of(trial)
    assert lease is not None
    elsewhere = replace(lease, owner="gone", place="another machine")
    study.questions.leases.drop(trial._trial_id)
    study.database.replace(trial._trial_id, LEASE, lease.record(), elsewhere.record())
    again = boirl.Study(problem, storage=storage, lease_seconds=3.0, **QUICK)
    found = again.run(4)
    states = {one.state.name for one in again.optuna_study.trials}
    return {"same_thetas": bool(np.array_equal(found.thetas, expected)), "states": sorted(states)}


def misbehaving(problem: Any, how: Callable[[int], None]) -> Any:
    """The problem, with evaluations before which something may happen, by the call."""
    calls: list[int] = []
    kind: Any = type(problem)

    class Misbehaving(kind):
        def evaluate(self, theta: Any, *given: Any) -> Evaluation:
            calls.append(1)
            how(len(calls))
            return kind.evaluate(self, theta, *given)

    other = copy.copy(problem)
    object.__setattr__(other, "__class__", Misbehaving)
    return other


def faults(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """Evaluations that raise, that are killed, and that hang; each is the fourth of a worker."""

    def fail(call: int) -> None:
        if call == 4:
            raise RuntimeError("the motor caught fire")

    def die(call: int) -> None:
        if call == 4:
            os.kill(os.getpid(), signal.SIGKILL)

    def hang(call: int) -> None:
        if call == 4:
            time.sleep(3600)

    found = {}
    cases: dict[str, tuple[Callable[[int], None], dict[str, Any]]] = {
        "raises": (fail, {}),
        "killed": (die, {"workers": 2}),
        "hangs": (hang, {"workers": 2, "timeout": 2.0}),
    }
    for name, (how, options) in cases.items():
        result = boirl.explore(misbehaving(problem, how), 12, **QUICK, **options)
        attempts = sum(len(one.facts.get("faults", [])) for one in result.evaluations)
        completed = int(np.isfinite(result.nll).sum())
        found[name] = {"completed": completed, "of": 12, "attempts_that_failed": attempts}
    return found


def interruptions(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """SIGTERM to `boirl run` in memory, with and without `--out`: what is kept?"""
    found = {}
    for name, options in {"in memory": [], "--out": ["--out", str(folder / "out")]}.items():
        command = [sys.executable, "-c", "from boirl.cli import main; main()", "run", "gridworld"]
        environment = {
            **os.environ,
            "PYTHONPATH": rig.path_of_source(),
            "BOIRL_CACHE": str(folder / "cache"),
        }
        process = subprocess.Popen(
            [*command, "--evaluations", "5000", *options],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(30.0)
        process.send_signal(signal.SIGTERM)
        said = process.communicate()[1]
        where = next((part for part in said.split() if part.startswith("sqlite:///")), "")
        kept = len(boirl.Study(problem, storage=where.rstrip(";"), seed=0).trials) if where else 0
        found[name] = {
            "exit_code": process.returncode,
            "evaluations_kept": kept,
            "says_how_to_resume": "resume with: boirl run" in said,
        }
    return found


def absurd(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """One NLL of 1e200, and a trial without parameters: is there another proposal?"""
    study = boirl.Study(problem, storage=f"sqlite:///{folder}/absurd.db", seed=1)
    study.run(3)
    study.tell(study.ask(), 1e200)
    study.optuna_study._storage.create_new_trial(study.optuna_study._study_id)
    try:
        study.run(6)
    except BoirlError as error:
        return {"asks": f"failed: {error}"}
    return {"asks": "worked", "best_nll": study.result().best_nll}


def damage(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """A file that is no database, one that is cut off, and one that somebody keeps locked."""
    boirl.Study(problem, storage=f"sqlite:///{folder}/whole.db", **QUICK).run(3)
    content = (folder / "whole.db").read_bytes()
    (folder / "text.db").write_text("not a database " * 100)
    (folder / "cut.db").write_bytes(content[: len(content) // 2])
    shutil.copy(folder / "whole.db", folder / "locked.db")
    holder = sqlite3.connect(folder / "locked.db")
    holder.execute("BEGIN EXCLUSIVE")
    storage_module.BUSY_SECONDS, storage_module.CREATION_PATIENCE = 1.0, 3.0
    found = {}
    for name in ("text", "cut", "locked"):
        try:
            boirl.Study(problem, storage=f"sqlite:///{folder}/{name}.db", **QUICK).run(4)
            found[name] = "worked"
        except BoirlError as error:
            found[name] = str(error).replace(str(folder), "FOLDER")
    holder.close()
    return found


BEFORE = {
    "shared_file": "5 of 32 processes died",
    "creation": "2 at once: 7 of 20 died; 4 at once: 23 of 40",
    "abandoned": "taken by 3 or 4 of the 4 processes in 7 of 10 drills",
    "containers": "a process lost in 4 of 5 drills",
    "change_of_host": "the evaluation stayed RUNNING for ever",
    "faults": "the run ended, and the next one took up the same theta; a hanging worker was waited "
    "for without limit",
    "interruptions": "everything was lost, without a message",
    "absurd": "every later ask failed",
    "damage": "one message, which blamed the disk",
}


def main() -> None:
    parser = rig.arguments(__doc__)
    parser.add_argument("--only", nargs="*", default=list(BEFORE), choices=list(BEFORE))
    parser.add_argument("--repeats", type=int, default=8)
    given = parser.parse_args()
    chosen = ["creation", "abandoned", "faults", "absurd"] if given.tiny else given.only
    repeats = 1 if given.tiny else given.repeats
    problem = boirl.load_problem("gridworld")
    found = {}
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            drill: Callable[..., dict[str, Any]] = partial(globals()[name], problem, Path(folder))
            after = drill(1 if name == "containers" and given.tiny else repeats)
            seconds = round(time.monotonic() - began, 1)
            found[name] = {"before": BEFORE[name], "after": after, "seconds": seconds}
    rig.write(given.out, "drill_table", found)


if __name__ == "__main__":
    main()
