"""What `xref runs` and `xref run` say of recorded runs: the run file tells what ran, the index what it joined to."""

from __future__ import annotations

import shlex
import sqlite3
from collections import defaultdict
from contextlib import closing
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

from xref.model import ExitCode, XrefError
from xref.store import open_index
from xref.trace.collect import counts
from xref.trace.folder import headers
from xref.trace.runfile import Code, NativeCall, RunFile

Object = dict[str, Any]
_KINDS = ("python", "ffi", "callback", "native")


class Joined(NamedTuple):
    """What an index knows of a run: edges and calls by kind, the same of what has no symbol by (kind, reason), and the
    note, which begins with the version skew.
    """

    edges: dict[str, tuple[int, int]]
    unmatched: list[tuple[str, str, int, int]]
    note: str


def joined_in(db_path: Path, run_id: str) -> Joined | None:
    """What the index at `db_path` knows of the run; None when there is no index, or it does not know the run."""
    try:
        db = open_index(db_path)
    except XrefError:
        return None
    with closing(db):
        run = db.execute("SELECT note FROM runs WHERE id = ?", (run_id,)).fetchone()
        if run is None:
            return None
        edges = db.execute(
            "SELECT kind, count(*), sum(count) FROM observed_calls WHERE run_id = ? GROUP BY kind", (run_id,)
        )
        unmatched = db.execute(
            "SELECT kind, reason, count(*), sum(count) FROM unmatched WHERE run_id = ? GROUP BY kind, reason"
            " ORDER BY kind, 4 DESC",
            (run_id,),
        ).fetchall()
        return Joined({kind: (rows, calls) for kind, rows, calls in edges}, unmatched, str(run[0]))


# the list of runs


def list_object(db_path: Path) -> Object:
    """Every run file beside the index, oldest first, and whether the index knows it."""
    runs: list[Object] = []
    known = _known_runs(db_path)
    for path, header in headers(db_path):
        if isinstance(header, XrefError):
            runs.append({"id": path.name, "error": str(header)})
            continue
        runs.append(
            {
                "id": header["id"], "started": header["started"], "seconds": header["seconds"],
                "command": header["command"], "tvm": header["tvm"]["version"] if header["tvm"] else None,
                "python": header["python"].get("version"), "exit": header["exit"],
                "counts": header.get("counts", {}), "joined": header["id"] in known,
            }
        )  # fmt: skip
    return {"schema": 1, "runs": runs}


def _known_runs(db_path: Path) -> set[str]:
    try:
        with closing(open_index(db_path)) as db:
            return {row[0] for row in db.execute("SELECT id FROM runs")}
    except (XrefError, sqlite3.Error):
        return set()


def list_lines(runs: list[Object]) -> list[str]:
    """The same, a run in two lines."""
    lines = []
    for run in runs:
        if "error" in run:
            lines += [run["id"], f"  {run['error']}"]
            continue
        counted = [
            f"{(number := run['counts'].get(name, 0))} {one if number == 1 else many}"
            for name, one, many in (("passes", "pass", "passes"), ("ffi_keys", "FFI function", "FFI functions"),
                                    ("python_edges", "Python edge", "Python edges"))
        ]  # fmt: skip
        what = ", ".join([f"TVM {run['tvm'] or '-'}", f"Python {run['python']}", *counted])
        state = "" if run["joined"] else "; not in the index"
        lines += [f"{run['id']}  {shlex.join(run['command'])}", f"  {what}, exit {exit_text(run['exit'])}{state}"]
    return lines


def exit_text(ended: Object) -> str:
    """`0`, or the name of the signal."""
    return str(ended.get("code", ended.get("signal", "unknown")))


# one run


def run_object(run: RunFile, joined: Joined | None, limit: int) -> Object:
    """All that `xref run` shows; lists of edges are cut to `limit` (0: whole)."""
    header = run.header
    result: Object = {
        "schema": 1,
        "run": {key: header[key] for key in ("id", "command", "cwd", "started", "seconds", "exit", "python", "tvm",
                                             "tvm_ffi", "recorded", "notes")},
        "counts": counts(run),
        "joined": None,
        "passes": [
            {"process": row.process, "seq": row.seq, "depth": row.depth, "name": row.name, "opt_level": row.opt_level,
             "start_ns": row.start, "duration_ns": row.ns, "changed": _CHANGED_JSON[row.changed],
             "before": row.before, "after": row.after}
            for row in run.passes
        ],
        "ffi": [
            {"name": name, "kind": kind, "calls": calls, "total_ns": ns}
            for name, kind, calls, ns in _hot_ffi(run, limit)
        ],
        "python": [
            {"caller": _code_text(run, caller), "line": line, "callee": _code_text(run, callee), "calls": calls}
            for caller, line, callee, calls in _hot_python(run, limit)
        ],
        "tensors": [
            {"name": name, "site": site, "same": same, "different": different, "passed": passed, "made": made}
            for name, site, same, different, passed, made in _tensor_sites(run)
        ],
        "native": [
            {"caller": _machine_code(run, row.caller), "callee": _machine_code(run, row.callee), "calls": row.calls,
             "instructions": row.instructions}
            for row in _hot_native(run, limit)
        ],
        "texts": [text.text for text in run.texts],
    }  # fmt: skip
    if joined is not None:
        result["joined"] = {
            "edges": {kind: {"edges": edges, "calls": calls} for kind, (edges, calls) in joined.edges.items()},
            "unmatched": [
                {"kind": kind, "reason": reason, "names": names, "calls": calls}
                for kind, reason, names, calls in joined.unmatched
            ],
            "note": joined.note,
        }
    return result


