"""Derives the parent of each object type, from the classes that hold the keys.

A parent is the nearest base class with a key of its own: between `tirx.Add` and `ir.Expr` stands the class template
BinaryOpNode<T>, which has none. That is what the declaring macros do (`ParentType::_GetOrAllocRuntimeTypeIndex()`).
"""

from __future__ import annotations

from collections import defaultdict

from xref.link.step import Derived, Step, Touched
from xref.model import Id
from xref.registry.types import REGISTRY, RESERVED_BELOW_OBJECT, ROOT

PARENT = "parent"


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
    bases: dict[Id, list[Id]] = defaultdict(list)
    for source, target in derived.db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'base' ORDER BY 1, 2"):
        bases[source].append(target)
    for symbol, name in keys.items():
        found = _nearest(bases, keys, symbol)
        if found is not None and found != name:
            parents[name] = found
    derived.key_relations((REGISTRY, name, PARENT, parent) for name, parent in sorted(parents.items()))


def _nearest(bases: dict[Id, list[Id]], keys: dict[Id, str], start: Id) -> str | None:
    """The key of the nearest base class that has one, level by level."""
    level, seen = bases.get(start, []), {start}
    while level:
        for base in level:
            if base in keys:
                return keys[base]
        seen.update(level)
        level = [above for base in level for above in bases.get(base, ()) if above not in seen]
    return None


STEP = Step("types", _derive)
