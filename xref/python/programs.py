"""Starts programs: the type checker, and this package's own code in a process that may die without taking us along."""

from __future__ import annotations

import os
import subprocess
import sys
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
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(process: subprocess.Popen[bytes], timeout: float | None = None) -> tuple[str, str]:
    """Wait for the program; what it wrote to its output and its errors.

    Whatever ends the waiting early (`subprocess.TimeoutExpired` after `timeout` seconds, Ctrl-C) ends the program, and
    is raised. A terminal's Ctrl-C reaches the program by itself: it stays in our process group.
    """
    try:
        output, errors = process.communicate(timeout=timeout)
    except BaseException:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        raise
    return output.decode("utf-8", "replace"), errors.decode("utf-8", "replace")
