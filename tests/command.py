"""Runs `python -m xref` as a user would, in a process of its own; optionally with less rights, or with other mounts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).parents[1]
TIME_LIMIT_S = 120

Value = TypeVar("Value")


class Ended(NamedTuple):
    """How a command ended; `said` is both its streams."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


def xref_command(*args: str | Path) -> list[str]:
    """The command line of one verb."""
    return [sys.executable, "-m", "xref", *map(str, args)]


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XREF_", "COLUMNS"))}
    path = os.pathsep.join(filter(None, (more.get("PYTHONPATH", ""), str(ROOT))))
    return {**kept, **more, "PYTHONPATH": path}


def xref(*args: str | Path, before: Sequence[str] = (), **environment: str) -> Ended:
    """Run a verb to its end. `before` is put in front of the command. No verb may ever show a traceback."""
    done = subprocess.run(
        [*before, *xref_command(*args)],
        env=_environment(environment),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIME_LIMIT_S,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)


def start_xref(*args: str | Path, **environment: str) -> subprocess.Popen[str]:
    """Start a verb, in a process group of its own so that no signal of a test goes astray."""
    return subprocess.Popen(
        xref_command(*args),
        env=_environment(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def without_override() -> list[str]:
    """For `before`: root too is refused what the permissions of a file refuse."""
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


def with_mounts(*mounts: str, after: str = "") -> list[str]:
    """For `before`: in a name space of its own, first the mount commands, last the shell command `after`.

    Root needs nothing for that; another user needs the user name spaces that Debian and Ubuntu allow.
    """
    as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    script = " && ".join([*mounts, '{ "$@"; code=$?; }'])
    script += f"; {after}; exit $code" if after else "; exit $code"
    return ["unshare", "--mount", *as_root, "sh", "-c", script, "sh"]


def wait_for(condition: Callable[[], Value], seconds: float = 60) -> Value:
    """Wait until the condition yields something true, and return that; a failure after `seconds`."""
    limit = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.02)
    return value


def workers_of(pid: int) -> list[int]:
    """The worker processes of an indexer: new ones, or copies of it."""
    found = []
    try:
        own = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    for name in os.listdir("/proc"):
        try:
            stat = Path(f"/proc/{name}/stat").read_text("ascii", "replace") if name.isdigit() else ""
            command = Path(f"/proc/{name}/cmdline").read_bytes() if stat else b""
        except OSError:
            continue
        parent = stat.rpartition(")")[2].split()[1:2]
        if parent == [str(pid)] and (b"spawn_main" in command or command == own):
            found.append(int(name))
    return found


def end(process: subprocess.Popen[str], number: int = signal.SIGINT) -> Ended:
    """Send a signal and wait for the end."""
    process.send_signal(number)
    out, err = process.communicate(timeout=TIME_LIMIT_S)
    return Ended(process.returncode, out, err)