def _hot_ffi(run: RunFile, limit: int) -> list[tuple[str, str, int, int]]:
    totals: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for row in run.ffi:
        totals[row.key][0] += row.calls
        totals[row.key][1] += row.ns
    ordered = sorted(totals.items(), key=lambda item: (-item[1][1], item[0]))[: limit or None]
    return [(run.keys[key].name, run.keys[key].kind, calls, ns) for key, (calls, ns) in ordered]


def _hot_python(run: RunFile, limit: int) -> list[tuple[Code, int, Code, int]]:
    """The most frequent calls of functions of TVM and tvm_ffi: caller, line, callee, calls."""
    modules = (run.header["tvm"], run.header["tvm_ffi"])
    folders = tuple(f"{Path(module['path']).parent}/" for module in modules if module and module.get("path"))
    own = [run.files[code.file].path.startswith(folders) for code in run.codes]
    rows = sorted((row for row in run.python if own[row.callee]), key=lambda row: (-row.calls, row.caller, row.line))
    return [(run.codes[row.caller], row.line, run.codes[row.callee], row.calls) for row in rows[: limit or None]]


def _hot_native(run: RunFile, limit: int) -> list[NativeCall]:
    """The calls between C++ functions in which the most instructions were executed, callees included."""
    return sorted(run.native, key=lambda row: (-row.instructions, row.caller, row.callee))[: limit or None]


def _machine_code(run: RunFile, number: int) -> str:
    function = run.functions[number]
    if function.kind == "symbol":
        return function.name
    place = f"0x{function.address:x} of {function.library}"
    return place if function.kind == "address" else f"{function.name} ({function.kind}, {place})"


def _tensor_sites(run: RunFile) -> list[tuple[str, str, int, int, int, int]]:
    """Name of the function, site, and what became of the memory of its tensors; sites of the run's own code first."""
    found = []
    for row in run.tensors:
        site = "inside the FFI call" if row.via is not None else "no Python frame"
        if row.caller is not None:
            site = f"{_code_text(run, run.codes[row.caller])}, line {row.line}"
        found.append((run.keys[row.key].name, site, row.same, row.different, row.passed, row.made))
    return sorted(found, key=lambda item: (item[1], item[0]))


def text_lines(run: RunFile, seq: int) -> list[str]:
    """What the pass with this number in its process did to its module, as a unified diff of the two texts.

    Raises `XrefError` (exit code 1) when there is no such pass, or its run has no texts.
    """
    row = next((row for row in run.passes if row.seq == seq), None)
    if row is None:
        raise XrefError(f"run {run.id} has no pass {seq}: `xref run {run.id} --json` lists them", ExitCode.NOTHING)
    if row.before is None or row.after is None:
        message = f"run {run.id} has no text of pass {seq}, {row.name}: record it with `xref trace --ir`"
        raise XrefError(message, ExitCode.NOTHING)
    before, after = (run.texts[number].text.splitlines() for number in (row.before, row.after))
    if before == after:
        return [f"{row.name} did not change the module:", *before]
    return list(unified_diff(before, after, f"before {row.name}", f"after {row.name}", lineterm="", n=10))


def _code_text(run: RunFile, code: Code) -> str:
    file = run.files[code.file]
    return f"{file.relative or file.path}:{(code.qualname or code.name).replace('.<locals>', '')}"


