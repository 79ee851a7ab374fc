"""The pages of recorded runs: passes as they nested, FFI calls by key, the busiest edges, what found no symbol."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from xref.model import Id, Lang, XrefError
from xref.site import urls
from xref.site.ir_pages import differences, ir_page, ir_url
from xref.site.links import Line, Linker, SymbolLink
from xref.site.names import CONTAINERS
from xref.site.outputs import Output, data, page
from xref.site.plan import Run
from xref.site.run_passes import PassRow, PassTotal, load_passes, totals
from xref.site.stacks import Edge, call_stacks, pass_stacks
from xref.site.timeline import Slice, timeline
from xref.trace.folder import existing_run
from xref.trace.runfile import read_header

RUNS = "runs/index.js"
SHOWN = 200
"""Rows of the tables of calls; the sentence above each says how many there are."""
_SLOWEST = 12
_KINDS = (
    ("ffi", "FFI calls by key", ("ffi", "callback")),
    ("python", "Busiest calls within Python", ("python",)),
    ("native", "Busiest calls within C++", ("native",)),
)


class EdgeRow(NamedTuple):
    """Calls between two symbols in a run."""

    caller: SymbolLink | None
    callee: SymbolLink
    key: str
    key_href: str | None
    remark: str
    times: int
    total_ns: int | None
    nested: bool
    """Whether calls of the callee may have run inside one another, see `run_nesting`."""


class Edges(NamedTuple):
    """The busiest edges of one kind (`rows`), how many edges there are, and how many calls in all."""

    anchor: str
    heading: str
    rows: list[EdgeRow]
    total: int
    calls: int

    @property
    def timed(self) -> bool:
        """Whether any of them was measured."""
        return any(row.total_ns is not None for row in self.rows)


class RunView(NamedTuple):
    """All that a run's page shows. `slowest`, `containers` and `changed` count a pass once for its name, and
    `containers`, which mainly run other passes, stand in no other list; `compared`: whether the run told of any pass if
    it changed its module; `unmatched_total` counts what the list cuts."""

    run: Run
    passes: list[PassRow]
    picture: Markup
    slowest: list[PassTotal]
    containers: list[PassTotal]
    changed: list[PassTotal]
    compared: bool
    edges: list[Edges]
    unmatched: list[tuple[str, str, int, str]]
    unmatched_total: int
    seconds: float | None
    """How long the command ran, None where the run's file is gone."""
    span_ns: int
    """From the first pass's start to the last one's end."""
    files: list[RanFile]


class RanFile(NamedTuple):
    """A file in a run: functions of it that ran and how often, lines that were seen, the busiest with its count."""

    path: str
    href: str
    functions: int
    calls: int
    lines: int
    busiest: int
    most: int


def view_of(db: sqlite3.Connection, linker: Linker, run: Run) -> RunView:
    """A run's page, ready for its template."""
    keys = _keys_of_symbols(db)
    edges = [
        _edges(db, linker, run.id, kinds, keys if anchor == "ffi" else {}, anchor, heading)
        for anchor, heading, kinds in _KINDS
    ]
    rows = db.execute(
        "SELECT kind, name, count, reason FROM unmatched WHERE run_id = ? ORDER BY count DESC, kind, name", (run.id,)
    ).fetchall()
    edges = [part for part in edges if part.calls or part.anchor != "native"]
    passes = load_passes(db, linker, run.id)
    counted = totals(passes)
    span = max((row.start_ns + row.duration_ns for row in passes), default=0) - min(
        (row.start_ns for row in passes), default=0
    )
    picture = timeline(
        [Slice(row.seq, row.depth, row.name, row.left, row.width, row.duration_ns, row.changed) for row in passes], span
    )
    leaves = [total for total in counted if not total.container]
    slowest = sorted(leaves, key=lambda total: (-total.own_ns, total.name))[:_SLOWEST]
    containers = sorted(
        (total for total in counted if total.container), key=lambda total: (-total.total_ns, total.name)
    )
    changed = [total for total in leaves if total.changed]
    known = any(row.changed is not None for row in passes)
    return RunView(
        run, passes, picture, slowest, containers, changed, known, edges, rows[:SHOWN], len(rows),
        _seconds(linker.plan.db, run.id), span, ran_files(db, linker, run.id),
    )  # fmt: skip


def _seconds(db: Path, run: str) -> float | None:
    try:
        return float(read_header(existing_run(db, run))["seconds"])
    except (XrefError, OSError, ValueError, KeyError):
        return None


