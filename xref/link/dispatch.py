"""Leads the call of a visitor's entry (`VisitExpr`, `VisitStmt`, `operator()`) to the handlers that it may run.

What is known from files: the handlers of each class (registry `functor`: class, node type, method, and the root class
whose table calls it) and the method of each root that fills the table. An entry is a method of the root that uses that
table. The static type C of the visitor at a call decides the handlers: those of C and of classes below it, and those
that C inherits. Classes that many others derive from (ExprMutator, StmtExprVisitor) hold the generic traversal: what
they define is reached from the entry itself, once, instead of from every call in every class below them; what their own
recursion reaches is left to the call that began the traversal, which knows the visitor (a row in `unresolved` says so).
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xref.closure import closure
from xref.link.step import CallRow, Derived, Step, Touched
from xref.model import CALL_OPERATOR, Evidence, Id

MAX_HANDLERS = 256
"""A call that may run more handlers than this makes no edges: a row in `unresolved` says so."""
GENERIC = 16
"""A class with more classes below it than this holds generic traversal."""
_ROOT = "dispatched by "
"""What the note of a handler begins with; the root class follows."""
_Call = tuple[Id, Id, int, int, int, str]
"""caller, callee, file id, line, column, via."""


class _Handler(NamedTuple):
    owner: Id
    node: str
    method: Id


class _Classes:
    """The classes of the tree by qualified name, and what derives from what."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.by_name: dict[str, list[Id]] = defaultdict(list)
        self.name: dict[Id, str] = {}
        for id_, qualname in db.execute("SELECT id, qualname FROM symbol WHERE kind IN ('class', 'struct')"):
            self.by_name[qualname].append(id_)
            self.name[id_] = qualname
        self._above: dict[Id, list[Id]] = defaultdict(list)
        self._below: dict[Id, list[Id]] = defaultdict(list)
        for derived, base in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'base' ORDER BY 1, 2"):
            self._above[derived].append(base)
            self._below[base].append(derived)
        self._closures: dict[tuple[Id, bool], list[Id]] = {}

    def closure(self, start: Id, *, down: bool) -> list[Id]:
        """The class and all below (or above) it, the nearest first. A template's specialisations share its name."""
        known = self._closures.get((start, down))
        if known is None:
            edges = self._below if down else self._above
            known = list(self.by_name[self.name[start]]) if start in self.name else [start]
            seen = set(known)
            for node in known:
                for other in edges.get(node, ()):
                    for same in self.by_name.get(self.name.get(other, ""), [other]):
                        if same not in seen:
                            seen.add(same)
                            known.append(same)
            self._closures[start, down] = known
        return known

    def is_generic(self, id_: Id) -> bool:
        return len(self.closure(id_, down=True)) > GENERIC


class _Functor:
    """One root class: its handlers by class, and which of them a visitor of a static type may run."""

    def __init__(self, classes: _Classes, handlers: list[_Handler]) -> None:
        self._classes = classes
        self._by_owner: dict[Id, list[_Handler]] = defaultdict(list)
        for handler in handlers:
            self._by_owner[handler.owner].append(handler)
        self._known: dict[Id, list[Id]] = {}

    def reached(self, static: Id) -> list[Id]:
        """The handlers that a visitor declared as `static` may run, generic ones of its bases left out."""
        known = self._known.get(static)
        if known is None:
            found: dict[Id, None] = {}
            handled: set[str] = set()
            for owner in self._classes.closure(static, down=False):
                if owner == static or not self._classes.is_generic(owner):
                    found.update((h.method, None) for h in self._by_owner.get(owner, ()) if h.node not in handled)
                handled.update(h.node for h in self._by_owner.get(owner, ()))
            for owner in self._classes.closure(static, down=True):
                found.update((h.method, None) for h in self._by_owner.get(owner, ()))
            known = self._known[static] = list(found)
        return known

    def generic(self) -> list[Id]:
        """The handlers of generic classes."""
        return [h.method for o, handlers in self._by_owner.items() if self._classes.is_generic(o) for h in handlers]


