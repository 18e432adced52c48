"""Ctrl-C that cannot get lost, and Ctrl-C that waits for the end of a step; SIGTERM likewise.

Python delivers an interrupt as an exception at whatever line happens to run. Where that line is in
a callback from C or in a finaliser, the exception is printed or dropped, and the program goes on.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

ENDING_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Terminated(KeyboardInterrupt):
    """The process was asked to end, by the system or by whoever runs the machine.

    Treated as Ctrl-C is: everything that is under way is put in order.
    """


@contextmanager
def remembered_interrupts() -> Iterator[Callable[[], None]]:
    """Yields a function that raises `KeyboardInterrupt` if one was delivered inside and lost.

    Inside, signals that would end the process at once (SIGTERM, and SIGHUP of a terminal that is
    closed) raise `Terminated`. Outside the main thread, and where somebody has switched a signal
    off, nothing is done.
    """
    delivered: list[type[KeyboardInterrupt]] = []

    def check() -> None:
        if delivered:
            raise delivered[-1]

    def remember(kind: type[KeyboardInterrupt]) -> bool:
        delivered.append(kind)
        return True

    with _handled(remember):
        yield check


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether Ctrl-C was pressed, which interrupts nothing by itself.

    For work in steps that must not stop halfway. Pressed twice, it does stop at once. Outside the
    main thread, and where somebody has switched Ctrl-C off, nothing is done.
    """
    pressed = threading.Event()

    def defer(kind: type[KeyboardInterrupt]) -> bool:
        again = pressed.is_set()
        pressed.set()
        return again

    with _handled(defer):
        yield pressed.is_set


@contextmanager
def _handled(notice: Callable[[type[KeyboardInterrupt]], bool]) -> Iterator[None]:
    """Tell a function of every signal that asks to end; where it returns True, they are raised."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        kind = KeyboardInterrupt if number == signal.SIGINT else Terminated
        if notice(kind):
            if callable(previous[number]):
                previous[number](number, frame)
            raise kind

    previous: dict[int, Any] = {}
    for one in ENDING_SIGNALS:
        before = signal.getsignal(one)
        if callable(before) or (before == signal.SIG_DFL and one != signal.SIGINT):
            previous[one] = before
            signal.signal(one, handle)
    try:
        yield
    finally:
        for one, before in previous.items():
            signal.signal(one, before)
