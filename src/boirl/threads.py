"""How many threads the numerical libraries work on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from threadpoolctl import ThreadpoolController


@contextmanager
def single_thread() -> Iterator[None]:
    """Run torch, BLAS and OpenMP on one thread, and restore their numbers of threads afterwards.

    The matrices of this package are small: where cores are shared, threads mostly wait for each
    other, and on idle cores they gain next to nothing (`benchmarks/roads_speed.py` measures a
    search both ways). Sums are the same on every machine.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with _controller().limit(limits=1):
            yield
    finally:
        torch.set_num_threads(threads)


@cache
def _controller() -> ThreadpoolController:
    """Finding the libraries takes milliseconds, so it is done once."""
    return ThreadpoolController()
