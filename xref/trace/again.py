"""The further runs of `xref trace --native` and `--ir`: the command once more, with its output thrown away, under
callgrind or with modules written out. What they give is added to the first run's file; times are the first run's.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from xref.model import ExitCode, XrefError
from xref.trace.callgrind import Place, read_edges
from xref.trace.collect import Part, log_rows, read_parts, recorder_errors
from xref.trace.launch import Ended, run_recorded
from xref.trace.runfile import Function, NativeCall, RunFile, Text
from xref.trace.shim import Shim, build_shim

Say = Callable[[str], None]

STARTUP_FACTOR, COMPILE_FACTOR = 15, (40, 150)
"""How much longer Python takes to start and import under callgrind, and a compilation. A rough announcement, from runs
on the TVM of tilelang 0.1.7 and on apache-tvm 0.27: a first compilation is nearer to the low end.
"""
_OWN_LIBRARIES = "libtvm"
"""How the names of TVM's libraries begin (its CMakeLists.txt), tvm_ffi's too."""


class Wanted(NamedTuple):
    """Which further runs were asked for. `switch` is the compiled callgrind.c, None without `--native`."""

    ir: bool
    switch: Path | None


def prepare(*, native: bool, ir: bool) -> Wanted:
    """Check that what was asked for can be done, before anything runs.

    Raises `XrefError` (exit code 5) when valgrind is not there, or its header or a C compiler is missing.
    """
    if not native:
        return Wanted(ir, None)
    if shutil.which("valgrind") is None:
        message = (
            "--native needs valgrind, which is not there: install it (`apt install valgrind`, or your system's way)"
        )
        raise XrefError(message, ExitCode.UNUSABLE_INPUT)
    switch = build_shim(part="callgrind")
    if switch.path is None:
        raise XrefError(f"--native: {switch.why_not} (valgrind/callgrind.h comes with valgrind)",
                        ExitCode.UNUSABLE_INPUT)  # fmt: skip
    return Wanted(ir, switch.path)


def add_further_runs(run: RunFile, wanted: Wanted, arguments: tuple[str, ...], scratch: Path, say: Say) -> None:
    """Run the command again for each thing wanted, and add what it gave to `run`, or a note that says why not."""
    seconds = run.header["seconds"]
    if wanted.ir:
        say(f"--ir: the command runs once more (it took {seconds:.1f} s), its output is thrown away")
        _with_texts(run, arguments, scratch)
    if wanted.switch is not None:
        low, high = COMPILE_FACTOR
        say(
            f"--native: the command runs once more under callgrind, its output is thrown away. Starting takes about"
            f" {STARTUP_FACTOR} times as long, compiling {low} to {high} times (without, all took {seconds:.1f} s)"
        )
        _with_native(run, wanted.switch, arguments, scratch)


class _Again(NamedTuple):
    ended: Ended
    parts: list[Part]
    folder: Path


def _again(run: RunFile, name: str, mode: str, arguments: tuple[str, ...], scratch: Path) -> _Again | None:
    place = scratch / name
    place.mkdir()
    ended = run_recorded(arguments, Shim(None, ""), place, mode=mode, silent=True)
    folder = place / "parts"
    notes, first = run.header["notes"], run.header["exit"]
    notes += [f"--{name}: the recorder failed: {error}" for error in recorder_errors(folder)]
    if first.get("code") != ended.status and not (first.get("signal") and ended.status < 0):
        notes.append(f"--{name}: the further run ended otherwise than the first one, with {ended.status}")
    parts = read_parts(folder)
    if not parts:
        notes.append(f"--{name}: the further run left no recording")
        return None
    notes += [f"--{name}: {note}" for part in parts for note in part[0]["notes"]]
    return _Again(ended, parts, folder)


# modules before and after each pass


def _with_texts(run: RunFile, arguments: tuple[str, ...], scratch: Path) -> None:
    again = _again(run, "ir", "ir", arguments, scratch)
    if again is None:
        return
    texts: dict[str, int] = {}
    unlike = 0
    for process, part in enumerate(again.parts):
        rows = log_rows(again.folder, part[0]["pid"])
        unlike += _join_texts(run, process, rows, texts)
    run.texts = [Text(number, text) for text, number in texts.items()]
    if unlike:
        run.header["notes"].append(f"--ir: {unlike} passes of the first run did not run in the same order in the"
                                   " second: they have no text")  # fmt: skip


def _join_texts(run: RunFile, process: int, rows: list[Any], texts: dict[str, int]) -> int:
    """Give the passes of one process the texts of the same passes of the further run. Passes are the same when they
    have the same place, depth and name in their thread. Returns how many of the first run have no counterpart.
    """
    numbers = {row[1]: texts.setdefault(row[2], len(texts)) for row in rows if row[0] == "text"}
    ends = {row[1]: row[3:] for row in rows if row[0] == "end"}
    theirs: dict[int, list[tuple[int, str, list[int] | None]]] = {}
    for row in rows:
        if row[0] == "start":
            theirs.setdefault(row[2], []).append((row[3], row[4], ends.get(row[1])))
    by_thread = {thread: iter(found) for thread, found in theirs.items()}
    unlike, broken = 0, set()
    for place, own in enumerate(run.passes):
        if own.process != process:
            continue
        depth, name, end = next(by_thread.get(own.thread, iter(())), (-1, "", None))
        if (depth, name) != (own.depth, own.name) or own.thread in broken:
            broken.add(own.thread)
            unlike += 1
        elif end is not None:
            changed, before, after = end
            run.passes[place] = own._replace(changed=changed, before=numbers[before], after=numbers[after])
    return unlike


# machine code


def _with_native(run: RunFile, switch: Path, arguments: tuple[str, ...], scratch: Path) -> None:
    output = scratch / "callgrind"
    output.mkdir()
    valgrind = (
        "valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--trace-children=yes", "--log-file=/dev/null",
        "--compress-strings=yes", f"--callgrind-out-file={output}/%p",
    )  # fmt: skip
    again = _again(run, "native", f"native:{switch}", (*valgrind, *arguments), scratch)
    if again is None:
        return
    run.header["recorded"]["native"] = "callgrind"
    run.header["native_seconds"] = round(again.ended.seconds, 3)
    functions = _Functions(run)
    for process, part in enumerate(again.parts):
        pid = part[0]["pid"]
        functions.pointers = {
            (row[1], row[2]): (row[4], row[3]) for row in log_rows(again.folder, pid) if row[0] == "pointer"
        }
        for path in sorted(output.glob(f"{pid}*")):
            try:
                edges = read_edges(path)
            except (OSError, ValueError) as error:
                run.header["notes"].append(f"--native: {error}")
                continue
            _add_edges(run, functions, process if process < len(run.processes) else 0, edges)
    if not run.native:
        run.header["notes"].append("--native: callgrind saw no calls of TVM's functions: nothing was compiled")
    hidden = [function for function in run.functions if function.kind == "address"]
    if hidden:
        per_library = ", ".join(
            f"{sum(1 for _ in group)} in {library}"
            for library, group in groupby(sorted(hidden, key=lambda one: one.library), key=lambda one: one.library)
        )
        run.header["notes"].append(f"--native: functions without a name, known by their address only: {per_library}")


def _add_edges(
    run: RunFile, functions: _Functions, process: int, edges: dict[tuple[Place, Place], tuple[int, int]]
) -> None:
    for (caller, callee), (calls, instructions) in edges.items():
        if calls and callee.library.startswith(_OWN_LIBRARIES) and caller.library.startswith(_OWN_LIBRARIES):
            run.native.append(
                NativeCall(process, functions.number(caller), functions.number(callee), calls, instructions)
            )


class _Functions:
    """Numbers functions. `pointers` maps library and address to ("target" or "wrapper", registry key)."""

    def __init__(self, run: RunFile) -> None:
        self._run = run
        self._numbers: dict[tuple[Place, tuple[str, str]], int] = {}
        self.pointers: dict[tuple[str, int], tuple[str, str]] = {}

    def number(self, place: Place) -> int:
        """The number of `place`, in the run's table of functions."""
        named = ("symbol", place.name) if place.name else self._named(place)
        identity = (place, named)
        number = self._numbers.setdefault(identity, len(self._numbers))
        if number == len(self._run.functions):
            self._run.functions.append(Function(number, *named, place.library, place.address, place.file))
        return number

    def _named(self, place: Place) -> tuple[str, str]:
        return self.pointers.get((place.library, place.address), ("address", ""))
