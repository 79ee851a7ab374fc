"""Records which Python function ran which, for bench/python_recall.py:

    PYTHON bench/record_python_edges.py OUT.json PACKAGE[,PACKAGE...] -m pytest TESTS
    PYTHON bench/record_python_edges.py OUT.json PACKAGE[,PACKAGE...] SCRIPT [ARGUMENTS]

PYTHON is any interpreter (3.11 or newer) that has the packages, and need not have xref: this needs the standard library
alone. An edge is two frames of which one stands on the other, both of code in the packages' folders: what compiled code
calls counts for the Python function that called into it. Module and class bodies are callers, but no callees;
comprehensions count for the function that they are written in. The edges so far are written now and then, so that a
program that crashes leaves most of them; its exit code is ours.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import runpy
import sys
import threading
import time
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

SAVED_EVERY_S = 20.0
_INNER = (".<locals>.<listcomp>", ".<locals>.<setcomp>", ".<locals>.<dictcomp>", ".<locals>.<genexpr>")
_INNER_NAMES = frozenset(name.rpartition(".")[2] for name in _INNER)


class Recorder:
    """Distinct pairs of code objects, as a profile function sees them."""

    def __init__(self, out: Path, folders: dict[str, str]) -> None:
        """`folders`: folder of a package, ending in a slash -> what its files' names begin with in the record."""
        self._out = out
        self._saved = time.monotonic()
        self._folders = folders
        self._pairs: set[tuple[CodeType, CodeType]] = set()
        self._inside: dict[CodeType, str | None] = {}

    def event(self, frame: FrameType, event: str, _argument: Any) -> None:
        """What `sys.setprofile` calls."""
        if event == "call" and frame.f_back is not None:
            pair = (frame.f_back.f_code, frame.f_code)
            if pair not in self._pairs and self._path(pair[0]) and self._path(pair[1]):
                self._pairs.add(pair)
                if time.monotonic() - self._saved > SAVED_EVERY_S:
                    self.save()

    def save(self) -> None:
        """Write what is known so far."""
        text = json.dumps({"schema": 1, "edges": self.edges()})
        partial = self._out.with_suffix(".partial")
        partial.write_text(text, "utf-8")
        partial.replace(self._out)
        self._saved = time.monotonic()

    def _path(self, code: CodeType) -> str | None:
        if code not in self._inside:
            name = code.co_filename
            starts = ((folder, shown) for folder, shown in self._folders.items() if name.startswith(folder))
            self._inside[code] = next((shown + name[len(folder) :] for folder, shown in starts), None)
        return self._inside[code]

    def edges(self) -> list[list[str | int]]:
        """Rows (file, qualified name, first line) of the caller, then those of the callee; sorted, each once."""
        found = set()
        for caller, callee in self._pairs:
            function = callee.co_flags & inspect.CO_NEWLOCALS and callee.co_name not in _INNER_NAMES
            if function:
                found.add((*self._end(caller), *self._end(callee)))
        return [list(row) for row in sorted(found)]

    def _end(self, code: CodeType) -> tuple[str, str, int]:
        name = code.co_qualname
        while name.endswith(_INNER):
            name = name.rpartition(".<locals>.")[0]
        if name in _INNER_NAMES:  # of a module's or a class's body
            name = "<module>"
        return self._path(code) or "", name, code.co_firstlineno


def _folders(packages: str) -> dict[str, str]:
    found = {}
    for name in packages.split(","):
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise SystemExit(f"record_python_edges: no package {name} here")
        for folder in spec.submodule_search_locations:
            found[f"{folder}/"] = f"{name.replace('.', '/')}/"
    return found


def main(arguments: list[str]) -> int:
    """Run a program under the recorder; returns its exit code."""
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    out, packages, *program = arguments
    recorder = Recorder(Path(out), _folders(packages))
    is_module = program[0] == "-m"
    sys.argv = program[1:] if is_module else program
    sys.path[0] = "" if is_module else str(Path(program[0]).parent)
    threading.setprofile(recorder.event)
    sys.setprofile(recorder.event)
    code = 0
    try:
        if is_module:
            runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program[0], run_name="__main__")
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1 if stop.code else 0
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        recorder.save()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