def ran_files(db: sqlite3.Connection, linker: Linker, run: str) -> list[RanFile]:
    """The files of the site in which a run was seen, those with most lines first."""
    inside = {
        path: (functions, calls)
        for path, functions, calls in db.execute(
            "SELECT s.path, count(DISTINCT o.callee_id), sum(o.count) FROM observed_calls o"
            " JOIN symbols s ON s.id = o.callee_id WHERE o.run_id = ? AND s.path IS NOT NULL GROUP BY 1", (run,),
        )
    }  # fmt: skip
    found = []
    for path, pairs in heat(db, run).items():
        if path in linker.plan.files_at:
            counts = dict(zip(pairs[::2], pairs[1::2], strict=True))
            busiest = max(counts, key=lambda line: (counts[line], -line))
            href = f"{urls.source_url(path)}?run={quote(run, safe='')}"
            found.append(RanFile(path, href, *inside.get(path, (0, 0)), len(counts), busiest, counts[busiest]))
    return sorted(found, key=lambda file: (-file.lines, -file.calls, file.path))


def _keys_of_symbols(db: sqlite3.Connection) -> dict[Id, tuple[str, str]]:
    """The key, (registry, name), that runs a function: the FFI's, else a method's, else another registry's."""
    rows = db.execute(
        "SELECT symbol_id, registry, min(name) FROM key_defs WHERE symbol_id IS NOT NULL GROUP BY 1, 2"
        " ORDER BY registry = 'ffi', registry = 'method', registry"
    )
    return {id_: (registry, name) for id_, registry, name in rows}


def _key_of(linker: Linker, keys: dict[Id, tuple[str, str]], id_: Id) -> tuple[str, str | None, str]:
    """(name, address, remark) of the key that runs a function. One that another made has the key of that one."""
    at: Id | None = id_
    while at is not None:
        if at in keys:
            registry, name = keys[at]
            remark = "made by this" if at != id_ else "" if registry == "ffi" else registry.replace("_", " ")
            return name, linker.key(registry, name), remark
        if linker.name(at).kind in CONTAINERS:
            break
        at = linker.name(at).parent
    return "", None, "called back from C++" if linker.name(id_).lang != Lang.CPP else "no key"


def _edges(
    db: sqlite3.Connection, linker: Linker, run: str, kinds: tuple[str, ...], keys: dict[Id, tuple[str, str]],
    anchor: str, heading: str,
) -> Edges:  # fmt: skip
    marks = ", ".join("?" * len(kinds))
    rows = db.execute(
        "SELECT caller_id, callee_id, sum(count), sum(total_ns) FROM observed_calls"
        f" WHERE run_id = ? AND kind IN ({marks})"
        " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2", (run, *kinds),
    ).fetchall()  # fmt: skip
    shown = [
        EdgeRow(
            None if caller is None else linker.symbol(caller),
            linker.symbol(callee),
            *_key_of(linker, keys, callee),
            count,
            total,
            callee in linker.plan.nested.get(run, ()),
        )
        for caller, callee, count, total in rows[:SHOWN]
    ]
    return Edges(anchor, heading, shown, len(rows), sum(row[2] for row in rows))


def _title(run: Run) -> str:
    """A run in a list to choose from."""
    return run.id if len(run.id) <= 40 else f"{run.id[:39]}…"


def calls_data(db: sqlite3.Connection, linker: Linker, run: str) -> dict[str, object]:
    """What the flame views and the comparison read: functions by number, edges [caller, callee, count, ns], stacks.

    A caller outside the index is -1, a time that was not measured null.
    """
    rows = db.execute(
        "SELECT caller_id, callee_id, kind IN ('ffi', 'native'), sum(count), sum(total_ns) FROM observed_calls"
        " WHERE run_id = ? AND callee_id IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3", (run,),
    ).fetchall()  # fmt: skip
    edges = [Edge(caller, callee, count, total if timed else None) for caller, callee, timed, count, total in rows]
    ids = sorted({id_ for edge in edges for id_ in edge[:2] if id_ is not None})
    number = {id_: at for at, id_ in enumerate(ids)}
    keys = _keys_of_symbols(db)
    passes = load_passes(db, linker, run)
    return {
        "labels": [linker.label(id_) for id_ in ids], "langs": [linker.name(id_).lang for id_ in ids],
        "shorts": [keys[id_][1] if keys.get(id_, ("",))[0] == "ffi" else linker.name(id_).short for id_ in ids],
        "hrefs": [linker.address(id_) for id_ in ids],
        "edges": [[-1 if edge.caller is None else number[edge.caller], number[edge.callee], edge.times, edge.ns]
                  for edge in edges],
        "passes": [[row.name, row.depth, row.start_ns, row.duration_ns, row.changed, row.href] for row in passes],
        "nested": [number[id_] for id_ in ids if id_ in linker.plan.nested.get(run, ())],
        "totals": [[total.name, total.href, total.times, total.changed, total.total_ns] for total in totals(passes)],
        "stacks": [[frame.parent, number[frame.what], *frame[2:]] for frame in call_stacks(edges)],
        "pass_stacks": [list(frame) for frame in pass_stacks(passes)],
    }  # fmt: skip


