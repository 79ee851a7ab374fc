"""The whole call graph in a few arrays, for what looks at many neighbours: drawings, counts, who deserves a page.

An edge stands for all sites of one caller, callee, evidence and key. It keeps its first site and the number of them.
Small enough (some 10 MB for TVM) to be handed to every worker process.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from xref.graph import ENCLOSES
from xref.model import Evidence, Id

KINDS = (*Evidence, ENCLOSES, "observed")
"""Evidence by number. `encloses`: a function and a lambda written in it; `observed`: seen in a run only."""
_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_COL_BITS, _LINE_BITS = 24, 24
_PLACE_BITS = _COL_BITS + _LINE_BITS
"""A site as one number that sorts like the code: position of the file + 1, line, column."""
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


class CallGraph:
    """Edges by caller and by callee; neighbours come in order of id, so that what is made of them is reproducible."""

    def __init__(self, edges: Mapping[tuple[Id, Id, int, str], Sequence[int]]) -> None:
        """`edges` maps (caller, callee, number of the kind, key) to the first site, the sites' count, and whether all
        are expansions of macros; a site is one number, see `_PLACE_BITS`."""
        order = sorted(edges)
        values = [edges[key] for key in order]
        self._ids = sorted({id_ for key in order for id_ in key[:2]})
        self._number = number = {id_: at for at, id_ in enumerate(self._ids)}
        vias = sorted({key[3] for key in order})
        via_number = {via: at for at, via in enumerate(vias)}
        self._vias = vias
        self._caller = array("i", [number[key[0]] for key in order])
        self._callee = array("i", [number[key[1]] for key in order])
        self._kind = bytes([key[2] for key in order])
        self._via = array("i", [via_number[key[3]] for key in order])
        self._file = array("i", [(value[0] >> _PLACE_BITS) - 1 for value in values])
        self._line = array("i", [(value[0] >> _COL_BITS) & _LINE_MASK for value in values])
        self._sites = array("i", [value[1] for value in values])
        self._macro = bytes([value[2] for value in values])
        self._out = self._starts(self._caller)
        by_callee = sorted(range(len(order)), key=self._callee.__getitem__)
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

    def raw_callees(self, id_: Id) -> Iterator[tuple[int, int, str, int, int, int]]:
        """The edges that leave a symbol, for whoever takes all of the graph: position of the callee in `ids`, number
        of the kind in `KINDS`, key, file, line, 1 where every site is an expansion."""
        number = self._number.get(id_)
        if number is not None:
            vias = self._vias
            for at in range(self._out[number], self._out[number + 1]):
                yield (
                    self._callee[at], self._kind[at], vias[self._via[at]], self._file[at], self._line[at],
                    self._macro[at],
                )  # fmt: skip

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

    def site_counts(self) -> dict[Id, int]:
        """How many call sites there are of and in each symbol."""
        counts = [0] * len(self._ids)
        for caller, callee, sites in zip(self._caller, self._callee, self._sites, strict=True):
            counts[caller] += sites
            counts[callee] += sites
        return dict(zip(self._ids, counts, strict=True))

    def _distinct(self, near: array[int], far: array[int], *, skip_macros: bool = False) -> dict[Id, int]:
        weak = _NUMBER[Evidence.NAME], _NUMBER[ENCLOSES]
        size = len(self._ids)
        pairs = {
            one * size + other
            for one, other, kind, macro in zip(near, far, self._kind, self._macro, strict=True)
            if kind not in weak and one != other and not (skip_macros and macro)
        }
        counts = Counter(pair // size for pair in pairs)
        return {self._ids[number]: count for number, count in sorted(counts.items())}


def load_graph(db: sqlite3.Connection, files: dict[str, int]) -> CallGraph:
    """The graph of an index: static calls, lambdas in their functions, and what only runs saw."""
    positions = {id_: files.get(path, -1) for id_, path in db.execute("SELECT id, path FROM file")}
    place = {id_: (position + 1) << _PLACE_BITS for id_, position in positions.items()}
    macros = {
        place[file] + (line << _COL_BITS) + col
        for file, line, col in db.execute("SELECT file_id, line, col FROM ref WHERE role = 'macro'")
    }
    edges: dict[tuple[Id, Id, int, str], list[int]] = {}
    named = (_NUMBER[Evidence.REGISTRY], _NUMBER[Evidence.DISPATCH])
    rows = db.execute("SELECT caller_id, callee_id, evidence, via, file_id, line, col FROM call")
    for caller, callee, evidence, via, file, line, col in rows:
        kind = _NUMBER[evidence]
        key = (caller, callee, kind, via if via and kind in named else "")
        site = place[file] + (line << _COL_BITS) + col
        known = edges.get(key)
        if known is None:
            edges[key] = [site, 1, site in macros]
        else:
            known[0] = min(known[0], site)
            known[1] += 1
            if known[2] and site not in macros:
                known[2] = False
    lambdas = db.execute(
        "SELECT parent_id, id, file_id, line FROM symbol"
        " WHERE kind = 'lambda' AND parent_id IS NOT NULL AND file_id IS NOT NULL"
    )
    for parent, id_, file, line in lambdas:
        edges.setdefault((parent, id_, _NUMBER[ENCLOSES], ""), [place[file] + (line << _COL_BITS), 1, False])
    pairs = {key[:2] for key in edges}
    observed = db.execute(
        "SELECT caller_id, callee_id, min(coalesce(path, '')), min(line), count(*) FROM observed_calls"
        " WHERE caller_id IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2"
    )
    for caller, callee, path, line, sites in observed:
        if (caller, callee) not in pairs:
            site = ((files.get(path, -1) + 1) << _PLACE_BITS) + (line << _COL_BITS)
            edges[caller, callee, _NUMBER["observed"], ""] = [site, sites, False]
    return CallGraph(edges)


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