class _Calls:
    """The calls that the compiler resolved, by callee, asked for in few queries: each may read the whole table."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._by_callee: dict[Id, list[_Call]] = {}

    def load(self, callees: Iterable[Id]) -> None:
        """Ask for the calls of `callees`."""
        new = [callee for callee in dict.fromkeys(callees) if callee not in self._by_callee]
        self._by_callee.update((callee, []) for callee in new)
        for row in self._db.execute(
            "SELECT caller_id, callee_id, file_id, line, col, via FROM call WHERE evidence IN ('direct', 'template')"
            " AND callee_id IN (SELECT value FROM json_each(?))",
            (json.dumps(new),),
        ):
            self._by_callee[row[1]].append(row)

    def of(self, callees: Iterable[Id]) -> list[_Call]:
        """The calls of `callees`, which are loaded, by caller and place."""
        rows = [row for callee in dict.fromkeys(callees) for row in self._by_callee[callee]]
        return sorted(rows, key=lambda row: (row[0], *row[2:5], row[1], row[5]))


def _derive(derived: Derived, _touched: Touched | None) -> None:
    db = derived.db
    handlers = _handlers(db)
    if not handlers:
        return
    classes = _Classes(db)
    owners = dict(db.execute("SELECT id, parent_id FROM symbol WHERE kind IN ('method', 'lambda') AND lang = 'cpp'"))
    tables = dict(sorted(_tables(db).items()))
    calls = _Calls(db)
    calls.load(fill for fills in tables.values() for fill in fills)
    entries = {root: _entries(calls, owners, fills) for root, fills in tables.items()}
    overriding = _overriding(db, calls, owners, entries)
    for root in tables:
        rows = [_Handler(owners[m], node, m) for node, m in handlers.get(root, ()) if m in owners]
        functor = _Functor(classes, rows)
        generic = functor.generic()
        for entry, file_id, line, col in entries[root].values():
            derived.calls(
                (entry, method, Evidence.DISPATCH, file_id, line, col, root) for method in generic if method != entry
            )
        derived.calls(_sites(derived, root, functor, classes, owners, calls, overriding[root]))


def _handlers(db: sqlite3.Connection) -> dict[str, list[tuple[str, Id]]]:
    """Root class -> (node type, method)."""
    result: dict[str, list[tuple[str, Id]]] = defaultdict(list)
    for name, note, symbol in db.execute(
        "SELECT DISTINCT name, note, symbol_id FROM key_def WHERE registry = 'functor' AND note LIKE ?"
        " ORDER BY 1, 2, 3",
        (_ROOT + "%",),
    ):
        result[note.removeprefix(_ROOT)].append((name.rpartition(":")[2], symbol))
    return result


def _tables(db: sqlite3.Connection) -> dict[str, list[Id]]:
    """Root class -> the methods that fill its tables."""
    result: dict[str, list[Id]] = defaultdict(list)
    for name, function in db.execute(
        "SELECT DISTINCT name, in_symbol_id FROM key_use WHERE registry = 'functor' AND calls = 0 AND name LIKE '%:*'"
    ):
        result[name.removesuffix(":*")].append(function)
    return result


def _entries(calls: _Calls, owners: dict[Id, Id | None], fills: list[Id]) -> dict[Id, tuple[Id, int, int, int]]:
    """The methods that use a table: those of the class itself that call what fills it. Method -> (method, site)."""
    result: dict[Id, tuple[Id, int, int, int]] = {}
    for caller, callee, file_id, line, col, _ in calls.of(fills):
        if caller in owners and owners[caller] == owners.get(callee):
            result.setdefault(caller, (caller, file_id, line, col))
    return result


def _overriding(
    db: sqlite3.Connection, calls: _Calls, owners: dict[Id, Id | None],
    entries: dict[str, dict[Id, tuple[Id, int, int, int]]],
) -> dict[str, frozenset[Id]]:  # fmt: skip
    """Root class -> its entries, what overrides them, and the `operator()` that only hands on to them."""
    overriders: dict[Id, list[Id]] = defaultdict(list)
    for source, target in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'overrides'"):
        overriders[target].append(source)
    result = {root: set(closure(overriders, methods)) for root, methods in entries.items()}
    calls.load(method for every in result.values() for method in every)
    operators = {
        id_ for (id_,) in db.execute("SELECT id FROM symbol WHERE kind = 'method' AND name = ?", (CALL_OPERATOR,))
    }
    for every in result.values():
        every |= {caller for caller, *_ in calls.of(every) if caller in operators and caller in owners}
    calls.load(method for every in result.values() for method in every)
    return {root: frozenset(found) for root, found in result.items()}


def _sites(
    derived: Derived, root: str, functor: _Functor, classes: _Classes, owners: dict[Id, Id | None], calls: _Calls,
    entries: frozenset[Id],
) -> Iterator[CallRow]:  # fmt: skip
    for caller, callee, file_id, line, col, via in calls.of(entries):
        static = _static(classes, owners, caller, callee, via)
        if static is None:
            continue
        if classes.is_generic(static):
            if caller not in entries:
                reason = f"runs the handlers of whatever {classes.name[static]} it is given: too many to be edges"
                derived.unresolved([(file_id, line, col, caller, root, reason)])
            continue
        reached = functor.reached(static)
        if len(reached) > MAX_HANDLERS:
            reason = f"may run {len(reached)} handlers of classes below {classes.name[static]}"
            derived.unresolved([(file_id, line, col, caller, root, reason)])
            continue
        for method in reached:
            if method != caller:
                yield caller, method, Evidence.DISPATCH, file_id, line, col, root


def _static(classes: _Classes, owners: dict[Id, Id | None], caller: Id, callee: Id, via: str) -> Id | None:
    """The class that the visitor at the call is known to be."""
    if via and via in classes.by_name:
        return classes.by_name[via][0]
    home = owners.get(callee)
    around = _class_around(classes, owners, caller)
    if around is not None and home is not None and home in classes.closure(around, down=False):
        return around  # `Base::VisitExpr(e)` in a class below Base: the table dispatches on the object
    return home if home in classes.name else None


def _class_around(classes: _Classes, owners: dict[Id, Id | None], caller: Id) -> Id | None:
    """The class whose method, or whose method's lambda, the caller is."""
    around: Id | None = caller
    while around in owners:
        around = owners[around]
    return around if around in classes.name else None


STEP = Step("dispatch", _derive, compared=True)
