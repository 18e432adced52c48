"""What a person sees while a search runs."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from boirl.search.notebook_progress import NotebookBar, in_notebook


class SearchProgress:
    """A bar with what is done, the best NLL and the time left; silent when disabled.

    Below it, a line for each evaluation that runs on a worker, or that says how far it is.
    """

    def __init__(self, total: int, enabled: bool, what: str = "evaluations") -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TextColumn("{task.fields[message]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            # Older versions of Rich end a disabled bar with a line.
            console=Console(stderr=True, quiet=not enabled or in_notebook()),
            disable=not enabled or in_notebook(),
        )
        self._notebook = NotebookBar(total, what) if enabled and in_notebook() else None
        self._total = total
        self._search = self._progress.add_task(
            what, total=total, count=f"0/{total}", message="best NLL -"
        )
        self._lines: dict[int, TaskID] = {}
        self._latest: int = 0
        self._done = 0
        self._best: float | None = None

    def __enter__(self) -> SearchProgress:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number in list(self._lines):
            self.end(number)
        self._progress.stop()

    def begin(self, number: int, worker: str | None = None) -> None:
        """An evaluation starts, on a worker; without one it is shown once it says how far it is."""
        self.end(self._latest if worker is None else number)
        self._latest = number
        self._lines[number] = self._progress.add_task(
            f"  number {number}",
            total=1.0,
            count=worker or "",
            message="",
            visible=worker is not None,
        )

    def report(self, share: float, message: str) -> None:
        """How far the evaluation is that started last."""
        if self._latest not in self._lines:
            self.begin(self._latest)
        self.report_of(self._latest, share, message)

    def report_of(self, number: int, share: float, message: str) -> None:
        """How far an evaluation is."""
        if number in self._lines:
            self._progress.update(
                self._lines[number], completed=share, message=message, visible=True
            )
            self._show(share, message)

    def end(self, number: int) -> None:
        """An evaluation has ended."""
        if number in self._lines:
            self._progress.remove_task(self._lines.pop(number))

    def advance(self, nll: float | None, resumed: bool = False) -> None:
        """One evaluation more; `nll` is None where it failed. Resumed ones took no time now."""
        if nll is not None and (self._best is None or nll < self._best):
            self._best = nll
        self._done += 1
        count = f"{self._done}/{self._total}"
        message = self._message()
        if resumed:
            self._progress.reset(self._search, completed=self._done, count=count, message=message)
        else:
            self._progress.update(self._search, advance=1, count=count, message=message)
        self._show()

    def _message(self) -> str:
        return "best NLL " + ("-" if self._best is None else f"{self._best:.4f}")

    def _show(self, share: float = 0.0, inner: str = "") -> None:
        if self._notebook is not None:
            self._notebook.show(self._done, self._message(), share, inner)
