"""The answer to "how does A reach B": a call chain, or where the search ended and what may have broken the chain."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass, field

from xref.graph import ENCLOSES, INNER_FUNCTIONS, Search, shortest_path
from xref.model import Id
from xref.query.answers import callable_ids, symbol_rows
from xref.query.names import COLUMNS, SymbolRow

_SEARCHED = 5000
"""Beyond so many symbols on a side, the ends of what was searched say nothing to a reader."""


@dataclass(slots=True)
class PathAnswer:
    """The chain from one of `start` to one of `goal` and the symbols along it; or why there is none.

    Then `begins` are the symbols, of those that lead to `goal`, that nothing is known to call; `unresolved` are the
    calls (path, line, text, reason) in the symbols that `start` leads to: the chain is likely to break at one of these.
    """

    start: list[SymbolRow]
    goal: list[SymbolRow]
    search: Search
    names: dict[Id, SymbolRow] = field(default_factory=dict)
    why_none: str | None = None
    begins: list[SymbolRow] = field(default_factory=list)
    unresolved: list[tuple[str, int, str, str]] = field(default_factory=list)


def find_path(
    db: sqlite3.Connection,
    start: list[SymbolRow],
    goal: list[SymbolRow],
    evidence: Collection[str] | None,
    max_hops: int,
) -> PathAnswer:
    """A shortest chain between two names. A class begins with any of its methods, and ends with its construction or,
    where none is known, with any of its methods: a class is used by whoever calls one."""
    goal = _defined(goal)
    sources = {id_ for symbol in start for id_ in callable_ids(db, symbol, members=True)}
    targets = {id_ for symbol in goal for id_ in callable_ids(db, symbol)} - sources
    if not targets:
        return PathAnswer(start, goal, Search(), why_none="both names mean the same symbol")
    kinds = None if evidence is None else {*evidence, ENCLOSES}
    search = shortest_path(db, sources, targets, max_hops=max_hops, evidence=kinds)
    if not search.hops:
        members = {id_ for symbol in goal for id_ in callable_ids(db, symbol, members=True)} - sources
        if members != targets:
            search = shortest_path(db, sources, members, max_hops=max_hops, evidence=kinds)
    answer = PathAnswer(start, goal, search)
    if search.hops:
        answer.names = symbol_rows(db, (id_ for hop in search.hops for id_ in (hop.caller, hop.callee)))
        return answer
    if search.goal_exhausted:
        reason = f"all {len(search.reaching)} symbols that lead to the second were searched, the first is none of them"
    elif search.start_exhausted:
        reason = f"all {len(search.reached)} symbols that the first leads to were searched, the second is none of them"
    else:
        reason = f"none within {max_hops} calls (--max-hops)"
    answer.why_none = reason
    answer.begins = _begins(db, search.reaching)
    answer.unresolved = _unresolved(db, search.reached)
    return answer


def _defined(symbols: list[SymbolRow]) -> list[SymbolRow]:
    """Without what Cython only declares where the tree defines it: a chain to TVMFuncCall ends in C++."""
    defined = {symbol.name for symbol in symbols if symbol.is_definition}
    return [s for s in symbols if s.is_definition or s.lang != "cython" or s.name not in defined]


def _begins(db: sqlite3.Connection, ids: Collection[Id]) -> list[SymbolRow]:
    """Those of `ids` that nothing calls and no function encloses."""
    if len(ids) > _SEARCHED:
        return []
    rows = db.execute(
        f"SELECT {COLUMNS} FROM symbols s WHERE s.id IN (SELECT value FROM json_each(?))"
        " AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.callee_id = s.id AND c.caller_id <> s.id)"
        f" AND NOT EXISTS (SELECT 1 FROM symbol p WHERE p.id = s.parent_id AND {INNER_FUNCTIONS})"
        " ORDER BY s.path, s.line",
        (json.dumps(list(ids)),),
    )
    return [SymbolRow._make(row) for row in rows]


def _unresolved(db: sqlite3.Connection, ids: Collection[Id]) -> list[tuple[str, int, str, str]]:
    if len(ids) > _SEARCHED:
        return []
    return db.execute(
        "SELECT DISTINCT path, line, text, reason FROM unresolved"
        " WHERE in_symbol_id IN (SELECT value FROM json_each(?)) ORDER BY path, line",
        (json.dumps(list(ids)),),
    ).fetchall()
