"""Runs a command with the recorder inside the Python that it starts, and leaves all else as it is: streams, arguments,
folder, exit code, signals.

Python finds the recorder as `sitecustomize` by PYTHONPATH; the dynamic linker finds its C part by LD_PRELOAD. The
recorder puts both variables back before the script's first line.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from xref.model import ExitCode, XrefError
from xref.trace.shim import Shim

_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_LEFT_TO_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""Signals of the keyboard, which the terminal sends to the command as well."""
_GRACE_SECONDS = 30.0
"""Between SIGTERM and SIGKILL, for a command that reached its limit: callgrind writes its file in that time."""


class Ended(NamedTuple):
    """How the command ended: `status` as subprocess tells it (minus the signal's number, when one killed it). `started`
    is seconds since 1970, `seconds` how long it ran. `cut`: it was ended at its limit.
    """

    pid: int
    status: int
    started: float
    seconds: float
    cut: bool = False

    @property
    def exit_code(self) -> int:
        """As a shell gives it: 128 and the signal's number when a signal killed the command."""
        return self.status if self.status >= 0 else 128 - self.status


def run_recorded(
    arguments: tuple[str, ...], shim: Shim, scratch: Path, *, mode: str = "", limit: float | None = None
) -> Ended:
    """Run the command; parts of the recording appear in the folder `scratch`/parts. `mode` tells the recorder what a
    further run is for (recorder/start.py): such a run gets no input, its output is thrown away, and after `limit`
    seconds it and the programs that it started are ended.

    Raises `XrefError` (exit code 5) when it cannot be started.
    """
    parts = scratch / "parts"
    parts.mkdir()
    environment = _environment(_injected(scratch), parts, shim)
    if mode:
        environment["XREF_RECORDER_MODE"] = mode
    stream = subprocess.DEVNULL if mode else None
    started, clock = time.time(), time.monotonic()
    with _signals_left_to_command(own_group=bool(mode)) as child:
        try:
            process = subprocess.Popen(
                arguments, env=environment, close_fds=False, stdin=stream, stdout=stream, stderr=stream,
                process_group=0 if mode else None,
            )  # fmt: skip
        except OSError as error:
            raise XrefError(f"{arguments[0]} cannot be started: {error.strerror or error}",
                            ExitCode.UNUSABLE_INPUT) from error  # fmt: skip
        child.append(process)
        status, cut = _wait(process, limit)
    return Ended(process.pid, status, started, time.monotonic() - clock, cut)


def _wait(process: subprocess.Popen[Any], limit: float | None) -> tuple[int, bool]:
    """Its status, and whether it was ended, with its group, after `limit` seconds."""
    try:
        return process.wait(limit), False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
    try:
        status = process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    with suppress(ProcessLookupError):  # what ignored SIGTERM or is still writing
        os.killpg(process.pid, signal.SIGKILL)
    return status, True


def _injected(scratch: Path) -> Path:
    """A folder for PYTHONPATH with the recorder in it."""
    folder = scratch / "recorder"
    package = folder / "_xref_recorder"
    package.mkdir(parents=True)
    for item in resources.files("xref.trace.recorder").iterdir():
        if item.name.endswith(".py"):
            target = folder / item.name if item.name == "sitecustomize.py" else package / item.name
            target.write_bytes(item.read_bytes())
    return folder


def _environment(injected: Path, parts: Path, shim: Shim) -> dict[str, str]:
    environment = {**os.environ, "XREF_RECORDER_FOLDER": str(parts)}
    _put_first(environment, "PYTHONPATH", str(injected))
    if shim.path is not None:
        environment["XREF_RECORDER_SHIM"] = str(shim.path)
        _put_first(environment, "LD_PRELOAD", str(shim.path))
    return environment


def _put_first(environment: dict[str, str], name: str, entry: str) -> None:
    """Put `entry` before the variable's value, and that value where sitecustomize.py finds it."""
    if name in environment:
        environment[f"XREF_RECORDER_{name}"] = environment[name]
    rest = environment.get(name, "")
    environment[name] = f"{entry}{os.pathsep}{rest}" if rest else entry


@contextmanager
def _signals_left_to_command(*, own_group: bool) -> Iterator[list[subprocess.Popen[Any]]]:
    """Outlive the command: signals of the keyboard are its own to answer, others are handed on to it. With a process
    group of its own, to which the terminal sends nothing, all are handed on to the group.
    """
    child: list[subprocess.Popen[Any]] = []

    def forward(number: int, _frame: object) -> None:
        for process in child:
            if own_group:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
            else:
                process.send_signal(number)

    # Handlers, not SIG_IGN: the command would inherit that. What xref was started to ignore (nohup, a background job
    # of a script), the command ignores too, as it would without xref.
    handlers = {
        **dict.fromkeys(_LEFT_TO_TERMINAL, forward if own_group else lambda _number, _frame: None),
        **dict.fromkeys(_FORWARDED, forward),
    }
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield child
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def remove_scratch(scratch: Path) -> None:
    """Remove the folder; a child that outlives the command may be writing into it."""
    shutil.rmtree(scratch, ignore_errors=True)
