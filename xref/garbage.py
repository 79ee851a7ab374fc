"""Where Python looks for garbage, and where that would cost more than it finds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OBJECTS_A_COLLECTION = 50_000
"""New objects between two searches. A walk of a file, or a page, makes some ten thousand that live to its end: Python's
700 cost a tenth of it."""


@contextmanager
def paused_collection() -> Iterator[None]:
    """No search while millions of objects are made that all stay: on TVM it takes a tenth to a half of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def collect_seldom() -> None:
    """For the rest of this process; what there is now is taken to live as long. Ends a pause, too."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(_OBJECTS_A_COLLECTION)
