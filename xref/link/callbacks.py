"""Leads C++ that calls back a method of a Python class to the methods of the classes derived from it.

`MeasureCallback` in C++ holds `f_apply`; Python's `class Log(PyMeasureCallback)` has `apply` (registry `callback`, see
xref.registry.python_callbacks). Whoever reads the member in C++ may call any such method: evidence `value`, via the
member. A visitor's table of lambdas (`PY_EXPR_VISITOR_DISPATCH`) is entered where the table is used.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from xref.link.step import CallRow, Derived, Step, Touched
from xref.model import Evidence, Id
from xref.registry.python_callbacks import CALLBACK, METHOD_OF


class _Member(NamedTuple):
    """A C++ member that holds a callback: the method of `base` and of what derives from it."""

    id: Id
    qualname: str
    method: str
    base: Id


def _derive(derived: Derived, _touched: Touched | None) -> None:
    members = list(_members(derived.db))
    if not members:
        return
    below = defaultdict(list)
    for source, target in derived.db.execute("SELECT from_id, to_id FROM relation WHERE kind = 'base' ORDER BY 1, 2"):
        below[target].append(source)
    for member in members:
        derived.calls(_calls(derived.db, member, below))
    derived.calls(_entries(derived.db))


def _members(db: sqlite3.Connection) -> Iterator[_Member]:
    for name, note in db.execute(
        "SELECT DISTINCT name, note FROM key_def WHERE registry = ? ORDER BY 1, 2", (CALLBACK,)
    ).fetchall():
        registered, _, member = name.rpartition(":")
        method, _, base = note.partition(METHOD_OF)
        base_id, own = _python_class(db, base), _python_class(db, registered)
        found = db.execute(
            "SELECT f.id, f.qualname FROM key_def p JOIN key_def c ON c.registry = 'type' AND c.name = p.name"
            " AND c.side = 'cpp' JOIN symbol f ON f.parent_id = c.symbol_id AND f.kind = 'field' AND f.name = ?"
            " WHERE p.registry = 'type' AND p.side = 'python' AND p.symbol_id = ?",
            (member, own),
        ).fetchone()
        if found is not None and base_id is not None:
            yield _Member(found[0], found[1], method, base_id)


def _python_class(db: sqlite3.Connection, qualname: str) -> Id | None:
    rows = db.execute(
        "SELECT id FROM symbol WHERE name = ? AND qualname = ? AND lang = 'python' AND kind = 'class'",
        (qualname.rpartition(".")[2], qualname),
    ).fetchall()
    return rows[0][0] if len(rows) == 1 else None


def _calls(db: sqlite3.Connection, member: _Member, below: dict[Id, list[Id]]) -> Iterator[CallRow]:
    classes, seen = [member.base], {member.base}
    methods: list[Id] = []
    for class_ in classes:
        if class_ != member.base:
            rows = db.execute(
                "SELECT id FROM symbol WHERE parent_id = ? AND name = ? AND kind IN ('method', 'function')",
                (class_, member.method),
            )
            methods += [id_ for (id_,) in rows]
        for other in below.get(class_, ()):
            if other not in seen:
                seen.add(other)
                classes.append(other)
    readers: dict[Id, tuple[int, int, int]] = {}
    for reader, *place in db.execute(
        "SELECT in_symbol_id, file_id, line, col FROM ref WHERE symbol_id = ? AND role IN ('read', 'call')"
        " AND in_symbol_id IS NOT NULL ORDER BY file_id, line, col",
        (member.id,),
    ):
        readers[reader] = (place[0], place[1], place[2])  # the last: the call stands behind the test for nullptr
    for reader, (file_id, line, col) in readers.items():
        for method in methods:
            yield reader, method, Evidence.VALUE, file_id, line, col, member.qualname


def _entries(db: sqlite3.Connection) -> Iterator[CallRow]:
    """From the methods that use a table of lambdas to the lambdas, where the step `dispatch` knows no handlers."""
    for name, fills in db.execute(
        "SELECT DISTINCT name, in_symbol_id FROM key_use WHERE registry = 'functor' AND calls = 0 AND name LIKE '%:*'"
        " ORDER BY 1, 2"
    ).fetchall():
        root = name.removesuffix(":*")
        if db.execute(
            "SELECT 1 FROM key_def WHERE registry = 'functor' AND note = ?", (f"dispatched by {root}",)
        ).fetchone():
            continue
        sites = db.execute(
            "SELECT DISTINCT c.caller_id, c.file_id, c.line, c.col FROM call c JOIN symbol s ON s.id = c.caller_id"
            " JOIN symbol f ON f.id = c.callee_id WHERE c.callee_id = ? AND c.evidence = 'direct'"
            " AND s.parent_id = f.parent_id AND s.id <> f.id ORDER BY 1, 2, 3, 4",
            (fills,),
        ).fetchall()
        lambdas = [
            id_ for (id_,) in db.execute("SELECT id FROM symbol WHERE parent_id = ? AND kind = 'lambda'", (fills,))
        ]
        for caller, file_id, line, col in sites:
            for lambda_ in sorted(lambdas):
                yield caller, lambda_, Evidence.DISPATCH, file_id, line, col, root


STEP = Step("callbacks", _derive)
