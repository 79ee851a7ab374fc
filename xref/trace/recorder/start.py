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

from .edges import BACKEND, NEW_MONITORING, PythonCalls
from .ffi import Names, make_ffi_calls
from .imports import ImportWatch
from .native import Window, registry_pointers
from .part import Log, write_error, write_part
from .passes import Passes
from .rows import part_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

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
                if self.mode == "native":
                    self._write_pointers()  # a run that reaches its limit writes none at its end
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

    def _write_pointers(self) -> None:
        self.log.write(["pointers"])
        for row in registry_pointers():
            self.log.write(["pointer", *row])

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
            if self.ended:
                self.names.read_attributes(list(self.ffi.rows()))
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
                    self._write_pointers()
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
        yield self._header(how)
        yield from part_rows(self.calls, list(self.ffi.rows()) if self.ffi is not None else [], self.names)

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


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def start(folder: str) -> None:
    """Record this process into `folder`."""
    Recorder(folder).start()
