"""Leads C++ that calls back a method of a Python class to the methods of the classes derived from it.

`MeasureCallback` in C++ holds `f_apply`; Python's `class Log(PyMeasureCallback)` has `apply` (registry `callback`, see
xref.registry.python_callbacks). Whoever reads the member in C++ may call any such method: evidence `value`, via the
member. A visitor's table of lambdas (`PY_EXPR_VISITOR_DISPATCH`) is entered where the table is used.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from xref.closure import closure
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
    methods = _methods(derived.db, {member.method for member in members})
    readers = _readers(derived.db, members)
    for member in members:
        derived.calls(_calls(member, below, methods, readers[member.id]))
    derived.calls(_entries(derived.db))


def _members(db: sqlite3.Connection) -> Iterator[_Member]:
    rows = []
    for name, note in db.execute(
        "SELECT DISTINCT name, note FROM key_def WHERE registry = ? ORDER BY 1, 2", (CALLBACK,)
    ):
        registered, _, member = name.rpartition(":")
        method, _, base = note.partition(METHOD_OF)
        rows.append((registered, member, method, base))
    classes = _python_classes(db, {name for registered, _, _, base in rows for name in (registered, base)})
    fields = _fields(db, {member for _, member, _, _ in rows})
    for registered, member, method, base in rows:
        found, base_id = fields.get((classes.get(registered), member)), classes.get(base)
        if found is not None and base_id is not None:
            yield _Member(*found, method, base_id)


def _python_classes(db: sqlite3.Connection, qualnames: set[str]) -> dict[str, Id]:
    """The classes of these qualified names, of names that one class has."""
    result: dict[str, list[Id]] = defaultdict(list)
    for id_, qualname in db.execute(
        "SELECT id, qualname FROM symbol WHERE name IN (SELECT value FROM json_each(?)) AND lang = 'python'"
        " AND kind = 'class'",
        (json.dumps(sorted({name.rpartition(".")[2] for name in qualnames})),),
    ):
        result[qualname].append(id_)
    return {name: ids[0] for name, ids in result.items() if name in qualnames and len(ids) == 1}


def _fields(db: sqlite3.Connection, names: set[str]) -> dict[tuple[Id | None, str], tuple[Id, str]]:
    """(Python class, name) -> the field of that name, (id, qualified name), of the C++ class with the same type key."""
    result: dict[tuple[Id | None, str], tuple[Id, str]] = {}
    for class_, name, id_, qualname in db.execute(
        "SELECT p.symbol_id, f.name, f.id, f.qualname FROM key_def p JOIN key_def c ON c.registry = 'type'"
        " AND c.name = p.name AND c.side = 'cpp' JOIN symbol f ON f.parent_id = c.symbol_id AND f.kind = 'field'"
        " WHERE p.registry = 'type' AND p.side = 'python' AND f.name IN (SELECT value FROM json_each(?)) ORDER BY 1, 3",
        (json.dumps(sorted(names)),),
    ):
        result.setdefault((class_, name), (id_, qualname))
    return result


def _methods(db: sqlite3.Connection, names: set[str]) -> dict[tuple[Id | None, str], list[Id]]:
    """(class, name) -> the methods of these names."""
    result: dict[tuple[Id | None, str], list[Id]] = defaultdict(list)
    for class_, name, id_ in db.execute(
        "SELECT parent_id, name, id FROM symbol WHERE name IN (SELECT value FROM json_each(?))"
        " AND kind IN ('method', 'function') ORDER BY id",
        (json.dumps(sorted(names)),),
    ):
        result[class_, name].append(id_)
    return result


def _readers(db: sqlite3.Connection, members: list[_Member]) -> dict[Id, dict[Id, tuple[int, int, int]]]:
    """Member -> who reads it, and where last: the call stands behind the test for nullptr."""
    result: dict[Id, dict[Id, tuple[int, int, int]]] = defaultdict(dict)
    for member, reader, *place in db.execute(
        "SELECT symbol_id, in_symbol_id, file_id, line, col FROM ref"
        " WHERE symbol_id IN (SELECT value FROM json_each(?))"
        " AND role IN ('read', 'call') AND in_symbol_id IS NOT NULL ORDER BY file_id, line, col",
        (json.dumps(sorted({member.id for member in members})),),
    ):
        result[member][reader] = (place[0], place[1], place[2])
    return result


def _calls(
    member: _Member, below: dict[Id, list[Id]], methods: dict[tuple[Id | None, str], list[Id]],
    readers: dict[Id, tuple[int, int, int]],
) -> Iterator[CallRow]:  # fmt: skip
    classes = closure(below, [member.base])[1:]
    found = [method for class_ in classes for method in methods.get((class_, member.method), ())]
    for reader, (file_id, line, col) in readers.items():
        for method in found:
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
