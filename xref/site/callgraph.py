"""The whole call graph in a few arrays, for what looks at many neighbours: drawings, counts, who deserves a page.

An edge stands for all sites of one caller, callee, evidence and key. It keeps its first site and the number of them.
Small enough (some 10 MB for TVM) to be handed to every worker process.
"""

from __future__ import annotations

import sqlite3
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, compress, repeat
from operator import eq, gt
from typing import NamedTuple

from xref.graph import ENCLOSES
from xref.model import Evidence, Id

KINDS = (*Evidence, ENCLOSES, "observed")
"""Evidence by number. `encloses`: a function and a lambda written in it; `observed`: seen in a run only."""
_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_SURE = bytes(kind not in (Evidence.NAME, ENCLOSES) for kind in KINDS).ljust(256, b"\0")
"""1 for the numbers of the kinds that count."""
_COL_BITS, _LINE_BITS = 24, 24
_PLACE_BITS = _COL_BITS + _LINE_BITS
"""A site as one number that sorts like the code: position of the file + 1, line, column."""
_MARK_MASK = (1 << 61) - 1
_LINE_MASK = (1 << _LINE_BITS) - 1


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


class Columns(NamedTuple):
    """Edges, field by field: `source` is the position of the caller in what was asked for, `callee` that in
    `CallGraph.ids`, `kind` a number as in `KINDS`; the others are as in `Edge`."""

    source: list[int]
    via: list[str]
    callee: list[int]
    kind: list[int]
    file: list[int]
    line: list[int]
    macro: list[int]


