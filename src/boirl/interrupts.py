"""Ctrl-C that cannot get lost, and Ctrl-C that waits for the end of a step.

Python delivers an interrupt as an exception at whatever line happens to run. Where that line is in
a callback from C or in a finaliser, the exception is printed or dropped, and the program goes on.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def remembered_interrupts() -> Iterator[Callable[[], None]]:
    """Yields a function that raises `KeyboardInterrupt` if one was delivered inside and lost.

    Outside the main thread, and where somebody has switched Ctrl-C off, nothing is done.
    """
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield lambda: None
        return
    pressed = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        pressed.set()
        previous(number, frame)

    def check() -> None:
        if pressed.is_set():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handle)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether Ctrl-C was pressed, which interrupts nothing by itself.

    For work in steps that must not stop halfway. Pressed twice, it does stop at once. Outside the
    main thread, and where somebody has switched Ctrl-C off, nothing is done.
    """
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield lambda: False
        return
    pressed = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            previous(number, frame)
        pressed.set()

    signal.signal(signal.SIGINT, handle)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, previous)
