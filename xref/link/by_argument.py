"""Functions that a class is an argument of: what a range-for over it runs where it has no begin() of its own.

`begin` is then looked up in the namespaces of the class and its bases ([basic.lookup.argdep]).
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from typing import NamedTuple

from xref.closure import closure
from xref.link.signatures import class_of, parameters
from xref.model import Id

RANGE = ("begin", "end")


class Function(NamedTuple):
    """A function, and what its signature says it returns."""

    id: Id
    result: str


class FunctionsOf:
    """The functions called begin and end of the tree, by the classes that they take."""

    def __init__(self, db: sqlite3.Connection) -> None:
        rows = db.execute(
            "SELECT s.name, s.id, s.parent_id, s.signature FROM symbol s WHERE s.kind = 'function' AND s.lang = 'cpp'"
            f" AND s.name IN {RANGE} ORDER BY s.key"
        ).fetchall()
        self._functions: dict[tuple[str, Id | None], list[tuple[str, Function]]] = defaultdict(list)
        for name, id_, namespace, signature in rows:
            taken = parameters(name, signature)
            if len(taken) == 1:
                result = signature.partition(f" {name}(")[0]
                self._functions[name, namespace].append((class_of(taken[0]), Function(id_, result)))
        self._classes: dict[Id, tuple[str, Id | None]] = {}
        self._bases: dict[Id, list[Id]] = defaultdict(list)
        if not rows:
            return
        for id_, name, parent in db.execute(
            "SELECT id, name, parent_id FROM symbol WHERE kind IN ('class', 'struct', 'union') AND lang = 'cpp'"
        ):
            self._classes[id_] = name, parent
        for source, target in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'base'"):
            self._bases[source].append(target)

    def called(self, name: str, class_: Id) -> list[Function]:
        """The functions of that name that an object of the class may be the argument of."""
        found: dict[Function, None] = {}
        for at in closure(self._bases, [class_]):
            own, around = self._classes.get(at, ("", None))
            while around in self._classes:
                around = self._classes[around][1]
            taking = self._functions.get((name, around), ()) if own else ()
            found.update((function, None) for first, function in taking if first == own)
        return list(found)
