"""Runs tasks in worker processes so that a task that crashes, hangs or eats memory costs only itself.

Each process has a pipe of its own and one task at a time. A shared queue with locks, as the pools of the standard
library and of pebble have, can lose a task or the whole pool to a process that is killed at the wrong moment.
Anything else with `submit`, `finished` and `busy` (in front of a cluster, say) can take the place of `Workers`.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
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
from pathlib import Path
from typing import Any

TASK_SECONDS = 300.0
"""A task that runs longer is stopped; TVM's slowest unit takes a fiftieth of that."""
_RESERVED_BYTES = 3 << 28
"""Address space that a worker takes without using it: two thirds are the stack of xref.cpp.unit, the rest libraries."""
_LEAST_BYTES, _MOST_BYTES = 2 << 30, 4 << 30
"""Of a worker's limit, twice and four times what the largest process takes on TVM's main, 0.9 GiB."""
_GRACE_SECONDS = 5.0
"""What an idle process gets to end by itself."""


_PR_SET_PDEATHSIG = 1
"""prctl(2)."""
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Linux's control groups, versions 2 and 1 (kernel documentation, admin-guide)."""
_OUT_OF_MEMORY = re.compile(rb"out of memory|bad_alloc|MemoryError|[Cc]annot allocate memory")
"""What libraries print before they abort for want of memory: LLVM ("LLVM ERROR: out of memory"), libstdc++, Python."""
_LAST_WORDS_BYTES = 1 << 16
_INTERRUPTIONS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@dataclass(frozen=True)
class Task:
    """`run(*arguments)` in a worker; `label` is for progress, `paths` are the files that fail with it. `cpu_seconds`:
    after so much computing it is stopped, however busy the machine is; 0 for no such limit."""

    label: str
    run: Callable[..., Any]
    arguments: tuple[Any, ...]
    paths: tuple[str, ...]
    cpu_seconds: float = 0.0


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
    """`jobs` processes, each task limited to `seconds`, each process to `memory` bytes (default: `share_of_memory`).

    Use as a context manager, from the main thread: leaving it stops what still runs. `fork`: on Linux the processes are
    copies of this one, with all that it has imported and read (elsewhere what `arguments` need is sent to them).
    """

    def __init__(
        self,
        jobs: int,
        initialize: Callable[..., None],
        arguments: tuple[Any, ...],
        seconds: float = TASK_SECONDS,
        memory: int | None = None,
        *,
        fork: bool = False,
    ) -> None:
        self._jobs = jobs
        self._method = "fork" if fork and sys.platform == "linux" else "spawn"
        self._start_arguments = (memory or share_of_memory(jobs), initialize, arguments)
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
            return worker.task, None, Failure(worker.end(_GRACE_SECONDS), True)
        self._idle.append(worker)
        return worker.task, result, failure


