"""Runs tasks in worker processes so that a task that crashes, hangs or eats memory costs only itself.

pebble's pool is a `concurrent.futures` executor that restarts a dead worker and fails just its task; another executor
with the same `submit` (a cluster's, say) can take its place.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

import pebble

TASK_SECONDS = 300.0
"""A task that runs longer is stopped; TVM's slowest unit takes a fiftieth of that."""
WORKER_BYTES = 8 << 30
"""Address space of a worker, 0.5 GiB of it reserved stack: a runaway parse fails instead of taking the machine down."""


@dataclass(frozen=True)
class Task:
    """`run(*arguments)` in a worker; `label` is for progress, `paths` are the files that fail with it."""

    label: str
    run: Callable[..., Any]
    arguments: tuple[Any, ...]
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """Why a task has no result; `crashed`: its process died or was stopped, so that another way may succeed."""

    words: str
    crashed: bool


class Workers:
    """A pool of `jobs` processes, each task limited to `seconds` and each process to `memory` bytes of address space.

    Use as a context manager: leaving it stops what still runs.
    """

    def __init__(
        self,
        jobs: int,
        initialize: Callable[..., None],
        arguments: tuple[Any, ...],
        seconds: float = TASK_SECONDS,
        memory: int = WORKER_BYTES,
    ) -> None:
        self._pool = pebble.ProcessPool(
            max_workers=jobs,
            initializer=_start,
            initargs=(memory, initialize, arguments),
            context=multiprocessing.get_context("spawn"),
        )
        self._seconds = seconds
        self._pending: dict[Future[Any], Task] = {}
        self.done = 0
        self.total = 0

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None or self._pending:
            self._pool.stop()  # type: ignore[no-untyped-call]  # pebble 5.2 leaves them untyped
        else:
            self._pool.close()  # type: ignore[no-untyped-call]
        self._pool.join()

    def submit(self, tasks: Iterable[Task]) -> None:
        """Queue tasks; they start in order."""
        for task in tasks:
            self._pending[self._pool.submit(task.run, self._seconds, *task.arguments)] = task
            self.total += 1

    def finished(self, seconds: float) -> list[tuple[Task, Any, Failure | None]]:
        """(task, result, None) or (task, None, failure) of each task that ends within `seconds` (at least one unless
        time runs out); [] when none is pending."""
        if not self._pending:
            return []
        ready, _ = wait(self._pending, timeout=seconds, return_when=FIRST_COMPLETED)
        results = []
        for future in ready:
            task = self._pending.pop(future)
            self.done += 1
            results.append((task, *self._outcome(future)))
        return results

    @property
    def busy(self) -> bool:
        """Whether tasks are queued or running."""
        return bool(self._pending)

    def _outcome(self, future: Future[Any]) -> tuple[Any, Failure | None]:
        try:
            return future.result(), None
        except TimeoutError:
            return None, Failure(f"stopped after {self._seconds:.0f} s", True)
        except pebble.ProcessExpired as error:
            return None, Failure(f"the worker process died ({_exit_words(error.exitcode)})", True)
        except MemoryError:
            return None, Failure("out of memory", True)
        except Exception as error:  # noqa: BLE001  # a defect of ours in one file must not cost the others
            return None, Failure(f"internal error: {type(error).__name__}: {error}", False)


def _exit_words(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _start(memory: int, initialize: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    allowed = memory if most == resource.RLIM_INFINITY else min(memory, most)  # `ulimit -v` may have set less
    resource.setrlimit(resource.RLIMIT_AS, (allowed, most))
    initialize(*arguments)
