"""Lays a recorded run over an index: fills its tables of runs from a run file.

Every recorded call ends in one of two places: an observed call between symbols, or the unmatched events, with the
reason. The run file stays the truth; a new index is joined again with every file beside it.
"""

from __future__ import annotations

import shlex
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from xref.model import Id, XrefError
from xref.store import read_meta
from xref.trace.cpp_symbols import CppSymbols
from xref.trace.folder import run_files
from xref.trace.returned import Returned
from xref.trace.runfile import Code, Function, Key, RunFile, read_run
from xref.trace.store import (
    ObservedRow,
    PassRow,
    RunRow,
    TensorRow,
    UnmatchedRow,
    open_for_runs,
    put_run,
    sql_text,
    transaction,
)
from xref.trace.symbols import Found, Keys, PythonSymbols

_BODY = "the body of a module or class, or a comprehension: running it is no call"
_UNKNOWN = "a function without a key: a closure, or a method that the registry does not list"
_INIT, _GENERATED_INIT = ".__ffi_init__", "ffi._RegisterFFIInit"
"""Constructor of a registered type; the key whose function makes one of the fields, for types that define none
(tvm-ffi, include/tvm/ffi/reflection/registry.h, ~ObjectDef).
"""
_HIDDEN = "a function without a name: the library's symbols are hidden"
_WRAPPER = "the code that unpacks the arguments for a key's function"


@dataclass
class JoinReport:
    """What joining gave. `joined` and `unmatched` count distinct recorded edges by kind (`pass`: passes). `skew` says
    how the TVM that ran differs from the indexed one, "" when it does not.
    """

    run_id: str
    skew: str = ""
    joined: Counter[str] = field(default_factory=Counter)
    unmatched: Counter[str] = field(default_factory=Counter)


def join_run(db: sqlite3.Connection, run_file: Path) -> JoinReport:
    """Put the run in `run_file` into the index, in one transaction, in the place of what the index knew of it.

    `db` must be open for writing, in no transaction. Raises `XrefError` (exit code 5) when the file cannot be read;
    the index is then as it was.
    """
    run = read_run(run_file)
    join = _Join(db, run)
    join.add_python()
    join.add_ffi()
    join.add_callbacks()
    join.add_native()
    join.add_tensors()
    join.add_passes()
    header = run.header
    note = "; ".join(filter(None, (join.report.skew, *header["notes"])))
    row = RunRow(run.id, sql_text(shlex.join(header["command"])), header["started"], sql_text(run.tvm_version),
                 sql_text(str(header["python"].get("version", ""))), sql_text(note))  # fmt: skip
    with transaction(db):
        put_run(db, row, join.observed_rows(), join.passes, join.unmatched_rows(), join.tensors)
    return join.report


def join_known_runs(db_path: Path) -> list[str]:
    """Join every run file beside the index at `db_path`, after it was made; also files that were there before it.

    Takes the index's lock, so the caller must not hold it. Returns warnings: files that could not be joined, each with
    the reason, and version skew.
    """
    files = run_files(db_path)
    if not files:
        return []
    warnings = []
    with open_for_runs(db_path) as db:
        for path in files:
            try:
                report = join_run(db, path)
            except XrefError as error:
                warnings.append(str(error))
            else:
                if report.skew:
                    warnings.append(f"run {report.run_id}: {report.skew}")
    return warnings


