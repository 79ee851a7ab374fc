"""Starts the recorder in this process, and writes what it saw when the process ends.

A process ends by the interpreter's own exit (also after an exception, sys.exit, Ctrl-C), by os._exit, or by becoming
another program: all are hooked. What a signal kills has written its passes, and its calls up to a few seconds before.
"""

from __future__ import annotations

import _thread
import atexit
import os
import sys
import time

from .edges import BACKEND, NEW_MONITORING, Lines, PythonCalls, is_import_machinery, is_own, is_resumption
from .ffi import Names, make_ffi_calls
from .imports import ImportWatch
from .native import Window, registry_pointers
from .part import Log, write_error, write_part
from .passes import Passes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

    from .ffi import FfiRow, Name
    from .imports import Told

_FLUSH_SECONDS = 2.0
"""Least time between two writings of a part; each also waits twenty times as long as the last one took."""


class Recorder:
    """All that is recorded in this process."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.shim = os.environ.pop("XREF_RECORDER_SHIM", "")
        # Of a further run: "native" (then with the library that switches callgrind) or "ir"; calls are not recorded.
        self.mode, _, self.switch = os.environ.pop("XREF_RECORDER_MODE", "").partition(":")
        self.origin = time.perf_counter_ns()
        self.started = time.time()
        self.pid = os.getpid()
        self.parent = 0
        self.forks = 0
        self.calls = PythonCalls(self.tick)
        self.log = Log(folder)
        self.passes = Passes(self.log, self.calls, self.origin, self.tick)
        self.ffi: Any = None
        self.names = Names()
        self.modules: dict[str, dict[str, Any]] = {}
        self.notes: list[str] = []
        self.next_flush = time.monotonic() + _FLUSH_SECONDS
        self.cwd = _folder()
        self.ended = False
        self.writing = _thread.allocate_lock()

    def start(self) -> None:
        """Install every hook."""
        wanted: dict[str, Told] = {"tvm": self._tvm_imported, "tvm_ffi": self._ffi_imported}
        if not NEW_MONITORING:
            wanted["threading"] = self._threading_imported
        if self.mode == "native":
            wanted["tvm.relax"] = wanted["tvm.tir"] = wanted["tvm.tirx"] = self._entries_imported
        self.watch = ImportWatch(wanted)
        self.write("started")
        atexit.register(self.finish, "exit")
        self._hook_exits()
        os.register_at_fork(after_in_parent=self._forked, after_in_child=self._in_child)
        self.watch.start()
        if not self.mode:
            self.calls.start()

    def _hook_exits(self) -> None:
        for name in ("_exit", "execv", "execve"):
            setattr(os, name, self._leaving(name, getattr(os, name)))

    def _leaving(self, name: str, original: Any) -> Any:
        def leave(*args: Any, **kwargs: Any) -> Any:
            self.finish(f"os.{name}", for_good=name == "_exit")
            return original(*args, **kwargs)

        leave.__name__, leave.__doc__ = name, original.__doc__
        return leave

    # told by the import watch

    def _threading_imported(self, module: Any, _error: BaseException | None) -> None:
        if not self.mode:
            module.setprofile(self.calls.thread_hook())

    def _ffi_imported(self, module: Any, error: BaseException | None) -> None:
        self._note_module("tvm_ffi", module, error)
        if error is None and not self.mode:
            try:
                self.ffi = make_ffi_calls(self.shim, self.calls)
                if self.ffi is not None:
                    self.ffi.start()
                    self.passes.open_calls = self.ffi.open_calls
                    self.passes.pause = self.ffi.pause
            except Exception as problem:  # noqa: BLE001
                self.ffi = None
                self.notes.append(f"FFI calls were not recorded: {type(problem).__name__}: {problem}")

    def _tvm_imported(self, module: Any, error: BaseException | None) -> None:
        self._note_module("tvm", module, error)
        if error is None:
            self._pause(True)
            try:
                self._prepare_mode()
                self.passes.install()
                self.modules["tvm"]["passes"] = True
            except Exception as problem:  # noqa: BLE001
                self.notes.append(f"passes were not recorded: {type(problem).__name__}: {problem}")
            self._find_names()
            self._pause(False)

    def _entries_imported(self, _module: Any, _error: BaseException | None) -> None:
        if self.passes.window is not None:
            self.passes.window.wrap_entries()

    def _prepare_mode(self) -> None:
        self.passes.texts = self.mode == "ir"
        if self.mode == "native":
            self.passes.window = Window(self.switch)
            self.passes.window.wrap_entries()

    def _note_module(self, name: str, module: Any, error: BaseException | None) -> None:
        file = getattr(module, "__file__", None)
        self.modules[name] = {
            "version": str(getattr(module, "__version__", "")),
            "path": str(file) if file else "",
            "error": "" if error is None else f"{type(error).__name__}: {error}",
        }
        self.log.write(["module", name, self.modules[name]])

    def _find_names(self) -> None:
        try:
            self.names.read()
        except Exception as problem:  # noqa: BLE001
            self.notes.append(f"the registry's names could not be read: {type(problem).__name__}: {problem}")

    def _pause(self, on: bool) -> None:
        if self.ffi is not None:
            self.ffi.record(not on)

    # forks

    def _forked(self) -> None:
        self.forks += 1

    def _in_child(self) -> None:
        self.parent, self.pid, self.forks = self.pid, os.getpid(), 0
        self.ended = False
        self.writing = _thread.allocate_lock()
        self.log.forget()
        self.calls.forget()
        self.passes.forget()
        if self.ffi is not None:
            self.ffi.forget()

    # writing

    def tick(self) -> None:
        """Write a part when the last one is some time ago; for processes that will be killed."""
        now = time.monotonic()
        if now < self.next_flush or self.ended or not self.writing.acquire(False):
            return
        try:
            self.write("cut")
        except Exception as problem:  # noqa: BLE001
            self.notes.append(f"a part could not be written: {type(problem).__name__}: {problem}")
        finally:
            self.next_flush = now + max(_FLUSH_SECONDS, 20 * (time.monotonic() - now))
            self.writing.release()

    def finish(self, how: str, for_good: bool = True) -> None:
        """Write the last part. `for_good` is false when the process may go on (a failed exec)."""
        if self.ended:
            return
        self.ended = for_good
        try:
            if for_good:
                self.watch.stop()
                note = "" if self.mode else self.calls.stop()
                if note:
                    self.notes.append(note)
                self.passes.on = False
                if self.mode == "native" and "tvm" in self.modules:
                    for row in registry_pointers():
                        self.log.write(["pointer", *row])
                if self.passes.trouble:
                    self.notes.append(f"passes were not recorded to the end: {self.passes.trouble}")
            self._pause(True)
            if self.ffi is not None:
                self._find_names()
            with self.writing:
                self.write(how)
            if not for_good:
                self._pause(False)
        except Exception as problem:  # noqa: BLE001
            write_error(self.folder, problem)

    def write(self, how: str) -> None:
        """Write the part file of this process; `how` says what made it."""
        write_part(self.folder, self._part(how))

    def _part(self, how: str) -> Iterator[Any]:
        table = _Table()
        made = list(self.ffi.rows()) if self.ffi is not None else []
        origins = {row.handle: row.origin for row in reversed(made) if row.origin}
        rows = [*self._python_rows(table), *self._callback_rows(table, origins), *self._ffi_rows(table, made, origins)]
        yield self._header(how)
        yield from table.rows()
        yield from rows

    def _header(self, how: str) -> dict[str, Any]:
        version = sys.version_info
        tvm = sys.modules.get("tvm")
        if "tvm" in self.modules and tvm is not None:
            self.modules["tvm"]["version"] = str(getattr(tvm, "__version__", ""))
        return {
            "pid": self.pid, "parent": self.parent, "ended": how, "started": self.started,
            "seconds": round((time.perf_counter_ns() - self.origin) / 1e9, 6),
            "forks": self.forks, "cwd": self.cwd, "sys_path": [str(entry) for entry in sys.path],
            "argv": [str(argument) for argument in getattr(sys, "argv", ())],
            "python": {
                "version": ".".join(map(str, version[:3])), "implementation": sys.implementation.name,
                "executable": sys.executable or "",
            },
            "python_calls": BACKEND, "ffi_calls": self.ffi.backend if self.ffi is not None else "",
            "modules": self.modules, "notes": self.notes,
        }  # fmt: skip

    def _python_rows(self, table: _Table) -> Iterator[list[Any]]:
        codes, lines = self.calls.codes, Lines()
        left_out = {number for number, code in list(codes.items()) if _is_left_out(code)}
        merged: dict[tuple[int, int, int, int], int] = {}
        for state in list(self.calls.states):
            for (caller, offset, callee, start), count in list(state.calls.items()):
                if caller in left_out or callee in left_out or is_resumption(codes[callee], start):
                    continue
                key = (state.number, caller, lines.of(codes[caller], offset), callee)
                merged[key] = merged.get(key, 0) + count
        for (thread, caller, line, callee), count in merged.items():
            yield ["python", thread, table.code(codes[caller]), line, table.code(codes[callee]), count]

    def _callback_rows(self, table: _Table, origins: dict[int, int]) -> Iterator[list[Any]]:
        for state in list(self.calls.states):
            for (handle, code_id), count in list(state.callbacks.items()):
                code = self.calls.codes[code_id]
                if not _is_left_out(code):
                    yield ["callback", state.number, table.key(self.names.of(handle, origins)), table.code(code), count]

    def _ffi_rows(self, table: _Table, made: list[FfiRow], origins: dict[int, int]) -> Iterator[list[Any]]:
        merged: dict[tuple[Any, ...], list[int]] = {}
        for row in made:
            if row.code is None or not _is_left_out(row.code):
                key = table.key(self.names.of(row.handle, origins, row.origin))
                via = table.key(self.names.of(row.via, origins)) if row.via else None
                code = table.code(row.code) if row.code is not None else None
                total = merged.setdefault((row.thread, code, row.line, key, via), [0] * 6)
                for place, number in enumerate((row.calls, row.ns, *row.tensors)):
                    total[place] += number
        for site, (count, ns, *tensors) in merged.items():
            if count:
                yield ["ffi", *site, count, ns]
            if any(tensors):
                yield ["tensor", *site, *tensors]


class _Table:
    """Numbers code objects and names of functions, in the order of their first use."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._codes: list[CodeType] = []
        self._keys: dict[Name, int] = {}

    def code(self, code: CodeType) -> int:
        """The number of `code`."""
        known = self._numbers.get(id(code))
        if known is None:
            known = self._numbers[id(code)] = len(self._codes)
            self._codes.append(code)
        return known

    def key(self, name: Name) -> int:
        """The number of `name`."""
        return self._keys.setdefault(name, len(self._keys))

    def rows(self) -> Iterator[list[Any]]:
        """Of code: number, file, qualified name (null before Python 3.11, which does not know it), name, first line. Of
        functions: number, kind, name.
        """
        for number, code in enumerate(self._codes):
            qualname = getattr(code, "co_qualname", None)
            yield ["code", number, code.co_filename, qualname, code.co_name, code.co_firstlineno]
        for name, number in self._keys.items():
            yield ["key", number, *name]


def _is_left_out(code: CodeType) -> bool:
    return is_own(code) or is_import_machinery(code)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def start(folder: str) -> None:
    """Record this process into `folder`."""
    Recorder(folder).start()
