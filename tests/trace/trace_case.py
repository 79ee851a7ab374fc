"""What the tests of recording share: stand-ins for tvm and tvm_ffi, compiled once, and `xref trace` as a process."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from xref.trace.runfile import Code, RunFile, read_run

ROOT = Path(__file__).parent.parent.parent
FIXTURES = Path(__file__).parent / "fixtures"
SCRIPTS = FIXTURES / "scripts"
WORKLOAD = SCRIPTS / "workload.py"
_SCRATCH = tempfile.TemporaryDirectory(prefix="xref-test-trace-")


@functools.cache
def packages() -> Path:
    """A folder for PYTHONPATH with the stand-ins; their C is compiled as the real one is: a core imports the C ABI."""
    target = Path(_SCRATCH.name) / "packages"
    shutil.copytree(FIXTURES / "packages", target)
    folder = target / "tvm_ffi"
    flags = ["-shared", "-fPIC", "-o"]
    _compile(folder, *flags, "libtvm_ffi.so", "-Wl,-soname,libtvm_ffi.so", "ffi.c")
    _compile(folder, *flags, "core.so", "core.c", "-L.", "-ltvm_ffi", "-Wl,-rpath,$ORIGIN")
    return target


def _compile(folder: Path, *arguments: str) -> None:
    subprocess.run(["cc", *arguments], cwd=folder, check=True)


def environment(**changes: str) -> dict[str, str]:
    """An environment in which the stand-ins are importable and xref's cache is the tests' own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XREF_", "PYTHON", "LD_"))}
    return {**kept, "PYTHONPATH": str(packages()), "XREF_CACHE": str(Path(_SCRATCH.name) / "cache"), **changes}


def xref(*arguments: object, cwd: Path | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run `xref ARGUMENTS` as a user does."""
    words = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from xref.cli.verbs import main; main()",
    ]
    return subprocess.run([*words, *map(str, arguments)], cwd=cwd or ROOT, env=environment(**changes),
                          capture_output=True, text=True, errors="surrogateescape", check=False,
                          timeout=300)  # fmt: skip


class Traced(NamedTuple):
    """A command that was traced, and the same command without."""

    code: int
    out: str
    err: str
    path: Path

    @property
    def run(self) -> RunFile:
        """The run file that it left."""
        return read_run(self.path)


def traced(folder: Path, *command: object, cwd: Path | None = None, **changes: str) -> Traced:
    """Trace a command into a file of `folder`, in silence; `python` is the interpreter of the tests."""
    path = folder / "run"
    words = [sys.executable if word == "python" else word for word in command]
    done = xref("trace", "-q", "-o", path, "--", *words, cwd=cwd or folder, **changes)
    return Traced(done.returncode, done.stdout, done.stderr, path)


def plain(folder: Path, *command: object, cwd: Path | None = None, **changes: str) -> tuple[int, str, str]:
    """What the same command does without xref."""
    words = [sys.executable if word == "python" else str(word) for word in command]
    done = subprocess.run(words, cwd=cwd or folder, env=environment(**changes), capture_output=True, text=True,
                          check=False, timeout=300)  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def script(folder: Path, text: str, name: str = "script.py") -> Path:
    """Write a script."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def label(run: RunFile, code: int | None) -> str:
    """`file:qualified name` of a code object, without `<locals>`; the file without its folders."""
    if code is None:
        return ""
    row: Code = run.codes[code]
    return f"{Path(run.files[row.file].path).name}:{(row.qualname or row.name).replace('.<locals>', '')}"


def python_edges(run: RunFile) -> dict[tuple[str, int, str], int]:
    """(caller, line, callee) -> calls, of all processes and threads."""
    edges: dict[tuple[str, int, str], int] = {}
    for row in run.python:
        key = (label(run, row.caller), row.line, label(run, row.callee))
        edges[key] = edges.get(key, 0) + row.calls
    return edges


def calls_to(run: RunFile, callee: str) -> dict[str, int]:
    """Caller -> calls of `callee`."""
    found: dict[str, int] = {}
    for (caller, _, called), calls in python_edges(run).items():
        if called == callee:
            found[caller] = found.get(caller, 0) + calls
    return found


def line_of(path: Path, text: str) -> int:
    """The 1-based line of `path` that contains `text`."""
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)
