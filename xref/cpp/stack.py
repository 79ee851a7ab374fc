"""Threads with stacks deep enough for a walk: libclang's visitor and Python take several frames per nested call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Result = TypeVar("_Result")


def start_thread(stack_bytes: int) -> ThreadPoolExecutor:
    """A running thread with that much (virtual memory for its) stack; give it work by `submit`."""
    before = threading.stack_size(stack_bytes)
    try:
        thread = ThreadPoolExecutor(1)
        thread.submit(int).result()  # a pool starts its thread with the first task
    finally:
        threading.stack_size(before)
    return thread


def run_on_thread(work: Callable[[], _Result], stack_bytes: int) -> _Result:
    """The result of `work`, run on a thread of its own. Its exceptions propagate."""
    with start_thread(stack_bytes) as thread:
        return thread.submit(work).result()
