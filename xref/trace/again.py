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

NATIVE_FACTORS = (3, 60)
"""Least and most times as long as the traced run that the run under callgrind took: examples/fuse.py and
examples/conv2d.py on the four TVMs of docs/tracing.md, 2.8 to 26, and 57 on a busy machine. Importing takes 5 to 15
times as long, compiling 40 to 150 times, since callgrind translates each function of the compiler once: the shorter the
compilation, the more.
"""
NATIVE_LIMIT = 15.0
"""Minutes after which the run under callgrind is ended, unless the user says otherwise."""
_OWN_LIBRARIES = "libtvm"
"""How the names of TVM's libraries begin (its CMakeLists.txt), tvm_ffi's too."""


class Wanted(NamedTuple):
    """Which further runs were asked for. `switch` is the compiled callgrind.c, None without `--native`; that run may
    take `limit` minutes.
    """

    ir: bool
    switch: Path | None
    limit: float


def prepare(*, native: bool, ir: bool, limit: float = NATIVE_LIMIT) -> Wanted:
    """Check that what was asked for can be done, before anything runs.

    Raises `XrefError` (exit code 5) when valgrind is not there, or its header or a C compiler is missing.
    """
    if not native:
        return Wanted(ir, None, limit)
    if shutil.which("valgrind") is None:
        message = (
            "--native needs valgrind, which is not there: install it (`apt install valgrind`, or your system's way)"
        )
        raise XrefError(message, ExitCode.UNUSABLE_INPUT)
    switch = build_shim(part="callgrind")
    if switch.path is None:
        raise XrefError(f"--native: {switch.why_not} (valgrind/callgrind.h comes with valgrind)",
                        ExitCode.UNUSABLE_INPUT)  # fmt: skip
    return Wanted(ir, switch.path, limit)


def add_further_runs(run: RunFile, wanted: Wanted, arguments: tuple[str, ...], scratch: Path, say: Say) -> None:
    """Run the command again for each thing wanted, and add what it gave to `run`, or a note that says why not."""
    seconds = run.header["seconds"]
    if wanted.ir:
        say(f"--ir: the command runs once more (it took {seconds:.1f} s), its output is thrown away")
        _with_texts(run, arguments, scratch)
    if wanted.switch is not None:
        low, high = NATIVE_FACTORS
        say(
            f"--native: the command runs once more under callgrind, its output is thrown away. That takes {low} to"
            f" {high} times as long: {_told(low * seconds)} to {_told(high * seconds)}. After"
            f" {_told(60 * wanted.limit)} it is ended, and what it did until then is kept (--native-limit)"
        )
        _with_native(run, wanted.switch, 60 * wanted.limit, arguments, scratch)


def _told(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.3g} min"


class _Again(NamedTuple):
    ended: Ended
    parts: list[Part]
    folder: Path


def _again(
    run: RunFile, name: str, mode: str, arguments: tuple[str, ...], scratch: Path, limit: float | None = None
) -> _Again | None:
    """The further run, `limit` in seconds; None, and a note, when it left nothing."""
    place = scratch / name
    place.mkdir()
    ended = run_recorded(arguments, Shim(None, ""), place, mode=mode, limit=limit)
    folder = place / "parts"
    notes, first = run.header["notes"], run.header["exit"]
    notes += [f"--{name}: the recorder failed: {error}" for error in recorder_errors(folder)]
    if ended.cut:
        notes.append(f"--{name}: the further run was ended after {_told(ended.seconds)}, its limit: what it would have"
                     f" done after that is missing (--{name}-limit MINUTES gives it more time)")  # fmt: skip
    elif first.get("code") != ended.status and not (first.get("signal") and ended.status < 0):
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


def _with_native(run: RunFile, switch: Path, limit: float, arguments: tuple[str, ...], scratch: Path) -> None:
    output = scratch / "callgrind"
    output.mkdir()
    valgrind = (
        "valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--trace-children=yes", "--log-file=/dev/null",
        "--compress-strings=yes", f"--callgrind-out-file={output}/%p",
    )  # fmt: skip
    again = _again(run, "native", f"native:{switch}", (*valgrind, *arguments), scratch, limit)
    if again is None:
        return
    run.header["recorded"]["native"] = "callgrind"
    run.header["native_seconds"] = round(again.ended.seconds, 3)
    functions = _Functions(run)
    for process, part in enumerate(again.parts):
        pid = part[0]["pid"]
        functions.pointers = _pointers(log_rows(again.folder, pid))
        for path in sorted(output.glob(f"{pid}*")):
            try:
                edges = read_edges(path)
            except (OSError, ValueError) as error:
                run.header["notes"].append(f"--native: {error}")
                continue
            _add_edges(run, functions, process if process < len(run.processes) else 0, edges)
    if not run.native:
        when = " until then" if again.ended.cut else ""
        run.header["notes"].append(f"--native: callgrind saw no calls of TVM's functions: nothing was compiled{when}")
    hidden = [function for function in run.functions if function.kind == "address"]
    if hidden:
        per_library = ", ".join(
            f"{sum(1 for _ in group)} in {library}"
            for library, group in groupby(sorted(hidden, key=lambda one: one.library), key=lambda one: one.library)
        )
        run.header["notes"].append(f"--native: functions without a name, known by their address only: {per_library}")


def _pointers(rows: list[Any]) -> dict[tuple[str, int], tuple[str, str]]:
    """Library and address -> ("target" or "wrapper", registry key), by the last table in a log: one of the registry
    after the import of tvm, for a run that is killed, and one of its end, where code may serve more keys.
    """
    starts = [place for place, row in enumerate(rows) if row[0] == "pointers"]
    return {(row[1], row[2]): (row[4], row[3]) for row in rows[starts[-1] if starts else 0 :] if row[0] == "pointer"}


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
