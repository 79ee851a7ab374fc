"""Puts the parts that the recorded processes wrote together into one run file."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from xref.trace.launch import Ended
from xref.trace.runfile import (
    Callback,
    Code,
    FfiCall,
    Key,
    PassRun,
    Process,
    PythonCall,
    RunFile,
    SourceFile,
    TensorCrossing,
)

Part = list[Any]
"""The rows of a part file (recorder/start.py writes them); the first is its header."""

_SPAWNERS = (("subprocess.py", "_execute_child"), ("multiprocessing/util.py", "spawnv_passfds"))
"""Functions of the standard library that start another program, by the end of their file's path."""


def read_parts(folder: Path) -> list[Part]:
    """The parts in `folder`, that of the process which started first at the head."""
    parts = []
    for path in folder.glob("part-*[0-9]"):
        rows = list(_json_lines(path))
        if rows and isinstance(rows[0], dict):
            parts.append(rows)
            for row in log_rows(folder, rows[0]["pid"]):
                if row[0] == "module":
                    rows[0]["modules"].setdefault(row[1], row[2])
    return sorted(parts, key=lambda rows: (rows[0]["parent"] != 0, rows[0]["started"], rows[0]["pid"]))


def log_rows(folder: Path, pid: int) -> list[Any]:
    """What the process appended to its log while it ran."""
    path = folder / f"log-{pid}"
    return list(_json_lines(path)) if path.exists() else []


def _json_lines(path: Path) -> Iterator[Any]:
    """The lines of a file; one that a dying process left half written is left out."""
    for line in path.read_bytes().decode("ascii", "replace").split("\n"):
        try:
            yield json.loads(line)
        except ValueError:
            return


def recorder_errors(folder: Path) -> list[str]:
    """What kept the recorder from working, in its own words."""
    return [path.read_text("utf-8", "replace") for path in sorted(folder.glob("error-*"))]


def module_of(parts: list[Part], name: str) -> dict[str, Any] | None:
    """What was seen of the module `name` ("tvm", "tvm_ffi"): its import in the first process that succeeded, else that
    failed; None when no process imported it.
    """
    seen = [part[0]["modules"][name] for part in parts if name in part[0]["modules"]]
    return next((module for module in seen if not module["error"]), seen[0] if seen else None)


def collect(
    run_id: str, command: tuple[str, ...], ended: Ended, folder: Path, parts: list[Part], why_no_shim: str
) -> RunFile:
    """The run of `command`, from the parts in `folder`."""
    builder = _Builder()
    for number, part in enumerate(parts):
        builder.add_part(number, part)
        builder.add_passes(number, log_rows(folder, part[0]["pid"]))
    first = parts[0][0]
    run = builder.run
    run.files = [_with_digest(row) for row in run.files]
    tvm, ffi = module_of(parts, "tvm"), module_of(parts, "tvm_ffi")
    run.header = {
        "id": run_id,
        "command": list(command),
        "cwd": first["cwd"],
        "started": f"{datetime.fromtimestamp(ended.started, UTC):%Y-%m-%dT%H:%M:%SZ}",
        "seconds": round(ended.seconds, 3),
        "exit": _exit(ended.status),
        "python": first["python"],
        "tvm": _public(tvm),
        "tvm_ffi": _public(ffi),
        "recorded": {
            "python": first["python_calls"],
            "ffi": next((part[0]["ffi_calls"] for part in parts if part[0]["ffi_calls"]), ""),
            "passes": bool(run.passes) or any(part[0]["modules"].get("tvm", {}).get("passes") for part in parts),
        },
        "notes": [*_notes(parts, ended), *_ffi_notes(parts, why_no_shim), *builder.notes()],
    }
    run.header["counts"] = counts(run)
    return run


def counts(run: RunFile) -> dict[str, int]:
    """How many distinct edges, and how many calls, of each kind."""
    return {
        "python_edges": len(run.python), "python_calls": sum(row.calls for row in run.python),
        "ffi_edges": len(run.ffi), "ffi_calls": sum(row.calls for row in run.ffi),
        "ffi_keys": len({row.key for row in run.ffi}),
        "callback_edges": len(run.callbacks), "callback_calls": sum(row.calls for row in run.callbacks),
        "native_edges": len(run.native), "native_calls": sum(row.calls for row in run.native),
        "tensor_sites": len(run.tensors),
        "passes": len(run.passes), "processes": len(run.processes),
        "threads": len({(row.process, row.thread) for table in (run.python, run.ffi) for row in table}),
    }  # fmt: skip


def _public(module: dict[str, Any] | None) -> dict[str, str] | None:
    return {"version": module["version"], "path": module["path"]} if module and not module["error"] else None


def _exit(status: int) -> dict[str, Any]:
    if status >= 0:
        return {"code": status}
    try:
        return {"signal": signal.Signals(-status).name}
    except ValueError:
        return {"signal": str(-status)}


def _notes(parts: list[Part], ended: Ended) -> list[str]:
    notes = list(dict.fromkeys(note for part in parts for note in part[0]["notes"]))
    first = parts[0][0]
    if first["ended"] in ("started", "cut"):
        why = f"was killed by {_exit(ended.status)['signal']}" if ended.status < 0 else "ended without telling"
        upto = "nothing but its passes" if first["ended"] == "started" else f"the first {first['seconds']:.1f} s"
        notes.append(f"the process {why}: of its calls, {upto} were kept")
    late = sum(part[0]["ended"] in ("started", "cut") for part in parts[1:])
    if late:
        notes.append(
            f"{late} child process{'es' if late > 1 else ''} did not end before the command did, or was killed"
        )
    lost = sum(part[0]["forks"] for part in parts) - sum(part[0]["parent"] != 0 for part in parts)
    if lost > 0:
        notes.append(f"{lost} forked child process{'es' if lost > 1 else ''} left no recording")
    return notes


