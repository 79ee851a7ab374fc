"""Runs tasks in worker processes so that a task that crashes, hangs or eats memory costs only itself.

Each process has a pipe of its own and one task at a time. A shared queue with locks, as the pools of the standard
library and of pebble have, can lose a task or the whole pool to a process that is killed at the wrong moment.
Anything else with `submit`, `finished` and `busy` (in front of a cluster, say) can take the place of `Workers`.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

TASK_SECONDS = 300.0
"""A task that runs longer is stopped; TVM's slowest unit takes a fiftieth of that."""
WORKER_BYTES = 8 << 30
"""Address space of a worker, 0.5 GiB of it reserved stack: a runaway parse fails instead of taking the machine down."""
_GRACE_SECONDS = 5.0
"""What an idle process gets to end by itself."""


_PR_SET_PDEATHSIG = 1
"""prctl(2)."""
_INTERRUPTIONS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@dataclass(frozen=True)
class Task:
    """`run(*arguments)` in a worker; `label` is for progress, `paths` are the files that fail with it."""

    label: str
    run: Callable[..., Any]
    arguments: tuple[Any, ...]
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """Why a task has no result; `crashed`: its process died or was stopped, so that another way may succeed.

    `errno` is that of an operating system's error that ended it, else 0.
    """

    words: str
    crashed: bool
    errno: int = 0


Outcome = tuple[Task, Any, Failure | None]


class Workers:
    """`jobs` processes, each task limited to `seconds` and each process to `memory` bytes of address space.

    Use as a context manager, from the main thread: leaving it stops what still runs. `fork`: on Linux the processes are
    copies of this one, with all that it has imported and read (elsewhere what `arguments` need is sent to them).
    """

    def __init__(
        self,
        jobs: int,
        initialize: Callable[..., None],
        arguments: tuple[Any, ...],
        seconds: float = TASK_SECONDS,
        memory: int = WORKER_BYTES,
        *,
        fork: bool = False,
    ) -> None:
        self._jobs = jobs
        self._method = "fork" if fork and sys.platform == "linux" else "spawn"
        self._start_arguments = (memory, initialize, arguments)
        self._seconds = seconds
        self._queue: deque[Task] = deque()
        self._idle: list[_Worker] = []
        self._running: dict[connection.Connection, _Worker] = {}
        self.done = 0
        self.total = 0

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        for worker in self._running.values():
            worker.kill()
        for worker in self._idle:
            worker.dismiss()
        for worker in self._idle:
            worker.end(_GRACE_SECONDS)

    def submit(self, tasks: Iterable[Task], *, first: bool = False) -> None:
        """Queue tasks; they start in order, or before all others: a long one that comes last leaves processes idle."""
        added = list(tasks)
        if first:
            self._queue.extendleft(reversed(added))
        else:
            self._queue.extend(added)
        self.total += len(added)
        self._start_waiting()

    def finished(self, seconds: float) -> list[Outcome]:
        """(task, result, None) or (task, None, failure) of each task that ends within `seconds` (at least one unless
        time runs out); [] when none is pending."""
        if not self._running:
            return []
        next_limit = min(worker.started for worker in self._running.values()) + self._seconds
        ready = connection.wait(list(self._running), max(0.0, min(seconds, next_limit - time.monotonic())))
        outcomes = [self._outcome(self._running.pop(pipe)) for pipe in ready]  # type: ignore[call-overload]
        for pipe, worker in list(self._running.items()):
            if time.monotonic() - worker.started > self._seconds:
                del self._running[pipe]
                worker.kill()
                outcomes.append((worker.task, None, Failure(f"stopped after {self._seconds:.0f} s", True)))
        self.done += len(outcomes)
        self._start_waiting()
        return outcomes

    @property
    def busy(self) -> bool:
        """Whether tasks are queued or running."""
        return bool(self._queue or self._running)

    def _start_waiting(self) -> None:
        while self._queue and len(self._running) < self._jobs:
            worker = self._idle.pop() if self._idle else _Worker(self._method, self._start_arguments)
            if worker.give(self._queue[0]):
                self._running[worker.pipe] = worker
                self._queue.popleft()
            else:  # killed while it was idle: nothing is lost
                worker.kill()

    def _outcome(self, worker: _Worker) -> Outcome:
        try:
            result, failure = worker.pipe.recv()
        except (EOFError, OSError):
            return worker.task, None, Failure(f"the worker process died ({worker.end(_GRACE_SECONDS)})", True)
        self._idle.append(worker)
        return worker.task, result, failure


class _Worker:
    """One process and the pipe to it. `task` is what it was given last, at `started` (monotonic seconds)."""

    task: Task
    started: float

    def __init__(self, method: str, arguments: tuple[Any, ...]) -> None:
        context: Any = multiprocessing.get_context(method)
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, os.getpid(), *arguments), daemon=True)
        # Ctrl-C is the parent's to handle, also while the new process is still importing; and a parent that is
        # interrupted halfway would leave a process that complains of the half it got
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTIONS)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        theirs.close()

    def give(self, task: Task) -> bool:
        """Start the task; False when the process is gone."""
        self.task, self.started = task, time.monotonic()
        try:
            self.pipe.send((task.run, task.arguments))
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def dismiss(self) -> None:
        """Let an idle process end: it is told, since copies of our end of its pipe may be open in those made later."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(None)
        self.pipe.close()

    def end(self, seconds: float) -> str:
        """Wait for the process to end, by force after `seconds`; its exit in words."""
        self._process.join(seconds)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        self.pipe.close()
        return _exit_words(self._process.exitcode)

    def kill(self) -> None:
        """Stop the process now."""
        self._process.kill()
        self.end(_GRACE_SECONDS)


def _exit_words(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _serve(
    pipe: connection.Connection, parent: int, memory: int, initialize: Callable[..., None], arguments: tuple[Any, ...]
) -> None:
    """The life of a worker process: it ends when the other end of its pipe is closed, or its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # in a copy of a process that has handlers of its own
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTIONS)
    _end_with_parent(parent)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what a dying library prints; how it ended is told by the pipe
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    allowed = memory if most == resource.RLIM_INFINITY else min(memory, most)  # `ulimit -v` may have set less
    resource.setrlimit(resource.RLIMIT_AS, (allowed, most))
    _, unusable = _attempt(initialize, arguments)
    with suppress(EOFError, OSError):
        while (given := pipe.recv()) is not None:
            run, values = given
            answer = (None, unusable) if unusable else _attempt(run, values)
            data, unsendable = _attempt(ForkingPickler.dumps, (answer,))
            pipe.send_bytes(ForkingPickler.dumps((None, unsendable)) if unsendable else data)


def _end_with_parent(parent: int) -> None:
    """Have the kernel end this process when its parent, the process `parent`, dies in the middle of our task.

    A closed pipe is noticed only between two tasks, and a parse that never ends has no next one. Linux only; elsewhere
    `WORKER_BYTES` and the end of the task remain.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before it could be asked for
            os.kill(os.getpid(), signal.SIGKILL)


def _attempt(run: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Failure | None]:
    try:
        return run(*arguments), None
    except MemoryError:
        return None, Failure("out of memory", True)
    except OSError as error:
        return None, Failure(f"internal error: {type(error).__name__}: {error}", False, error.errno or 0)
    except Exception as error:  # noqa: BLE001  # a defect of ours in one file must not cost the others
        return None, Failure(f"internal error: {type(error).__name__}: {error}", False)
