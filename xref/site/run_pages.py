"""The pages of recorded runs: passes as they nested, FFI calls by key, the busiest edges, what found no symbol."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from xref.model import Id
from xref.site import urls
from xref.site.assets import render
from xref.site.links import Linker, SymbolLink
from xref.site.plan import Run
from xref.site.symbol_pages import Output

SHOWN = 200
"""Rows of the tables of calls; the sentence above each says how many there are."""
_DEEPEST = 8
_KINDS = (
    ("ffi", "FFI calls by key", ("ffi", "callback")),
    ("python", "Busiest calls within Python", ("python",)),
    ("native", "Busiest calls within C++", ("native",)),
)


class PassRow(NamedTuple):
    """A pass as it ran. `left` and `width` place its bar, in percent of the time from the first pass to the last."""

    seq: int
    depth: int
    name: str
    href: str | None
    start_ns: int
    duration_ns: int
    changed: int | None
    left: float
    width: float


class EdgeRow(NamedTuple):
    """Calls between two symbols in a run."""

    caller: SymbolLink | None
    callee: SymbolLink
    key: str
    key_href: str | None
    times: int
    total_ns: int | None


class Edges(NamedTuple):
    """The busiest edges of one kind (`rows`), how many edges there are, and how many calls in all."""

    anchor: str
    heading: str
    rows: list[EdgeRow]
    total: int
    calls: int


class RunView(NamedTuple):
    """All that a run's page shows. `unmatched_total` counts what the list cuts."""

    run: Run
    passes: list[PassRow]
    edges: list[Edges]
    unmatched: list[tuple[str, str, int, str]]
    unmatched_total: int


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
    return RunView(run, _passes(db, linker, run.id), edges, rows[:SHOWN], len(rows))


def _keys_of_symbols(db: sqlite3.Connection) -> dict[Id, str]:
    rows = db.execute("SELECT symbol_id, min(name) FROM key_defs WHERE registry = 'ffi' AND symbol_id IS NOT NULL"
                      " GROUP BY symbol_id")  # fmt: skip
    return dict(rows.fetchall())


def _passes(db: sqlite3.Connection, linker: Linker, run: str) -> list[PassRow]:
    rows = db.execute(
        "SELECT seq, depth, name, symbol_id, start_ns, duration_ns, changed FROM passes_run WHERE run_id = ?"
        " ORDER BY seq",
        (run,),
    ).fetchall()
    if not rows:
        return []
    begin = min(row[4] for row in rows)
    span = max(1, max(row[4] + row[5] for row in rows) - begin)
    return [
        PassRow(seq, min(depth, _DEEPEST), name, linker.address(symbol) or linker.key("pass", name), start, duration,
                changed, round(100 * (start - begin) / span, 2), round(100 * duration / span, 2))
        for seq, depth, name, symbol, start, duration, changed in rows
    ]  # fmt: skip


def _edges(
    db: sqlite3.Connection, linker: Linker, run: str, kinds: tuple[str, ...], keys: dict[Id, str], anchor: str,
    heading: str,
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
            keys.get(callee, ""),
            linker.key("ffi", keys[callee]) if callee in keys else None,
            count,
            total,
        )
        for caller, callee, count, total in rows[:SHOWN]
    ]
    return Edges(anchor, heading, shown, len(rows), sum(row[2] for row in rows))


def pages(db: sqlite3.Connection, linker: Linker, site: str) -> Iterator[Output]:
    """The list of runs and a page for each."""
    runs = linker.plan.runs
    index = "runs/index.html"
    passes = dict(db.execute("SELECT run_id, count(*) FROM passes_run GROUP BY run_id"))
    calls = dict(db.execute("SELECT run_id, sum(count) FROM observed_calls GROUP BY run_id"))
    rows = [(run, urls.run_url(run.id), passes.get(run.id, 0), calls.get(run.id, 0)) for run in runs]
    yield Output(index, render("runs.html.j2", title="Runs", site=site, root=urls.root_of(index), runs=rows))
    for run in runs:
        url = urls.run_url(run.id)
        yield Output(url, render("run.html.j2", title=f"Run {run.id}", site=site, root=urls.root_of(url),
                                 view=view_of(db, linker, run), shown=SHOWN))  # fmt: skip
