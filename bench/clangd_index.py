"""Time clangd's background index of a set of C++ units: the peer that xref's own indexing is compared with.

Speaks as little of the language server protocol as it takes: open one empty file, then wait for clangd to say that its
background index is complete.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BACKGROUND_TOKEN = "backgroundIndexProgress"
_ENDED = "clangd ended before its background index was complete"


@dataclass(frozen=True)
class ClangdRun:
    """`wall_s` and `cpu_s` in seconds, `peak_mib` the process's peak resident size in MiB, `disk_mib` of its index."""

    version: str
    units: int
    wall_s: float
    cpu_s: float
    peak_mib: int
    disk_mib: float


def find_clangd() -> str | None:
    """The clangd to measure: $CLANGD, else the newest clangd-N on the path, else clangd."""
    chosen = os.environ.get("CLANGD")
    numbered = [name for number in range(40, 13, -1) if (name := shutil.which(f"clangd-{number}"))]
    return shutil.which(chosen) if chosen else next(iter(numbered), shutil.which("clangd"))


def write_compile_commands(folder: Path, root: Path, units: Sequence[str], arguments: Sequence[str]) -> None:
    """Write `folder`/compile_commands.json: every unit (relative to `root`) with the same compiler arguments."""
    entries = [
        {
            "directory": str(root),
            "file": str(root / unit),
            "arguments": ["clang++", "-x", "c++", *arguments, "-c", str(root / unit)],
        }
        for unit in units
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))


def index_with_clangd(clangd: str, folder: Path, jobs: int, *, keep: bool = False) -> ClangdRun:
    """Run clangd's background index over `folder`/compile_commands.json with `jobs` threads.

    From nothing, or, to `keep` what an earlier run left, until it has brought that up to date.

    Raises `RuntimeError` when clangd ends before its index is complete.
    """
    database = json.loads((folder / "compile_commands.json").read_text())
    if not keep:
        shutil.rmtree(folder / ".cache", ignore_errors=True)
    # "normal", since the default priority leaves the machine to everything else.
    command = [clangd, "--background-index", "--background-index-priority=normal", f"-j={jobs}", "--log=error",
               f"--compile-commands-dir={folder}"]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        started = time.monotonic()
        try:
            _wait_for_index(_Server(process), folder, database[0]["file"])
            wall = time.monotonic() - started
            cpu, peak = _usage(process.pid)
        except BrokenPipeError as error:
            raise RuntimeError(_ENDED) from error
        finally:
            process.kill()
    return ClangdRun(
        version=_version(clangd),
        units=len(database),
        wall_s=wall,
        cpu_s=cpu,
        peak_mib=peak,
        disk_mib=sum(path.stat().st_size for path in (folder / ".cache").rglob("*.idx")) / 2**20,
    )


class _Server:
    """A language server on the other end of two pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self._to, self._from = process.stdin, process.stdout

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._to.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._to.flush()

    def receive(self) -> dict[str, Any]:
        length = 0
        while (line := self._from.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            raise RuntimeError(_ENDED)
        message: dict[str, Any] = json.loads(self._from.read(length))
        return message


def _wait_for_index(server: _Server, folder: Path, first: str) -> None:
    capabilities = {"window": {"workDoneProgress": True}}
    server.send(id=1, method="initialize", params={"processId": os.getpid(), "rootUri": folder.as_uri(),
                                                   "capabilities": capabilities})  # fmt: skip
    while server.receive().get("id") != 1:
        pass
    server.send(method="initialized", params={})
    # An open file makes clangd look for its compilation database; the text is empty, so that only the index is timed.
    server.send(method="textDocument/didOpen", params={"textDocument": {
        "uri": Path(first).as_uri(), "languageId": "cpp", "version": 1, "text": "// empty\n"}})  # fmt: skip
    while True:
        message = server.receive()
        if "id" in message and "method" in message:
            server.send(id=message["id"], result=None)
        elif _is_end(message):
            return


def _is_end(message: dict[str, Any]) -> bool:
    """Whether clangd says that its background index is complete."""
    progress = message["params"] if message.get("method") == "$/progress" else {}
    return progress.get("token") == _BACKGROUND_TOKEN and progress["value"].get("kind") == "end"


def _usage(pid: int) -> tuple[float, int]:
    """CPU seconds and peak resident MiB of a live process, from /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return cpu, int(peak[1]) // 1024 if peak else 0


def _version(clangd: str) -> str:
    shown = subprocess.run([clangd, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"version (\S+)", shown)
    return found[1] if found else "unknown"
