"""One task that crashes, hangs or eats memory costs itself only, and is reported in words that a user understands."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from xref import workers as workers_module
from xref.workers import Failure, Task, Workers, out_of_memory, share_of_memory

_greeting: list[str] = []


def _initialize(word: str) -> None:
    _greeting.append(word)


def _greet(name: str) -> str:
    return f"{_greeting[0]} {name}"


def _square(x: int) -> int:
    return x * x


def _raise(words: str) -> None:
    raise ValueError(words)


def _kill_self(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(60)


def _exit(code: int) -> None:
    os._exit(code)


def _sleep(seconds: float) -> None:
    time.sleep(seconds)


def _eat(size: int) -> int:
    return len(bytearray(size))


def _interrupt() -> str:
    os.kill(os.getpid(), signal.SIGINT)
    return "still here"


def _unpicklable() -> Callable[[], None]:
    return lambda: None


def _broken(word: str) -> None:
    raise OSError(f"no {word} here")


def _compute() -> None:
    while True:
        pass


def _limit() -> int:
    return resource.getrlimit(resource.RLIMIT_AS)[0]


def _task(run: Callable[..., Any], *arguments: Any) -> Task:
    return Task(f"{run.__name__}{arguments}", run, arguments, (run.__name__,))


def _run(tasks: list[Task], jobs: int = 1, **limits: Any) -> dict[str, tuple[Any, Failure | None]]:
    found = {}
    with Workers(jobs, _initialize, ("hello",), **limits) as workers:
        workers.submit(tasks)
        while workers.busy:
            for task, result, problem in workers.finished(0.2):
                found[task.label] = (result, problem)
        assert (workers.done, workers.total) == (len(tasks), len(tasks))
        assert workers.finished(0.1) == []
    return found


def test_tasks_run_in_initialised_processes() -> None:
    tasks = [_task(_greet, name) for name in "abc"]
    found = _run(tasks, jobs=2)
    assert [found[task.label] for task in tasks] == [("hello a", None), ("hello b", None), ("hello c", None)]


def test_a_bad_task_costs_only_itself() -> None:
    """One process, so that the task after a crash needs a new one."""
    bad = [_task(_raise, "odd input"), _task(_kill_self, signal.SIGKILL), _task(_exit, 3), _task(_unpicklable)]
    good = [_task(_square, i) for i in range(4)]
    found = _run([task for pair in zip(bad, good, strict=True) for task in pair])
    assert [found[task.label] for task in good] == [(0, None), (1, None), (4, None), (9, None)]
    problems = [found[task.label][1] for task in bad]
    assert problems[:3] == [
        Failure("internal error: ValueError: odd input", False),
        Failure("the worker process died (SIGKILL)", True),
        Failure("the worker process died (exit code 3)", True),
    ]
    assert problems[3] is not None
    assert "lambda" in problems[3].words


def test_processes_that_die_at_once_are_noticed_at_once() -> None:
    """A pool that learns of a task's start by message may miss that it ended, and wait for the time limit."""
    started = time.monotonic()
    with Workers(2, _initialize, ("x",), seconds=60) as workers:
        workers.submit(_task(_exit, i) for i in range(12))
        found = []
        while workers.busy:
            found += workers.finished(1)
    words = sorted(problem.words for _, _, problem in found if problem)
    assert words == sorted(f"the worker process died (exit code {i})" for i in range(12))
    assert time.monotonic() - started < 40


def test_a_process_that_is_killed_while_idle_costs_nothing() -> None:
    """The system that runs out of memory picks any process."""
    with Workers(1, _initialize, ("hello",)) as workers:
        workers.submit([_task(os.getpid)])
        ((_, pid, _),) = workers.finished(60)
        os.kill(pid, signal.SIGKILL)
        while Path(f"/proc/{pid}").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
            time.sleep(0.01)
        task = _task(_greet, "again")
        workers.submit([task])
        assert workers.finished(60) == [(task, "hello again", None)]


def test_workers_that_cannot_be_initialised_say_why() -> None:
    with Workers(1, _broken, ("luck",)) as workers:
        task = _task(_square, 1)
        workers.submit([task])
        assert workers.finished(60) == [(task, None, Failure("internal error: OSError: no luck here", False))]


def test_a_task_that_hangs_is_stopped() -> None:
    slow, quick = _task(_sleep, 60), _task(_square, 3)
    started = time.monotonic()
    assert _run([slow, quick], seconds=5) == {  # a busy machine takes a while to start the second process
        slow.label: (None, Failure("stopped after 5 s", True)),
        quick.label: (9, None),
    }
    assert time.monotonic() - started < 40