class _Join:
    """Builds the rows of one run."""

    def __init__(self, db: sqlite3.Connection, run: RunFile) -> None:
        self._run = run
        self._symbols = PythonSymbols(db, run)
        self._keys = Keys(db)
        self._returned = Returned(db, self._keys.find)
        self._cpp = CppSymbols(db)
        self._found = [self._symbols.find(code) for code in run.codes]
        self._targets = [self._target(key) for key in run.keys]
        self._threads: dict[tuple[int, int], int] = {(0, 0): 0}
        self._observed: dict[tuple[Id | None, Id, str, int | None, int, int], tuple[int, int | None]] = {}
        self._unmatched: Counter[tuple[str, str, str]] = Counter()
        self.passes: list[PassRow] = []
        self.tensors: list[TensorRow] = []
        self.report = JoinReport(run.id, self._skew(read_meta(db)))

    def _skew(self, meta: dict[str, str]) -> str:
        same, different = self._symbols.same, self._symbols.different
        ran, indexed = self._run.tvm_version or "unknown", meta.get("tvm_version") or "unknown"
        if same and not different:
            return ""
        versions = f"TVM {ran} ran, and the index is of {f'another {ran}' if ran == indexed else indexed}"
        if not same and not different:
            return f"{versions}: no Python file that ran is in the index, only keys join"
        return (
            f"{versions}: {different} of {same + different} Python files that ran have other content than the indexed"
            " ones; their lines are not used"
        )

    def _target(self, key: Key) -> tuple[Id | None, str]:
        if key.kind == "global":
            return self._keys.find("ffi", key.name)
        if key.kind == "method":
            symbol, reason = self._keys.find("method", key.name)
            if symbol is None and key.name.endswith(_INIT):
                return self._returned.find(_GENERATED_INIT, is_named=False)[0], reason
            return symbol, reason
        if key.kind == "attribute":
            return self._keys.find("op_attr", key.name)
        if key.kind == "python" and key.code is not None:
            found = self._found[key.code]
            return found.symbol, found.reason
        if key.kind in ("returned", "named"):
            return self._returned.find(key.name, is_named=key.kind == "named")
        return None, _UNKNOWN

    def _thread(self, process: int, thread: int) -> int:
        """Threads are numbered through all processes; 0 is the main thread of the first."""
        return self._threads.setdefault((process, thread), len(self._threads))

    def _caller(self, code: Code | None, line: int) -> tuple[Id | None, int | None, int]:
        """Symbol, file and line of a site; each unknown where it cannot be trusted."""
        if code is None:
            return None, None, 0
        found = self._found[code.number]
        return found.symbol, found.file_id, line if found.file_id is not None else 0

    def _observe(
        self, kind: str, site: tuple[Id | None, int | None, int], callee: Id, thread: int, count: int, ns: int | None
    ) -> None:
        caller, file_id, line = site
        key = (caller, callee, kind, file_id, line, thread)
        known, known_ns = self._observed.get(key, (0, None))
        self._observed[key] = (known + count, ns if known_ns is None else known_ns + (ns or 0))
        self.report.joined[kind] += 1

    def _miss(self, kind: str, name: str, reason: str, count: int) -> None:
        self._unmatched[kind, sql_text(name), reason] += count
        self.report.unmatched[kind] += 1

    def _miss_code(self, kind: str, found: Found, count: int) -> None:
        if found.symbol is not None:
            self._miss(kind, "bodies and comprehensions", _BODY, count)
        else:
            self._miss(kind, found.name, found.reason, count)

    def add_python(self) -> None:
        """Calls between Python functions."""
        for process, thread, caller, line, callee, count in self._run.python:
            found = self._found[callee]
            if found.symbol is None or not found.is_call:
                self._miss_code("python", found, count)
                continue
            site = self._caller(self._run.codes[caller], line)
            self._observe("python", site, found.symbol, self._thread(process, thread), count, None)

    def add_ffi(self) -> None:
        """Calls through the FFI, and those that native code made inside them."""
        for row in self._run.ffi:
            symbol, reason = self._targets[row.key]
            kind = "native" if row.via is not None else "ffi"
            if symbol is None:
                self._miss(kind, self._run.keys[row.key].name or "(no name)", reason, row.calls)
                continue
            code = self._run.codes[row.caller] if row.caller is not None else None
            site = (self._targets[row.via][0], None, 0) if row.via is not None else self._caller(code, row.line)
            self._observe(kind, site, symbol, self._thread(row.process, row.thread), row.calls, row.ns)

    def add_callbacks(self) -> None:
        """Python functions that native code entered, inside the FFI function that was called."""
        for process, thread, key, callee, count in self._run.callbacks:
            found = self._found[callee]
            if found.symbol is None or not found.is_call:
                self._miss_code("callback", found, count)
                continue
            site = (self._targets[key][0], None, 0)
            self._observe("callback", site, found.symbol, self._thread(process, thread), count, None)

    def add_native(self) -> None:
        """Calls of one C++ function by another, that callgrind saw."""
        found = [self._machine_code(function) for function in self._run.functions]
        for row in self._run.native:
            callee, reason = found[row.callee]
            if callee is None:
                name = self._run.functions[row.callee]
                self._miss("native", name.name or f"0x{name.address:x} of {name.library}", reason, row.calls)
                continue
            site = (found[row.caller][0], None, 0)
            self._observe("native", site, callee, self._thread(row.process, 0), row.calls, None)

    def _machine_code(self, function: Function) -> tuple[Id | None, str]:
        if function.kind == "address":
            return None, _HIDDEN
        if function.kind == "symbol":
            return self._cpp.find(function.name)
        symbol, reason = self._keys.find("ffi", function.name)
        if symbol is not None and function.kind == "wrapper" and not self._cpp.is_lambda(symbol):
            return None, _WRAPPER
        return symbol, reason

    def add_tensors(self) -> None:
        """Tensors that crossed the FFI, by call site."""
        rows: dict[tuple[Id | None, Id | None, str, int | None, int, int], Counter[str]] = {}
        for row in self._run.tensors:
            code = self._run.codes[row.caller] if row.caller is not None else None
            caller, file_id, line = (
                (self._targets[row.via][0], None, 0) if row.via is not None else self._caller(code, row.line)
            )
            name = sql_text(self._run.keys[row.key].name)
            thread = self._thread(row.process, row.thread)
            total = rows.setdefault((caller, self._targets[row.key][0], name, file_id, line, thread), Counter())
            total.update(same=row.same, different=row.different, passed=row.passed, made=row.made)
        self.tensors = [
            TensorRow(*key, total["same"], total["different"], total["passed"], total["made"])
            for key, total in rows.items()
        ]

    def add_passes(self) -> None:
        """Passes, in the order of their start; one that did not end has duration 0."""
        targets = {name: self._keys.find("pass", name) for name in {row.name for row in self._run.passes}}
        for number, row in enumerate(sorted(self._run.passes, key=lambda row: (row.process, row.start, row.seq))):
            symbol, reason = targets[row.name]
            self.passes.append(
                PassRow(number, row.depth, sql_text(row.name), symbol, row.start, row.ns or 0, row.changed)
            )
            if symbol is None:
                self._miss("pass", row.name, reason, 1)
            else:
                self.report.joined["pass"] += 1

    def observed_rows(self) -> list[ObservedRow]:
        """The observed calls, summed up per site and thread."""
        return [
            ObservedRow(caller, callee, kind, file_id, line, thread, count, ns)
            for (caller, callee, kind, file_id, line, thread), (count, ns) in self._observed.items()
        ]

    def unmatched_rows(self) -> list[UnmatchedRow]:
        """What has no symbol."""
        return [UnmatchedRow(kind, name, count, reason) for (kind, name, reason), count in self._unmatched.items()]