def run_lines(run: RunFile, joined: Joined | None, has_index: bool, limit: int) -> list[str]:
    """A run in words."""
    header, numbers = run.header, counts(run)
    tvm = f"TVM {run.tvm_version} ({header['tvm']['path']})" if header["tvm"] else "no TVM"
    ffi = f", tvm_ffi {header['tvm_ffi']['version']}" if header["tvm_ffi"] else ""
    lines = [
        f"{run.id}  {shlex.join(header['command'])}",
        f"  {header['started']}, {header['seconds']:.1f} s, exit {exit_text(header['exit'])}",
        f"  {tvm}{ffi}, Python {header['python'].get('version', '')}",
        *(f"  note: {note}" for note in header["notes"]),
        "recorded",
        *_recorded_lines(numbers, header["recorded"]),
        *_joined_lines(joined, has_index, "; ".join(header["notes"])),
        f"passes ({len(run.passes)}; duration, number, * for those that changed the module)",
        *_pass_lines(run, limit),
        "FFI functions by time, everything inside them included",
        *(
            f"  {_ms(ns)}  {calls:>7}x  {name or '(no name)'}{_KIND_TEXT[kind]}"
            for name, kind, calls, ns in _hot_ffi(run, limit)
        ),
        "Python calls of TVM's functions by number",
    ]
    for caller, line, callee, calls in _hot_python(run, limit):
        lines.append(f"  {calls:>7}x  {_code_text(run, caller)}, line {line} -> {_code_text(run, callee)}")
    return [*lines, *_tensor_lines(run, limit), *_native_lines(run, limit)]


def _tensor_lines(run: RunFile, limit: int) -> list[str]:
    if not run.tensors:
        return []
    lines = ["tensors across the FFI, by site: calls that kept the memory, took other memory, got it, made it"]
    rows = _tensor_sites(run)
    for name, site, same, different, passed, made in rows[: limit or None]:
        numbers = (("same", same), ("different", different), ("passed", passed), ("made", made))
        told = ", ".join(f"{word} {number}" for word, number in numbers if number)
        lines.append(f"  {name or '(no name)'}: {told}  at {site}")
    return lines


def _native_lines(run: RunFile, limit: int) -> list[str]:
    if not run.native:
        return []
    lines = ["C++ calls by instructions executed, everything inside them included"]
    for row in _hot_native(run, limit):
        callee, caller = _machine_code(run, row.callee), _machine_code(run, row.caller)
        lines.append(f"  {row.instructions:>13,}  {row.calls:>7}x  {caller} -> {callee}")
    return lines


_KIND_TEXT = {
    "global": "", "method": " (method)", "attribute": " (an attribute)", "python": " (a Python function)", "named": "",
    "returned": " (a function that it returned)", "unknown": "",
}  # fmt: skip


def _recorded_lines(numbers: dict[str, int], recorded: Object) -> list[str]:
    how = {
        "python": recorded.get("python"),
        "ffi": recorded.get("ffi") or "not recorded",
        "callback": "",
        "native": recorded.get("native"),
    }
    lines = []
    for kind in ("python", "ffi", "callback", *(["native"] if numbers["native_edges"] else [])):
        by = f", by {how[kind]}" if how[kind] else ""
        lines.append(f"  {kind:<9}{numbers[f'{kind}_edges']:>8} edges {numbers[f'{kind}_calls']:>10} calls{by}")
    return lines


def _joined_lines(joined: Joined | None, has_index: bool, notes: str) -> list[str]:
    if joined is None:
        hint = "the index does not know this run: `xref run --import FILE`, or `xref index` again" if has_index else (
            "there is no index: `xref index PATH` will join this run"
        )  # fmt: skip
        return ["joined", f"  {hint}"]
    skew = joined.note.removesuffix(notes).removesuffix("; ")
    lines = ["joined to the index", *([f"  {skew}"] if skew else [])]
    for kind in _KINDS:
        if kind in joined.edges:
            edges, calls = joined.edges[kind]
            lines.append(f"  {kind:<9}{edges:>8} edges {calls:>10} calls")
    if joined.unmatched:
        lines.append("not joined, by reason")
        lines += [
            f"  {kind:<9}{names:>8} names {calls:>10} calls: {why}" for kind, why, names, calls in joined.unmatched
        ]
    return lines


def _pass_lines(run: RunFile, limit: int) -> list[str]:
    ordered = sorted(run.passes, key=lambda row: (row.process, row.start, row.seq))
    shown = ordered[: limit or None]
    lines = [f"  {_ms(row.ns)} {row.seq:>4}{_CHANGED[row.changed]} {'  ' * row.depth}{row.name}" for row in shown]
    return lines + (
        [f"  ... {len(ordered) - len(shown)} more (--limit 0 shows all)"] if len(shown) < len(ordered) else []
    )


_CHANGED_JSON = {None: None, 0: False, 1: True}
_CHANGED = {None: " ", 0: " ", 1: "*"}


def _ms(ns: int | None) -> str:
    return f"{ns / 1e6:>10.3f} ms" if ns is not None else " did not end "
