"""Starts programs: the type checker, and this package's own code in a process that may die without taking us along."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def own_program(module: str, *folders: Path) -> list[str]:
    """The command that runs `main` of a module of this package; -P keeps the working folder off the import path."""
    code = f"import sys, pathlib; from xref.python.{module} import main; main(*map(pathlib.Path, sys.argv[1:]))"
    return [sys.executable, "-P", "-c", code, *map(str, folders)]


def start_program(command: list[str], folder: Path, *, own_code: bool = False) -> subprocess.Popen[bytes]:
    """Start a program with nothing to read, and without variables that could redirect it. End it with `finish`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYREFLY_")}
    if own_code:
        home = str(Path(__file__).parents[2])
        environment["PYTHONPATH"] = home
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[bytes], timeout: float | None = None) -> tuple[str, str]:
    """Wait for the program; what it wrote to its output and its errors.

    Whatever ends the waiting early (`subprocess.TimeoutExpired` after `timeout` seconds, Ctrl-C) ends the program and
    all that it started, and is raised.
    """
    try:
        output, errors = process.communicate(timeout=timeout)
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return output.decode("utf-8", "replace"), errors.decode("utf-8", "replace")
