"""Derives the parent of each object type: the class that its declaring macro names, which may not be its base class.

Every era's macro writes a method `_GetOrAllocRuntimeTypeIndex` that calls the method of that name of the parent; so a
class, or the nearest base that has the method (BinaryOpNode<T>, for `tirx.Add`), names its parent by that call. TVM has
types whose base class is another one: `relax.dpl.GlobalVarPattern`, at v0.26 below DFPattern, derives from VarPattern.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator

from xref.link.step import Derived, Step, Touched
from xref.model import Id
from xref.registry.types import REGISTRY, RESERVED_BELOW_OBJECT, ROOT

PARENT = "parent"
INDEX_METHOD = "_GetOrAllocRuntimeTypeIndex"


class _Classes:
    """The classes of the index: what they derive from, and which parent their macro names."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.bases: dict[Id, list[Id]] = defaultdict(list)
        for source, target in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'base' ORDER BY 1, 2"):
            self.bases[source].append(target)
        self.named: dict[Id, Id] = dict(
            db.execute(
                "SELECT own.parent_id, min(other.parent_id) FROM symbol own JOIN call c ON c.caller_id = own.id"
                " JOIN symbol other ON other.id = c.callee_id WHERE own.name = ?1 AND other.name = ?1"
                " AND own.parent_id <> other.parent_id GROUP BY own.parent_id",
                (INDEX_METHOD,),
            )
        )

    def and_bases(self, start: Id) -> Iterator[Id]:
        """The class and everything above it, the nearest first."""
        level, seen = [start], {start}
        while level:
            yield from level
            above = dict.fromkeys(base for class_ in level for base in self.bases.get(class_, ()))
            level = [base for base in above if base not in seen]
            seen.update(level)


def _derive(derived: Derived, _touched: Touched | None) -> None:
    keys: dict[Id, str] = {}
    parents: dict[str, str] = {}
    rows = derived.db.execute(
        "SELECT name, symbol_id, note FROM key_def WHERE registry = ? AND side = 'cpp' ORDER BY name", (REGISTRY,)
    )
    for name, symbol, note in rows:
        if symbol is not None:
            keys.setdefault(symbol, name)
        elif note == RESERVED_BELOW_OBJECT:
            parents[name] = ROOT
    classes = _Classes(derived.db)
    for symbol, name in keys.items():
        parent = _parent(classes, keys, symbol)
        if parent is not None and parent != name:
            parents[name] = parent
    derived.key_relations((REGISTRY, name, PARENT, parent) for name, parent in sorted(parents.items()))


def _parent(classes: _Classes, keys: dict[Id, str], symbol: Id) -> str | None:
    """The key of the parent that the class, or the template that it derives from, names; else of the nearest base."""
    for class_ in classes.and_bases(symbol):
        if class_ != symbol and class_ in keys:
            return keys[class_]
        if class_ in classes.named:
            found = (keys[above] for above in classes.and_bases(classes.named[class_]) if above in keys)
            return next(found, None)
    return None


STEP = Step("types", _derive)
