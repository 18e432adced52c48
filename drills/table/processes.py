"""Processes that share a study: all at once, one after the other, and in containers.

Hosts are simulated by namespaces where the system allows it.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import boirl
from boirl.errors import BoirlWarning
from boirl.search.leases import LEASE
from boirl.search.sampler import search_space
from drills import rig

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
        options: dict[str, Any] = {"storage": storage, "seed": 1, "kernel": "rbf"}
        codes = in_processes(partial(boirl.explore, problem, 12, **options), 4)
        died += sum(code != 0 for code in codes)
        checked = rig.check_study(problem, boirl.Study(problem, **options))
        wrong += checked["completed"] != 12 or checked["different_thetas"] != 12
    return {
        "processes": 4 * repeats,
        "died": died,
        "studies_with_errors": int(wrong),
        "clean": not died and not wrong,
    }


def creation(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """Two and four processes create a new study at the same time."""
    found: dict[str, Any] = {}
    for n in (2, 4):
        died = 0
        for number in range(repeats):
            storage = f"sqlite:///{folder}/new{n}-{number}.db"
            codes = in_processes(partial(boirl.Study, problem, storage=storage, **QUICK), n)
            died += sum(code != 0 for code in codes)
        found[f"{n} at once"] = {"processes": n * repeats, "died": died}
    return {**found, "clean": not any(one["died"] for one in found.values())}


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
    wrong = sum(n != 1 for n in taken)
    return {"drills": repeats, "taken_by_more_or_fewer_than_one": wrong, "clean": not wrong}


def in_container(storage: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A search at random in a namespace of processes of its own, as in a container."""
    alone = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
    command = [*alone, "--mount-proc", sys.executable, "-m", "drills.rig", storage, *arguments]
    return subprocess.Popen([*command, "--acquisition", "random"], env=rig.environment())


def containers(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """Two searches in process namespaces of their own, with one hostname, share a file."""
    lost = wrong = 0
    for number in range(repeats):
        storage = f"sqlite:///{folder}/containers{number}.db"
        started = [in_container(storage, "8", "--sleep", "0.1") for _ in range(2)]
        lost += sum(process.wait() != 0 for process in started)
        study = boirl.Study(problem, storage=storage, seed=0, acquisition="random")
        checked = rig.check_study(problem, study)
        wrong += checked["completed"] != 8 or checked["different_thetas"] != 8
    return {
        "drills": repeats,
        "processes_lost": lost,
        "studies_with_errors": int(wrong),
        "clean": not lost and not wrong,
    }


def change_of_host(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """A search is killed and goes on elsewhere: is its evaluation taken over, the same theta?"""
    options: dict[str, Any] = {"seed": 0, "acquisition": "random"}
    expected = boirl.explore(problem, 4, **options).thetas
    storage = f"sqlite:///{folder}/host.db"
    doomed = in_container(storage, "4", "--sleep", "2", "--lease", "6")
    while rig.n_finished(folder / "host.db") < 2:
        time.sleep(0.1)
    # In the middle of the third evaluation.
    time.sleep(1.0)
    rig.kill(doomed)
    again = boirl.Study(problem, storage=storage, **options)
    left = [one.state.name for one in again.optuna_study.trials]
    with warnings.catch_warnings():
        # That the other one may be gone.
        warnings.simplefilter("ignore", BoirlWarning)
        found = again.run(4)
    states = [one.state.name for one in again.optuna_study.trials]
    same = bool(np.array_equal(found.thetas, expected))
    return {
        "states_after_the_kill": left,
        "states_in_the_end": states,
        "same_thetas": same,
        "clean": same and states == ["COMPLETE"] * 4,
    }