class CallGraph:
    """Edges by caller and by callee; neighbours come in order of id, so that what is made of them is reproducible."""

    def __init__(self, edges: Sequence[tuple[Id, Id, int, str, int, int, int]]) -> None:
        """`edges` in order: caller, callee, number of the kind, key, first site (one number, see `_PLACE_BITS`), how
        many sites, how many of them are expansions of macros; the first four tell an edge from all others."""
        callers, callees, kinds, keys, places, sites, expanded = zip(*edges, strict=True) if edges else ((),) * 7
        self._ids: list[Id] = sorted({*callers, *callees})
        self._number = number = {id_: at for at, id_ in enumerate(self._ids)}
        self._vias = sorted(set(keys))
        via_number = {via: at for at, via in enumerate(self._vias)}
        self._caller = array("i", map(number.__getitem__, callers))
        self._callee = array("i", map(number.__getitem__, callees))
        self._kind = bytes(kinds)
        self._via = array("i", map(via_number.__getitem__, keys))
        self._file = array("i", [(place >> _PLACE_BITS) - 1 for place in places])
        self._line = array("i", [(place >> _COL_BITS) & _LINE_MASK for place in places])
        self._sites = array("i", sites)
        self._macro = bytes(map(eq, sites, expanded))
        self._out = self._starts(self._caller)
        self._incoming = array("i", sorted(range(len(edges)), key=self._callee.__getitem__))
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

    def leaving(self, ids: Sequence[Id]) -> Columns:
        """The edges that leave each of some symbols, in their order: for whoever takes all of the graph."""
        starts = [self._number[id_] for id_ in ids]
        spans = [range(self._out[number], self._out[number + 1]) for number in starts]
        at = list(chain.from_iterable(spans))

        def column(values: Sequence[int]) -> list[int]:
            return list(map(values.__getitem__, at))

        source = list(chain.from_iterable(map(repeat, range(len(ids)), map(len, spans))))
        via = list(map(self._vias.__getitem__, column(self._via)))
        values = (self._callee, self._kind, self._file, self._line, self._macro)
        return Columns(source, via, *map(column, values))

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
        return self._distinct(self._callee, self._caller, self._kind.translate(_SURE))

    @cached_property
    def callee_counts(self) -> dict[Id, int]:
        """How many functions each symbol calls, guesses by name and macro expansions aside."""
        return self._distinct(self._caller, self._callee, bytes(map(gt, self._kind.translate(_SURE), self._macro)))

    def edge_marks(self, files: Sequence[int]) -> dict[Id, tuple[int, int]]:
        """How many call sites there are of and in each symbol, and a number that changes with its edges: which, of what
        kind, through what, in which file, how many sites. `files` are numbers that tell files in every index."""
        counts, marks = [0] * len(self._ids), [0] * len(self._ids)
        few = [id_ & _MARK_MASK for id_ in self._ids]
        vias = [zlib.crc32(via.encode("utf-8", "surrogatepass")) for via in self._vias]
        at = [*files, 0]  # -1: nowhere
        for caller, callee, kind, via, file, sites in zip(
            self._caller, self._callee, self._kind, self._via, self._file, self._sites, strict=True
        ):
            edge = vias[via] + at[file] + sites * 131 + kind
            counts[caller] += sites
            counts[callee] += sites
            marks[caller] += edge * few[callee]
            marks[callee] += edge * few[caller]
        return {id_: (count, mark & _MARK_MASK) for id_, count, mark in zip(self._ids, counts, marks, strict=True)}

    def _distinct(self, near: array[int], far: array[int], chosen: bytes) -> dict[Id, int]:
        """How many others are at the far end of the `chosen` edges of each symbol (a byte for each edge, 0 or 1)."""
        size = len(self._ids)
        ends = compress(zip(near, far, strict=True), chosen)
        pairs = {one * size + other for one, other in ends if one != other}
        counts = Counter([pair // size for pair in pairs])
        return {self._ids[number]: count for number, count in sorted(counts.items())}


def load_graph(db: sqlite3.Connection, files: Mapping[str, int]) -> CallGraph:
    """The graph of an index: static calls, lambdas in their functions, and what only runs saw."""
    place = {id_: (files.get(path, -1) + 1) << _PLACE_BITS for id_, path in db.execute("SELECT id, path FROM file")}
    edges = _static_edges(db, place)
    lambdas = db.execute(
        "SELECT parent_id, id, file_id, line FROM symbol"
        " WHERE kind = 'lambda' AND parent_id IS NOT NULL AND file_id IS NOT NULL"
    )
    for parent, id_, file, line in lambdas:
        edges.append((parent, id_, _NUMBER[ENCLOSES], "", place[file] + (line << _COL_BITS), 1, 0))
    edges.sort()
    observed = db.execute(
        "SELECT caller_id, callee_id, min(coalesce(path, '')), min(line), count(*) FROM observed_calls"
        " WHERE caller_id IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2"
    )
    alone = []
    for caller, callee, path, line, sites in observed:
        at = bisect_left(edges, (caller, callee))
        if edges[at : at + 1] and edges[at][:2] == (caller, callee):
            continue
        site = ((files.get(path, -1) + 1) << _PLACE_BITS) + (line << _COL_BITS)
        alone.append((caller, callee, _NUMBER["observed"], "", site, sites, 0))
    return CallGraph(sorted(edges + alone) if alone else edges)


def _static_edges(db: sqlite3.Connection, place: Mapping[int, int]) -> list[tuple[Id, Id, int, str, int, int, int]]:
    """The edges that calls make, in order. SQLite adds up the sites: half a million are no rows of ours."""
    db.execute("CREATE TEMP TABLE site_place(file_id INTEGER PRIMARY KEY, first INTEGER)")
    db.execute("CREATE TEMP TABLE site_macro(site INTEGER PRIMARY KEY)")
    try:
        db.executemany("INSERT INTO site_place VALUES (?, ?)", place.items())
        db.execute(
            f"INSERT OR IGNORE INTO site_macro SELECT p.first + (r.line << {_COL_BITS}) + r.col"
            " FROM ref r JOIN site_place p ON p.file_id = r.file_id WHERE r.role = 'macro'"
        )
        number = " ".join(f"WHEN '{kind}' THEN {number}" for kind, number in _NUMBER.items())
        return db.execute(
            f"SELECT caller_id, callee_id, CASE evidence {number} END,"
            " CASE WHEN evidence IN (?, ?) THEN via ELSE '' END, min(site), count(*), count(m.site)"
            " FROM (SELECT c.*, p.first + (c.line << ?) + c.col AS site"
            "       FROM call c JOIN site_place p ON p.file_id = c.file_id) LEFT JOIN site_macro m USING (site)"
            " GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
            (Evidence.REGISTRY, Evidence.DISPATCH, _COL_BITS),
        ).fetchall()
    finally:
        db.execute("DROP TABLE site_place")
        db.execute("DROP TABLE site_macro")


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
