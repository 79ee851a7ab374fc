"""The whole call graph in a few arrays, for what looks at many neighbours: drawings, counts, who deserves a page.

An edge stands for all sites of one caller, callee, evidence and key. It keeps its first site and the number of them.
Small enough (some 10 MB for TVM) to be handed to every worker process.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from xref.graph import ENCLOSES
from xref.model import Evidence, Id

KINDS = (*Evidence, ENCLOSES, "observed")
"""Evidence by number. `encloses`: a function and a lambda written in it; `observed`: seen in a run only."""
_NUMBER = {kind: number for number, kind in enumerate(KINDS)}


class Edge(NamedTuple):
    """`file` is a position in `SitePlan.files`, -1 when the site is unknown. `in_macro`: every site is an expansion."""

    caller: Id
    callee: Id
    evidence: str
    via: str
    file: int
    line: int
    sites: int
    in_macro: bool


class CallGraph:
    """Edges by caller and by callee; neighbours come in order of id, so that what is made of them is reproducible."""

    def __init__(self, rows: list[tuple[Id, Id, int, str, int, int, int, bool]]) -> None:
        rows.sort()
        self._ids = sorted({row[0] for row in rows} | {row[1] for row in rows})
        self._number = {id_: number for number, id_ in enumerate(self._ids)}
        vias = sorted({row[3] for row in rows})
        via_number = {via: number for number, via in enumerate(vias)}
        self._vias = vias
        self._caller = array("i", (self._number[row[0]] for row in rows))
        self._callee = array("i", (self._number[row[1]] for row in rows))
        self._kind = bytes(row[2] for row in rows)
        self._via = array("i", (via_number[row[3]] for row in rows))
        self._file = array("i", (row[4] for row in rows))
        self._line = array("i", (row[5] for row in rows))
        self._sites = array("i", (row[6] for row in rows))
        self._macro = bytes(row[7] for row in rows)
        self._out = self._starts(self._caller)
        by_callee = sorted(range(len(rows)), key=self._callee.__getitem__)
        self._incoming = array("i", by_callee)
        self._in = self._starts(self._callee)

    def _starts(self, ends: array[int]) -> array[int]:
        counts = array("i", bytes(4 * (len(self._ids) + 1)))
        for number in ends:
            counts[number + 1] += 1
        return array("i", accumulate(counts))

    def __len__(self) -> int:
        return len(self._caller)

    @property
    def ids(self) -> list[Id]:
        """Every caller and callee, in order."""
        return self._ids

    def count(self, evidence: str) -> int:
        """Edges with one kind of evidence."""
        return self._kind.count(_NUMBER[evidence])

    def _edge(self, position: int) -> Edge:
        return Edge(
            self._ids[self._caller[position]],
            self._ids[self._callee[position]],
            KINDS[self._kind[position]],
            self._vias[self._via[position]],
            self._file[position],
            self._line[position],
            self._sites[position],
            bool(self._macro[position]),
        )

    def callees(self, id_: Id) -> Iterator[Edge]:
        """The edges that leave a symbol."""
        number = self._number.get(id_)
        if number is not None:
            for position in range(self._out[number], self._out[number + 1]):
                yield self._edge(position)

    def callers(self, id_: Id) -> Iterator[Edge]:
        """The edges that enter a symbol."""
        number = self._number.get(id_)
        if number is not None:
            for position in range(self._in[number], self._in[number + 1]):
                yield self._edge(self._incoming[position])

    def caller_counts(self) -> dict[Id, int]:
        """How many functions call each symbol, guesses by name aside."""
        return self._distinct(self._callee, self._caller)

    def callee_counts(self) -> dict[Id, int]:
        """How many functions each symbol calls, guesses by name and macro expansions aside."""
        return self._distinct(self._caller, self._callee, skip_macros=True)

    def _distinct(self, near: array[int], far: array[int], *, skip_macros: bool = False) -> dict[Id, int]:
        weak = _NUMBER[Evidence.NAME], _NUMBER[ENCLOSES]
        pairs = {
            (near[at], far[at])
            for at in range(len(near))
            if self._kind[at] not in weak and not (skip_macros and self._macro[at]) and near[at] != far[at]
        }
        counts: dict[Id, int] = {}
        for number, _ in pairs:
            id_ = self._ids[number]
            counts[id_] = counts.get(id_, 0) + 1
        return counts


def load_graph(db: sqlite3.Connection, files: dict[str, int]) -> CallGraph:
    """The graph of an index: static calls, lambdas in their functions, and what only runs saw."""
    macros = set(db.execute("SELECT path, line, col FROM refs WHERE role = 'macro'"))
    edges: dict[tuple[Id, Id, int, str], list[int]] = {}
    rows = db.execute("SELECT caller_id, callee_id, evidence, via, path, line, col FROM calls ORDER BY path, line, col")
    for caller, callee, evidence, via, path, line, col in rows:
        kind = _NUMBER[evidence]
        key = (caller, callee, kind, via if evidence in (Evidence.REGISTRY, Evidence.DISPATCH) else "")
        expanded = (path, line, col) in macros
        known = edges.get(key)
        if known is None:
            edges[key] = [files.get(path, -1), line, 1, expanded]
        else:
            known[2] += 1
            known[3] &= expanded
    lambdas = db.execute(
        "SELECT parent_id, id, path, line FROM symbols"
        " WHERE kind = 'lambda' AND parent_id IS NOT NULL AND path IS NOT NULL"
    )
    for parent, id_, path, line in lambdas:
        edges.setdefault((parent, id_, _NUMBER[ENCLOSES], ""), [files.get(path, -1), line, 1, False])
    pairs = {(caller, callee) for caller, callee, _, _ in edges}
    observed = db.execute(
        "SELECT caller_id, callee_id, min(coalesce(path, '')), min(line), count(*) FROM observed_calls"
        " WHERE caller_id IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2"
    )
    for caller, callee, path, line, sites in observed:
        if (caller, callee) not in pairs:
            edges[caller, callee, _NUMBER["observed"], ""] = [files.get(path, -1), line, sites, False]
    return CallGraph([(*key, value[0], value[1], value[2], bool(value[3])) for key, value in edges.items()])


def load_observed(db: sqlite3.Connection) -> dict[tuple[Id, Id], dict[str, int]]:
    """(caller, callee) -> run -> number of calls, over all threads and sites."""
    result: dict[tuple[Id, Id], dict[str, int]] = {}
    rows = db.execute(
        "SELECT caller_id, callee_id, run_id, sum(count) FROM observed_calls WHERE caller_id IS NOT NULL"
        " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    for caller, callee, run, count in rows:
        result.setdefault((caller, callee), {})[run] = count
    return result