def share_of_memory(jobs: int) -> int:
    """Bytes that each of `jobs` processes may take beside the one that feeds them, so that one runaway parse fails
    before the machine swaps, or the system ends processes at will: between 2 and 4 GiB."""
    return min(max(_machine_memory() // (jobs + 1), _LEAST_BYTES), _MOST_BYTES)


def _machine_memory() -> int:
    """Bytes of memory of this machine, or of the container that this is; a large number where the system does not
    say."""
    found = []
    with suppress(OSError, ValueError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in _CONTAINER_LIMITS:
        with suppress(OSError, ValueError):  # "max": none
            found.append(int(Path(name).read_text("ascii")))
    return min((size for size in found if size > 0), default=1 << 60)


class _Worker:
    """One process and the pipe to it. `task` is what it was given last, at `started` (monotonic seconds)."""

    task: Task
    started: float

    def __init__(self, method: str, arguments: tuple[Any, ...]) -> None:
        context: Any = multiprocessing.get_context(method)
        self._memory: int = arguments[0]
        self.pipe, theirs = context.Pipe()
        self._errors, printed = context.Pipe(duplex=False)
        self._process = context.Process(target=_serve, args=(theirs, printed, os.getpid(), *arguments), daemon=True)
        # Ctrl-C is the parent's to handle, also while the new process is still importing; and a parent that is
        # interrupted halfway would leave a process that complains of the half it got
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTIONS)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        theirs.close()
        printed.close()

    def give(self, task: Task) -> bool:
        """Start the task; False when the process is gone."""
        self._printed()  # of the task before
        self.task, self.started = task, time.monotonic()
        try:
            self.pipe.send((task.run, task.arguments, task.cpu_seconds))
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def dismiss(self) -> None:
        """Let an idle process end: it is told, since copies of our end of its pipe may be open in those made later."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(None)
        self.pipe.close()

    def end(self, seconds: float) -> str:
        """Wait for the process to end, by force after `seconds`; why it ended in words."""
        self._process.join(seconds)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        words = f"the worker process died ({_exit_words(self._process.exitcode)})"
        if self._process.exitcode == -signal.SIGPROF:
            words = f"stopped after {self.task.cpu_seconds:.0f} s of computing"
        if _OUT_OF_MEMORY.search(self._printed()):
            words = out_of_memory(self._memory)
        self.pipe.close()
        self._errors.close()
        return words

    def _printed(self) -> bytes:
        """What the process has printed since it was asked last, as far as it fits into a pipe."""
        if self._errors.closed:
            return b""
        os.set_blocking(self._errors.fileno(), False)
        with suppress(OSError):  # nothing
            return os.read(self._errors.fileno(), _LAST_WORDS_BYTES)
        return b""

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


def out_of_memory(limit: int) -> str:
    """What to tell the user when a process would have taken more than `limit` bytes."""
    return f"out of memory: more than {limit / (1 << 30):.1f} GiB; fewer --jobs, or more memory, allow more"


def _serve(
    pipe: connection.Connection,
    errors: connection.Connection,
    parent: int,
    memory: int,
    initialize: Callable[..., None],
    arguments: tuple[Any, ...],
) -> None:
    """The life of a worker process: it ends when the other end of its pipe is closed, or its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # in a copy of a process that has handlers of its own
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTIONS)
    _end_with_parent(parent)
    os.set_blocking(errors.fileno(), False)  # a library that prints a lot must not wait for a reader
    os.dup2(errors.fileno(), 2)  # what a dying library prints says whether it died for want of memory
    memory = _limit_memory(memory)
    _, unusable = _attempt(initialize, arguments, memory)
    with suppress(EOFError, OSError):
        while (given := pipe.recv()) is not None:
            run, values, cpu_seconds = given
            signal.setitimer(signal.ITIMER_PROF, cpu_seconds)  # SIGPROF ends the process, whatever a library is at
            answer = (None, unusable) if unusable else _attempt(run, values, memory)
            signal.setitimer(signal.ITIMER_PROF, 0)
            data, unsendable = _attempt(ForkingPickler.dumps, (answer,), memory)
            pipe.send_bytes(ForkingPickler.dumps((None, unsendable)) if unsendable else data)


def _limit_memory(memory: int) -> int:
    """Limit what this process may take to `memory` bytes, or to what the user has set (`ulimit -v`); returns it.

    By address space, the one measure that every system enforces: what it holds already, a copied parent's included, and
    what it reserves without using it come on top.
    """
    held = 0
    with suppress(OSError):  # Linux only
        held = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    allowed = held + _RESERVED_BYTES + memory
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY and most < allowed:
        memory = max(memory - (allowed - most), 0)
        allowed = most
    resource.setrlimit(resource.RLIMIT_AS, (allowed, most))
    return memory


def _end_with_parent(parent: int) -> None:
    """Have the kernel end this process when its parent, the process `parent`, dies in the middle of our task.

    A closed pipe is noticed only between two tasks, and a parse that never ends has no next one. Linux only; elsewhere
    the limit of memory and the end of the task remain.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before it could be asked for
            os.kill(os.getpid(), signal.SIGKILL)


def _attempt(run: Callable[..., Any], arguments: tuple[Any, ...], memory: int) -> tuple[Any, Failure | None]:
    try:
        return run(*arguments), None
    except MemoryError:
        return None, Failure(out_of_memory(memory), True)
    except OSError as error:
        return None, Failure(f"internal error: {type(error).__name__}: {error}", False, error.errno or 0)
    except Exception as error:  # noqa: BLE001  # a defect of ours in one file must not cost the others
        return None, Failure(f"internal error: {type(error).__name__}: {error}", False)
