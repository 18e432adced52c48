"""What a person sees while a search runs."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class SearchProgress:
    """A bar with the evaluations done, the best NLL and the time left; silent when disabled."""

    def __init__(self, total: int, enabled: bool) -> None:
        self._progress = Progress(
            TextColumn("evaluations"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("best NLL {task.fields[best]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not enabled,
        )
        self._task = self._progress.add_task("search", total=total, best="-")
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
        self._progress.stop()

    def advance(self, nll: float | None, resumed: bool = False) -> None:
        """One evaluation more; `nll` is None where it failed. Resumed ones took no time now."""
        if nll is not None and (self._best is None or nll < self._best):
            self._best = nll
        best = "-" if self._best is None else f"{self._best:.4f}"
        if resumed:
            done = self._progress.tasks[0].completed + 1
            self._progress.reset(self._task, completed=int(done), best=best)
        else:
            self._progress.update(self._task, advance=1, best=best)
