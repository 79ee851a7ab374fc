"""Derives uses of fields: Python's `x.name` on an object whose class, or a class above it, registers that field in C++.

Exact where the type checker knows the receiver's class: the class has a type key, and the key or a parent of it the
field. Where it does not, the only field of that name counts, with evidence `name`.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict

from xref.link.step import Derived, KeyUseRow, Step, Touched
from xref.link.types import PARENT
from xref.model import Evidence, Id
from xref.registry.types import FIELD, REGISTRY


class _Fields:
    """The fields of each type, and the types of Python classes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.names: set[str] = set()
        owners: dict[str, set[str]] = defaultdict(set)
        for (name,) in db.execute("SELECT DISTINCT name FROM key_def WHERE registry = ?", (FIELD,)):
            self.names.add(name)
            owners[name.rpartition(".")[2]].add(name)
        self.only = {name: min(keys) for name, keys in owners.items() if len(keys) == 1}
        self.known = set(owners)
        self._parents = dict(
            db.execute("SELECT name, other FROM key_relation WHERE registry = ? AND kind = ?", (REGISTRY, PARENT))
        )
        self._types: dict[Id, str] = dict(
            db.execute(
                "SELECT symbol_id, min(name) FROM key_def WHERE registry = ? AND side = 'python'"
                " AND symbol_id IS NOT NULL GROUP BY symbol_id",
                (REGISTRY,),
            )
        )
        self._bases: dict[Id, list[Id]] = defaultdict(list)
        for source, target in db.execute(
            "SELECT r.from_id, r.to_id FROM relations r JOIN symbol s ON s.id = r.from_id"
            " WHERE r.kind = 'base' AND s.lang <> 'cpp' ORDER BY 1, 2"
        ):
            self._bases[source].append(target)
        self._found: dict[tuple[Id, str], str] = {}

    def of(self, class_: Id, name: str) -> str:
        """The key of the field `name` of objects of a Python class, "" when it is none."""
        at = (class_, name)
        if at not in self._found:
            self._found[at] = self._search(class_, name)
        return self._found[at]

    def _search(self, class_: Id, name: str) -> str:
        pending, seen = [class_], {class_}
        while pending:
            current = pending.pop(0)
            type_key: str | None = self._types.get(current)
            steps = 0
            while type_key is not None and steps < _MAX_PARENTS:
                if f"{type_key}.{name}" in self.names:
                    return f"{type_key}.{name}"
                type_key, steps = self._parents.get(type_key), steps + 1
            above = [base for base in self._bases.get(current, ()) if base not in seen]
            seen.update(above)
            pending += above
        return ""


_MAX_PARENTS = 32
"""More than any real chain of types, less than a cycle."""


def _derive(derived: Derived, _touched: Touched | None) -> None:
    fields = _Fields(derived.db)
    rows: list[KeyUseRow] = []
    for name, receiver, file_id, line, col, within in derived.db.execute(
        "SELECT name, receiver_id, file_id, line, col, in_symbol_id FROM attribute_read"
    ):
        if name not in fields.known:
            continue
        evidence = Evidence.DIRECT if receiver is not None else Evidence.NAME
        key = fields.of(receiver, name) if receiver is not None else fields.only.get(name, "")
        if key:
            rows.append((FIELD, key, "python", file_id, line, col, within, evidence))
    derived.key_uses(dict.fromkeys(rows))


STEP = Step("fields", _derive)
