"""Running cells: those that are not there yet, several at a time, each kept as it finishes."""

from __future__ import annotations

import time
from collections.abc import Sequence

from boirl.errors import BoirlError
from boirl.experiments.trials import OnTrial, quiet
from boirl.problem.workers import Job, Result, run_jobs
from boirl.reproduction.store import Cell, Store, Tables
from boirl.types import Report, silent

Outcome = tuple[Tables, float]


def run_cells(
    store: Store, cells: Sequence[Cell], workers: int = 1, on_cell: OnTrial = quiet
) -> None:
    """Run the cells that a store does not hold yet.

    An interrupt loses what is in flight alone. A cell that fails does not keep others from running.

    Args:
        store: Where rows are kept.
        cells: What is wanted; one that is named twice is run once.
        workers: Processes at a time. With one, cells that train policies spread their training
            over all cores instead.
        on_cell: Called with how many cells are done, and how many there are.

    Raises:
        BoirlError: Some cells failed; it names them.
    """
    wanted = {tuple(cell.record.values()): cell for cell in cells}
    waiting = [cell for cell in wanted.values() if not store.has(cell)]
    done = len(wanted) - len(waiting)
    on_cell(done, len(wanted))
    failures: list[str] = []

    def keep(number: int, result: Result[Outcome]) -> None:
        nonlocal done
        if result.value is None:
            failures.append(f"{waiting[number].name} ({result.failure})")
            return
        store.add(waiting[number], *result.value)
        done += 1
        on_cell(done, len(wanted))

    run_jobs([_job(cell) for cell in waiting], silent, workers if workers > 1 else 0, keep)
    if failures:
        raise BoirlError(
            f"{len(failures)} of {len(wanted)} cells failed, the others are kept: "
            + "; ".join(failures)
        )


def _job(cell: Cell) -> Job[Outcome]:
    def run(report: Report) -> Outcome:
        began = time.perf_counter()
        tables = cell.run()
        return tables, time.perf_counter() - began

    return run
