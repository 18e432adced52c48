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

    Faster for the small matrices of this package, and the same sums on every machine. With the
    default, a search of a recursive logit spends most of its time in threads that wait for each
    other; `benchmarks/roads_speed.py` measures it.
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
