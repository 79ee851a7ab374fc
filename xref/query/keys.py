"""Answers about registry keys: who registers a key and under which guard, what it runs, who uses it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from typing import NamedTuple

from xref.model import ExitCode, XrefError
from xref.query.answers import symbol_rows
from xref.query.converters import FRONTEND, converters
from xref.query.names import SymbolRow, like_escape
from xref.query.types import KeyDefRow

_MARKS = (".", ":", "::")
"""What may stand before the part of a key that a person writes."""
_PARTS = {
    "op": (("op_attr", ":"),),
    "target_kind": (("target_option", ":"),),
    "type": (("field", "."), ("method", ".")),
}
"""Registry -> the registries of what belongs to its keys, and what stands between `<key>` and `<part>`."""


class KeyUseRow(NamedTuple):
    """A row of the view `key_uses`, with the qualname of the symbol around the use ("" at file level)."""

    side: str
    path: str
    line: int
    within: str
    status: str


class KeyPartRow(NamedTuple):
    """A key that belongs to another one: an attribute of an operator, an option of a target kind. `runs` is the
    qualname of the function that it runs, "" for none."""

    registry: str
    name: str
    side: str
    path: str
    line: int
    guard: str
    note: str
    runs: str


@dataclass(slots=True)
class KeyAnswer:
    """All that the index knows of one key. `runs` gives the symbol of each definition that has one; `parts` are the
    attributes or options registered under it."""

    registry: str
    name: str
    defs: list[KeyDefRow] = field(default_factory=list)
    runs: dict[int, SymbolRow] = field(default_factory=dict)
    uses: list[KeyUseRow] = field(default_factory=list)
    relations: list[tuple[str, str]] = field(default_factory=list)
    parts: list[KeyPartRow] = field(default_factory=list)


class KeyCount(NamedTuple):
    """One line of the list of keys. `path`:`line` is the first definition or, for a dangling key, the first use."""

    registry: str
    name: str
    definitions: int
    uses: int
    dangling: int
    path: str
    line: int


def check_registry(db: sqlite3.Connection, registry: str | None) -> None:
    """Raise `XrefError` (exit code 1) when the index has no key of `registry`; None is any."""
    known = [
        name for (name,) in db.execute("SELECT registry FROM key_def UNION SELECT registry FROM key_use ORDER BY 1")
    ]
    if registry is not None and registry not in known:
        raise XrefError(
            f"no registry {registry!r} in this index; it has {', '.join(known) or 'none'}", ExitCode.NOTHING
        )


def find_keys(db: sqlite3.Connection, text: str, registry: str | None = None) -> list[tuple[str, str]]:
    """The (registry, name) of the keys called `text` or, when there are none, of those that end in `.text`, or in
    `:text` or `::text` (`FInferType` of any operator, `FusedTIRConstructor:CallNode`).

    `text` may name the registry: `ffi:relax.transform.FuseTIR`. Operators of other frameworks are found under the names
    that these give them: `aten.conv2d`, `onnx Conv`.
    """
    prefix, colon, rest = text.partition(":")
    if colon and registry is None and rest and not rest.startswith(":") and (found := find_keys(db, rest, prefix)):
        return found
    for pattern in (text, *(f"%{mark}{like_escape(text)}" for mark in _MARKS)):
        equal = "=" if pattern == text else "LIKE"
        escape = "" if pattern == text else " ESCAPE '\\'"
        rows = db.execute(
            f"SELECT registry, name FROM keys WHERE name {equal} ?1{escape} AND (?2 IS NULL OR registry = ?2)"
            " ORDER BY registry, name",
            (pattern, registry),
        ).fetchall()
        if rows := [
            (found, name)
            for found, name in rows
            if name == text or name.endswith(tuple(mark + text for mark in _MARKS))
        ]:
            return rows
    return converters(db, text) if registry in (None, FRONTEND) else []


def key(db: sqlite3.Connection, registry: str, name: str) -> KeyAnswer:
    """The definitions, uses and relations of one key. Uses by a wildcard (`relax.ext.*`) that covers it count too."""
    answer = KeyAnswer(registry, name)
    rows = db.execute(
        "SELECT registry, name, side, path, line, symbol_id, guard, note FROM key_defs"
        " WHERE registry = ? AND name = ? ORDER BY path, line",
        (registry, name),
    )
    answer.defs = [KeyDefRow._make(row) for row in rows]
    answer.runs = symbol_rows(db, (row.symbol_id for row in answer.defs if row.symbol_id is not None))
    answer.uses = _uses(db, "u.name = ?2", registry, name)
    answer.uses += _uses(db, "u.status = 'wildcard' AND ?2 GLOB u.name", registry, name)
    answer.relations = db.execute(
        "SELECT DISTINCT kind, other FROM key_relations WHERE registry = ? AND name = ? ORDER BY kind, other",
        (registry, name),
    ).fetchall()
    answer.parts = _parts(db, registry, name)
    return answer


def _parts(db: sqlite3.Connection, registry: str, name: str) -> list[KeyPartRow]:
    """The keys of the registries that hold parts of this one: those that begin with `<name>:` or `<name>.`."""
    found: list[KeyPartRow] = []
    for parts, mark in _PARTS.get(registry, ()):
        rows = db.execute(
            "SELECT k.registry, k.name, k.side, k.path, k.line, k.guard, k.note, coalesce(s.qualname, '')"
            " FROM key_defs k LEFT JOIN symbol s ON s.id = k.symbol_id"
            " WHERE k.registry = ?1 AND k.name >= ?2 AND k.name < ?3 ORDER BY k.name, k.side, k.path, k.line",
            (parts, name + mark, name + chr(ord(mark) + 1)),
        )
        found += [row for row in map(KeyPartRow._make, rows) if mark not in row.name[len(name) + 1 :]]
    return found


def _uses(db: sqlite3.Connection, condition: str, registry: str, name: str) -> list[KeyUseRow]:
    rows = db.execute(
        "SELECT DISTINCT u.side, u.path, u.line, coalesce(s.qualname, ''), u.status FROM key_uses u"
        f" LEFT JOIN symbol s ON s.id = u.in_symbol_id WHERE u.registry = ?1 AND {condition}"
        " ORDER BY u.path, u.line",
        (registry, name),
    )
    return [KeyUseRow._make(row) for row in rows]


def list_keys(
    db: sqlite3.Connection, registry: str | None = None, pattern: str | None = None, *, dangling: bool = False
) -> list[KeyCount]:
    """The keys of one registry or of all, by name; `pattern` is a GLOB; `dangling` keeps those used but undefined."""
    rows = db.execute(
        "SELECT registry, name, sum(defs), sum(uses), sum(dangles), '', 0 FROM ("
        " SELECT registry, name, 1 AS defs, 0 AS uses, 0 AS dangles FROM key_def"
        " UNION ALL SELECT registry, name, 0, 1, status = 'dangling' FROM key_use WHERE status <> 'wildcard')"
        " WHERE (?1 IS NULL OR registry = ?1) AND (?2 IS NULL OR name GLOB ?2)"
        " GROUP BY registry, name HAVING ?3 = 0 OR sum(dangles) > 0 ORDER BY registry, name",
        (registry, pattern, dangling),
    )
    counts = [KeyCount._make(row) for row in rows]
    places: dict[tuple[str, str], tuple[str, int]] = {}
    sources = [
        "SELECT registry, name, path, line FROM key_uses WHERE status <> 'wildcard' ORDER BY path DESC, line DESC"
    ]
    if not dangling:
        sources.append("SELECT registry, name, path, line FROM key_defs ORDER BY path DESC, line DESC")
    for source in sources:
        places.update(((found, name), (path, line)) for found, name, path, line in db.execute(source))
    return [
        count._replace(path=places[count.registry, count.name][0], line=places[count.registry, count.name][1])
        for count in counts
    ]