class TensorRow(NamedTuple):
    """Calls with tensors at one place: `same` memory came out that had gone in, `different` memory did."""

    caller: SymbolLink | None
    name: str
    name_href: str | None
    site: Line
    same: int
    different: int
    passed: int
    made: int


def tensors(db: sqlite3.Connection, linker: Linker, run: str) -> list[TensorRow]:
    """How tensors crossed the FFI in a run, the busiest places first."""
    rows = db.execute(
        "SELECT caller_id, name, callee_id, path, line, sum(same), sum(different), sum(passed), sum(made)"
        " FROM tensor_crossings WHERE run_id = ? GROUP BY 1, 2, 3, 4, 5"
        " ORDER BY sum(same + different + passed + made) DESC, name, path, line LIMIT ?", (run, SHOWN),
    )  # fmt: skip
    return [
        TensorRow(
            None if caller is None else linker.symbol(caller), name, linker.address(callee) or linker.key("ffi", name),
            linker.place(path, line or 0), *counts,
        )
        for caller, name, callee, path, line, *counts in rows
    ]  # fmt: skip


def heat(db: sqlite3.Connection, run: str) -> dict[str, list[int]]:
    """Path -> line, count, line, count, ...: how often a run called what is defined there, or called from there.

    A pass that ran counts at its definition: C++ runs it, so no call of it may have been seen.
    """
    counts: dict[str, dict[int, int]] = {}
    rows = db.execute(
        "SELECT path, line, sum(count) FROM observed_calls WHERE run_id = ?1 AND path IS NOT NULL AND line > 0"
        " GROUP BY 1, 2 UNION ALL SELECT s.path, s.line, sum(o.count) FROM observed_calls o"
        " JOIN symbols s ON s.id = o.callee_id WHERE o.run_id = ?1 AND s.path IS NOT NULL AND s.line > 0 GROUP BY 1, 2"
        " UNION ALL SELECT s.path, s.line, count(*) FROM passes_run p JOIN symbols s ON s.id = p.symbol_id"
        " WHERE p.run_id = ?1 AND s.path IS NOT NULL AND s.line > 0 GROUP BY 1, 2",
        (run,),
    )
    for path, line, count in rows:
        lines = counts.setdefault(path, {})
        lines[line] = max(count, lines.get(line, 0))
    return {path: [each for pair in sorted(lines.items()) for each in pair] for path, lines in sorted(counts.items())}


def pages(db: sqlite3.Connection, linker: Linker, site: str) -> Iterator[Output]:
    """The list of runs and a page for each."""
    runs = linker.plan.runs
    index = "runs/index.html"
    passes = dict(db.execute("SELECT run_id, count(*) FROM passes_run GROUP BY run_id"))
    calls = dict(db.execute("SELECT run_id, sum(count) FROM observed_calls GROUP BY run_id"))
    rows = [(run, urls.run_url(run.id), passes.get(run.id, 0), calls.get(run.id, 0)) for run in runs]
    native = {run for (run,) in db.execute("SELECT DISTINCT run_id FROM observed_calls WHERE kind = 'native'")}
    yield data(RUNS, [[run.id, _title(run), urls.heat_url(run.id), urls.calls_url(run.id), int(run.id in native)]
                      for run in runs])  # fmt: skip
    yield page(index, "runs.html.j2", title="Runs", site=site, root=urls.root_of(index), runs=rows)
    compare = "runs/compare.html"
    yield page(
        compare, "compare.html.j2", title="Compare two runs", site=site, root=urls.root_of(compare), runs=len(runs)
    )
    for run in runs:
        yield data(urls.heat_url(run.id), heat(db, run.id))
        yield data(urls.calls_url(run.id), calls_data(db, linker, run.id))
        found = differences(linker.plan.db, run.id)
        if found:
            yield ir_page(run.id, found, site)
        url = urls.run_url(run.id)
        yield page(
            url, "run.html.j2", title=f"Run {run.id}", site=site, root=urls.root_of(url),
            view=view_of(db, linker, run), shown=SHOWN, calls_url=urls.calls_url(run.id),
            ir=[each.seq for each in found], ir_url=ir_url(run.id), tensors=tensors(db, linker, run.id),
        )  # fmt: skip