def test_a_task_that_computes_without_end_is_stopped_long_before_one_that_waits_for_a_busy_machine() -> None:
    endless, patient = replace(_task(_compute), cpu_seconds=1.0), replace(_task(_sleep, 2), cpu_seconds=1.0)
    found = _run([endless, patient, _task(_square, 3)])
    assert found[endless.label] == (None, Failure("stopped after 1 s of computing", True))
    assert found[patient.label][1] is None
    assert found["_square(3,)"] == (9, None)


def test_a_task_that_eats_memory_fails_before_the_machine_does() -> None:
    greedy, modest = _task(_eat, 3 << 30), _task(_eat, 1 << 20)
    assert _run([greedy, modest], memory=1 << 30) == {
        greedy.label: (None, Failure(out_of_memory(1 << 30), True)),
        modest.label: (1 << 20, None),
    }


def test_a_library_that_aborts_for_want_of_memory_is_told_from_one_that_crashes() -> None:
    """LLVM prints a line and aborts: "SIGABRT" tells a user nothing. What the task before printed does not count."""
    full, crash = _task(_print_and_abort, "LLVM ERROR: out of memory"), _task(_print_and_abort, "assertion failed")
    warned = _task(_print, "low on memory: out of memory, almost" * 9999)
    assert _run([full, warned, crash], memory=3 << 29) == {
        full.label: (None, Failure("out of memory: more than 1.5 GiB; fewer --jobs, or more memory, allow more", True)),
        warned.label: (None, None),
        crash.label: (None, Failure("the worker process died (SIGABRT)", True)),
    }


def _print(words: str) -> None:
    sys.stderr.write(words)


def _print_and_abort(words: str) -> None:
    _print(words)
    os.abort()


def test_the_limit_fits_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runaway parses must leave room on a machine of 8 GiB, and no limit may stop a unit that is merely large."""
    for memory, jobs, expected in ((4, 2, 2), (8, 2, 8 / 3), (9, 2, 3), (64, 2, 4), (64, 64, 2)):
        monkeypatch.setattr(workers_module, "_machine_memory", lambda memory=memory: memory << 30)
        assert share_of_memory(jobs) == int(expected * (1 << 30))
    monkeypatch.undo()
    assert 2 << 30 <= share_of_memory(1) <= 4 << 30


def test_a_tighter_limit_of_the_user_is_kept() -> None:
    """Batch systems set one; asking for more than allowed would kill every worker at birth."""
    code = (
        "import resource, test_workers as t\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "if __name__ == '__main__': print(t._run([t._task(t._limit)]))"
    )
    script = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(script), str(script.parent)))}
    answer = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == str({"_limit()": (2 << 30, None)})


def test_ctrl_c_is_for_the_parent() -> None:
    """A terminal sends it to the workers too: they must not die one by one, each with a traceback."""
    task = _task(_interrupt)
    assert _run([task]) == {task.label: ("still here", None)}


def test_leaving_early_stops_what_runs() -> None:
    started = time.monotonic()
    with Workers(2, _initialize, ("x",)) as workers:
        workers.submit([_task(os.getpid), _task(os.getpid)])
        pids = [pid for _ in range(2) for _, pid, _ in workers.finished(60)]
        workers.submit([_task(_sleep, 60) for _ in range(4)])
        assert workers.finished(0.5) == []
    assert time.monotonic() - started < 20
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


def test_a_task_that_never_ends_ends_with_a_killed_parent(tmp_path: Path) -> None:
    """Else an indexer killed by the out-of-memory killer leaves processes that eat the machine for hours."""
    parent = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_workers as t\n"
        "if __name__ == '__main__':\n"
        "    with t.Workers(1, t._initialize, ('x',)) as workers:\n"
        "        workers.submit([t.Task('hangs', t._write_pid_and_hang, (sys.argv[2],), ())])\n"
        "        workers.finished(60)\n"
    )
    script, told = tmp_path / "parent.py", tmp_path / "pid"
    script.write_text(parent)
    process = subprocess.Popen([sys.executable, str(script), str(Path(__file__).parent), str(told)])
    _until(lambda: told.exists() and told.read_text() != "")
    process.kill()
    process.wait()
    worker = Path("/proc") / told.read_text()
    _until(lambda: not worker.exists() or "State:\tZ" in (worker / "status").read_text())


def _write_pid_and_hang(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    while True:
        pass


def _until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    limit = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_what_takes_long_may_go_before_what_waits() -> None:
    """Else the last task of a run is a header that takes three seconds, and the other processes wait for it."""
    done = []
    with Workers(1, _initialize, ("hello",)) as workers:
        workers.submit(_task(_greet, word) for word in "abc")  # the first starts at once
        workers.submit((_task(_greet, word) for word in "xy"), first=True)
        while workers.busy:
            done += [result for _, result, _ in workers.finished(0.2)]
    assert done == ["hello a", "hello x", "hello y", "hello b", "hello c"]
