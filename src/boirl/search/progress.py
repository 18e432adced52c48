"""What a person sees while a search runs."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


class SearchProgress:
    """A bar with what is done, the best NLL and the time left; silent when disabled.

    A second bar shows how far an evaluation is that says so.
    """

    def __init__(self, total: int, enabled: bool, what: str = "evaluations") -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TextColumn("{task.fields[message]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not enabled,
        )
        self._total = total
        self._search = self._progress.add_task(
            what, total=total, count=f"0/{total}", message="best NLL -"
        )
        self._inner = self._progress.add_task(
            "evaluation", total=1.0, count="", message="", visible=False
        )
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
        self._progress.update(self._inner, visible=False)
        self._progress.stop()

    def begin(self, number: int) -> None:
        """An evaluation starts."""
        self._progress.reset(
            self._inner, description=f"  number {number}", count="", message="", visible=False
        )

    def report(self, share: float, message: str) -> None:
        """How far the evaluation is."""
        self._progress.update(self._inner, completed=share, message=message, visible=True)

    def advance(self, nll: float | None, resumed: bool = False) -> None:
        """One evaluation more; `nll` is None where it failed. Resumed ones took no time now."""
        if nll is not None and (self._best is None or nll < self._best):
            self._best = nll
        self._done += 1
        count = f"{self._done}/{self._total}"
        message = "best NLL " + ("-" if self._best is None else f"{self._best:.4f}")
        if resumed:
            self._progress.reset(self._search, completed=self._done, count=count, message=message)
        else:
            self._progress.update(self._search, advance=1, count=count, message=message)
