"""What stands above and below a class or a method: bases and derived classes, overridden methods and overriders.

Both ways, at any distance, in the order of a tree. A symbol that is reached twice (two bases with one base) is shown
where it is reached first.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xref.model import Id
from xref.query.answers import describe, symbol_rows
from xref.query.names import SymbolRow
from xref.query.types import Match, Relative

KINDS = ("class", "struct", "union", "method", "destructor", "conversion", "function", "interface")
"""Kinds of symbols that the question is about; a Python method is a function."""
_WORDS = {
    "base": ("bases", "derived"),
    "overrides": ("overrides", "overridden by"),
    "specializes": ("specializes", "specialized by"),
}
"""Relation -> the heading of what stands above, and of what stands below."""


class _Step(NamedTuple):
    relation: str
    below: bool
    symbol: Id
    depth: int


def hierarchy(db: sqlite3.Connection, symbol: SymbolRow) -> Match:
    """The relatives of `symbol` by each relation, above and below."""
    match = describe(db, symbol)
    steps = [step for relation in _WORDS for below in (False, True) for step in _walk(db, symbol.id, relation, below)]
    rows = symbol_rows(db, {step.symbol for step in steps})
    match.relatives = [
        Relative(_WORDS[step.relation][step.below], step.depth, rows[step.symbol])
        for step in steps
        if step.symbol in rows
    ]
    return match


def _walk(db: sqlite3.Connection, start: Id, relation: str, below: bool) -> Iterator[_Step]:
    """Depth first from `start`, each symbol once."""
    near, far = ("to_id", "from_id") if below else ("from_id", "to_id")
    order = "s.qualname, s.path, s.line, s.key"
    rows = db.execute(
        f"WITH RECURSIVE reached(id) AS (SELECT ?1 UNION SELECT r.{far} FROM relations r JOIN reached ON"
        f" r.{near} = reached.id WHERE r.kind = ?2) SELECT r.{near}, r.{far} FROM reached JOIN relations r"
        f" ON r.{near} = reached.id AND r.kind = ?2 JOIN symbols s ON s.id = r.{far} ORDER BY {order}",
        (start, relation),
    )
    edges: dict[Id, list[Id]] = defaultdict(list)
    for one, other in rows:
        edges[one].append(other)
    seen, pending = {start}, [(child, 1) for child in reversed(edges[start])]
    while pending:
        at, depth = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        yield _Step(relation, below, at, depth)
        pending += [(child, depth + 1) for child in reversed(edges[at])]


def grouped(relatives: Iterable[Relative]) -> dict[str, list[Relative]]:
    """The relatives by their heading, in the order in which they are shown."""
    result: dict[str, list[Relative]] = {}
    for relative in relatives:
        result.setdefault(relative.word, []).append(relative)
    return result