def _ffi_notes(parts: list[Part], why_no_shim: str) -> list[str]:
    if not why_no_shim or not any("tvm_ffi" in part[0]["modules"] for part in parts):
        return []
    if any(part[0]["ffi_calls"] for part in parts):
        what = "FFI calls made inside the binding (constructors, conversions) and by compiled code were not recorded"
    else:
        what = "FFI calls were not recorded"
    return [f"{what}: {why_no_shim}"]


def _with_digest(row: SourceFile) -> SourceFile:
    try:
        return row._replace(sha256=hashlib.sha256(Path(row.path).read_bytes()).hexdigest())
    except (OSError, ValueError):
        return row


class _Builder:
    """Renumbers the tables of several parts into one."""

    def __init__(self) -> None:
        self.run = RunFile({})
        self._files: dict[str, int] = {}
        self._codes: dict[tuple[int, str | None, str, int], int] = {}
        self._keys: dict[tuple[str, str, int | None], int] = {}
        self._pids: dict[int, int] = {}
        self._spawned: Counter[str] = Counter()

    def add_part(self, process: int, part: Part) -> None:
        """Add all that one process wrote."""
        header, rows = part[0], part[1:]
        self._pids[header["pid"]] = process
        self.run.processes.append(
            Process(process, self._pids.get(header["parent"]), header["pid"], header["ended"], header["seconds"])
        )
        codes = {row[1]: self._code(header, row) for row in rows if row[0] == "code"}
        keys = {row[1]: self._key(row[2], row[3], *map(codes.get, row[4:])) for row in rows if row[0] == "key"}
        for word, *row in rows:
            if word == "python":
                thread, caller, line, callee, count = row
                self.run.python.append(PythonCall(process, thread, codes[caller], line, codes[callee], count))
                self._note_spawner(codes[callee], count)
            elif word == "ffi":
                thread, caller, line, key, via, count, ns = row
                code = None if caller is None else codes[caller]
                self.run.ffi.append(
                    FfiCall(process, thread, code, line, keys[key], None if via is None else keys[via], count, ns)
                )
            elif word == "callback":
                thread, key, callee, count = row
                self.run.callbacks.append(Callback(process, thread, keys[key], codes[callee], count))
            elif word == "tensor":
                thread, caller, line, key, via, *numbers = row
                code = None if caller is None else codes[caller]
                origin = None if via is None else keys[via]
                self.run.tensors.append(TensorCrossing(process, thread, code, line, keys[key], origin, *numbers))

    def add_passes(self, process: int, rows: list[Any]) -> None:
        """Add the passes that one process logged."""
        ends = {row[1]: (row[2], row[3] if row[3] >= 0 else None) for row in rows if row[0] == "end"}
        for row in rows:
            if row[0] == "start":
                _, seq, thread, depth, name, opt_level, start = row
                self.run.passes.append(
                    PassRun(process, thread, seq, depth, name, max(opt_level, 0), start, *ends.get(seq, (None, None)))
                )

    def notes(self) -> list[str]:
        """What the rows themselves tell of things not recorded."""
        notes = []
        started = sum(self._spawned.values())
        if started:
            notes.append(
                f"{started} other program{'s' if started > 1 else ''} started as child processes, not recorded"
            )
        open_passes = [row.name for row in self.run.passes if row.ns is None]
        if open_passes:
            shown = ", ".join(open_passes[:5]) + (", ..." if len(open_passes) > 5 else "")
            notes.append(f"{len(open_passes)} pass{'es' if len(open_passes) > 1 else ''} did not finish: {shown}")
        return notes

    def _note_spawner(self, code: int, count: int) -> None:
        row = self.run.codes[code]
        path = self.run.files[row.file].path.replace(os.sep, "/")
        for end, name in _SPAWNERS:
            if row.name == name and path.endswith(f"/{end}"):
                self._spawned[name] += count

    def _code(self, header: dict[str, Any], row: list[Any]) -> int:
        _, _, path, qualname, name, line = row
        identity = (self._file(header, path), qualname, name, line)
        number = self._codes.setdefault(identity, len(self._codes))
        if number == len(self.run.codes):
            self.run.codes.append(Code(number, *identity))
        return number

    def _key(self, kind: str, name: str, code: int | None = None) -> int:
        number = self._keys.setdefault((kind, name, code), len(self._keys))
        if number == len(self.run.keys):
            self.run.keys.append(Key(number, kind, name, code))
        return number

    def _file(self, header: dict[str, Any], path: str) -> int:
        if not path.startswith("<"):
            path = os.path.normpath(os.path.join(header["cwd"], path))
        number = self._files.setdefault(path, len(self._files))
        if number == len(self.run.files):
            self.run.files.append(SourceFile(number, path, _relative(path, header["sys_path"], header["cwd"]), None))
        return number


def _relative(path: str, sys_path: list[str], cwd: str) -> str | None:
    """`path` below the longest entry of sys.path that holds it."""
    best = ""
    for entry in sys_path:
        folder = os.path.normpath(os.path.join(cwd, entry))
        if path.startswith(folder + os.sep) and len(folder) > len(best):
            best = folder
    return path[len(best) + 1 :].replace(os.sep, "/") if best else None
