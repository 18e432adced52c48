"""The progress of a search in a notebook: one line that is rewritten."""

from __future__ import annotations

from html import escape
from typing import Any


def in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class NotebookBar:
    """A bar in the output of a cell.

    Rich draws bars in notebooks only where ipywidgets is installed; this needs nothing.
    """

    def __init__(self, total: int, what: str) -> None:
        self._total = total
        self._what = what
        self._handle: Any = None

    def show(self, done: int, message: str, share: float = 0.0, inner: str = "") -> None:
        """Write the line.

        Args:
            done: Evaluations.
            message: About all of them.
            share: Of the one that runs.
            inner: About that one.
        """
        from IPython.display import HTML, display

        note = f" ({share:.0%}: {inner})" if inner else ""
        text = escape(f"{self._what} {done}/{self._total}, {message}{note}")
        line = HTML(f"<progress value='{done + share}' max='{self._total}'></progress> {text}")
        if self._handle is None:
            self._handle = display(line, display_id=True)
        else:
            self._handle.update(line)
