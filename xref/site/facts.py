"""Reads from the index what the pages of one file's symbols say, with one query per kind of fact for all of them.

Asking symbol by symbol, as the command line does, costs several milliseconds for each of some 80,000 symbols.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from xref.model import Evidence, Id, Status
from xref.site.keys import Key, load_keys


class Site(NamedTuple):
    """One call: `other` is the far end."""

    other: Id
    evidence: str
    path: str
    line: int
    col: int
    via: str


class Reference(NamedTuple):
    """A mention that is no definition."""

    role: str
    path: str
    line: int
    col: int
    within: Id | None


class Place(NamedTuple):
    """A definition or declaration."""

    kind: str
    path: str
    line: int
    end_line: int


class Ran(NamedTuple):
    """What a run saw of a symbol: called `times` times in `total_ns` nanoseconds (None: not measured).

    `kind`: of the calls, or `pass` where the symbol is a pass that ran.
    """

    run: str
    kind: str
    times: int
    total_ns: int | None


@dataclass(slots=True)
class Facts:
    """What the index says of one symbol. `ups` are (kind, target) of its relations, `downs` (kind, source)."""

    id: Id
    col: int = 0
    signature: str = ""
    doc: str = ""
    access: str = ""
    linkage: str = ""
    callers: list[Site] = field(default_factory=list)
    callees: list[Site] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    ups: list[tuple[str, Id]] = field(default_factory=list)
    downs: list[tuple[str, Id]] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    used_keys: list[tuple[str, str, int, str]] = field(default_factory=list)
    """(registry, name, line, status) of the keys that it looks up."""
    unresolved: list[tuple[str, int, str, str]] = field(default_factory=list)
    """(path, line, text, reason) of the calls in it that could not be resolved."""
    ran: list[Ran] = field(default_factory=list)


def gather(db: sqlite3.Connection, ids: Collection[Id], *, runs: bool) -> dict[Id, Facts]:
    """The facts of `ids`. `runs`: whether the index has any run."""
    facts = {id_: Facts(id_) for id_ in ids}
    wanted = json.dumps(sorted(facts))
    inside = "(SELECT value FROM json_each(?))"

    def rows(sql: str) -> Iterable[tuple[Id, ...]]:
        return db.execute(sql.format(ids=inside), (wanted,))

    for id_, *rest in rows("SELECT id, col, signature, doc, access, linkage FROM symbols WHERE id IN {ids}"):
        fact = facts[id_]
        fact.col, fact.signature, fact.doc, fact.access, fact.linkage = rest  # type: ignore[assignment]
    for id_, *rest in rows(
        "SELECT callee_id, caller_id, evidence, path, line, col, via FROM calls WHERE callee_id IN {ids}"
        " ORDER BY path, line, col, evidence, caller_id"
    ):
        facts[id_].callers.append(Site._make(rest))
    for id_, *rest in rows(
        "SELECT caller_id, callee_id, evidence, path, line, col, via FROM calls WHERE caller_id IN {ids}"
        " ORDER BY path, line, col, evidence, callee_id"
    ):
        facts[id_].callees.append(Site._make(rest))
    for id_, *rest in rows(
        "SELECT symbol_id, role, path, line, col, in_symbol_id FROM refs WHERE symbol_id IN {ids}"
        " AND role NOT IN ('definition', 'declaration') ORDER BY path, line, col, role"
    ):
        facts[id_].references.append(Reference._make(rest))
    for id_, *rest in rows(
        "SELECT DISTINCT symbol_id, kind, path, line, end_line FROM locations WHERE symbol_id IN {ids}"
        " ORDER BY kind DESC, path, line"
    ):
        facts[id_].places.append(Place._make(rest))
    for id_, kind, other in rows("SELECT from_id, kind, to_id FROM relations WHERE from_id IN {ids} ORDER BY 2, 3"):
        facts[id_].ups.append((str(kind), other))
    for id_, kind, other in rows("SELECT to_id, kind, from_id FROM relations WHERE to_id IN {ids} ORDER BY 2, 3"):
        facts[id_].downs.append((str(kind), other))
    for id_, *rest in rows(
        "SELECT in_symbol_id, registry, name, line, status FROM key_uses WHERE in_symbol_id IN {ids}"
        " ORDER BY line, name"
    ):
        facts[id_].used_keys.append(tuple(rest))  # type: ignore[arg-type]
    for id_, *rest in rows(
        "SELECT in_symbol_id, path, line, text, reason FROM unresolved WHERE in_symbol_id IN {ids}"
        " ORDER BY path, line, col"
    ):
        facts[id_].unresolved.append(tuple(rest))  # type: ignore[arg-type]
    _add_keys(db, facts, rows("SELECT symbol_id, registry, name FROM key_defs WHERE symbol_id IN {ids}"))
    if runs:
        for id_, *rest in rows(
            "SELECT callee_id, run_id, kind, sum(count), sum(total_ns) FROM observed_calls WHERE callee_id IN {ids}"
            " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        ):
            facts[id_].ran.append(Ran._make(rest))
        for id_, *rest in rows(
            "SELECT symbol_id, run_id, 'pass', count(*), sum(duration_ns) FROM passes_run WHERE symbol_id IN {ids}"
            " GROUP BY 1, 2 ORDER BY 1, 2"
        ):
            facts[id_].ran.append(Ran._make(rest))
    return facts


def calls_to(db: sqlite3.Connection, ids: Collection[Id]) -> list[Site]:
    """The calls of any of `ids`."""
    if not ids:
        return []
    rows = db.execute(
        "SELECT caller_id, evidence, path, line, col, via FROM calls"
        " WHERE callee_id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(ids)),),
    )
    return [Site._make(row) for row in rows]


def lacks_facts(db: sqlite3.Connection) -> bool:
    """Whether some files could not be read, or only in part: pages that know no caller say so."""
    return bool(db.execute(
        "SELECT EXISTS (SELECT 1 FROM files WHERE status IN (?, ?))", (Status.DEGRADED, Status.FAILED)
    ).fetchone()[0])  # fmt: skip


def _add_keys(db: sqlite3.Connection, facts: dict[Id, Facts], pairs: Iterable[tuple[object, ...]]) -> None:
    owners: dict[tuple[str, str], set[Id]] = {}
    for id_, registry, name in pairs:
        owners.setdefault((str(registry), str(name)), set()).add(int(str(id_)))
    if not owners:
        return
    for key in load_keys(db, owners):
        for id_ in sorted(owners[key.registry, key.name]):
            facts[id_].keys.append(key)


STRENGTH = {kind: rank for rank, kind in enumerate((
    Evidence.REGISTRY, Evidence.DIRECT, Evidence.VALUE, Evidence.VIRTUAL, Evidence.DISPATCH, Evidence.TEMPLATE,
    "observed", Evidence.NAME,
))}  # fmt: skip
"""The order of evidence on a page: what crosses languages first, then the surest."""
