"""Measures the static index by what really ran: which of the calls that runs observed between symbols of the index it
contains, by what evidence, and which it lacks.

Nothing here is a guess: an observed call did happen. What did not run says nothing, so this is recall, not precision.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from xref.graph import STRENGTH
from xref.model import ExitCode, Id, XrefError

KINDS = ("python", "ffi", "callback", "native")
_CONSTRUCTORS = ("__init__", "__new__", "__call__")
_NO_CALL = "the index has no call there: an operator, a property, a decorator, or code that it cannot see"
_SPECIAL = "a special method, which Python itself calls for an operator, a built-in function or a statement"
_BINDING = "made inside the binding, to convert an argument or a result"
_COUNTING = "in tvm_ffi's templates and reference counting, which code calls without writing it"
_NO_SITE = "the line is not known"
_FAR = "the line's own call is in the index, not what is called in turn: a decorator, a returned function, a hook"


class Missing(NamedTuple):
    """An observed call that the index lacks. `path` and `line` are the site, "" and 0 when unknown; `reason` is what
    the index says of that line.
    """

    kind: str
    caller: str
    callee: str
    path: str
    line: int
    calls: int
    reason: str


@dataclass
class Recall:
    """Of one kind of call: distinct (caller, callee) observed, how many of them the index contains by evidence, and
    how many it contains through functions in between: `inlined` of native calls (the compiler may have inlined those),
    `binding` of FFI calls (the caller leads into the binding's Cython code, and that to the key, to convert arguments).
    `outside` counts those whose caller is not in the index, which are not judged.
    """

    observed: int = 0
    inlined: int = 0
    binding: int = 0
    outside: int = 0
    evidence: Counter[str] = field(default_factory=Counter)
    missing: list[Missing] = field(default_factory=list)

    @property
    def found(self) -> int:
        """How many the index contains as a call of its own."""
        return sum(self.evidence.values())

    @property
    def share(self) -> float:
        """The same as a part of all that were observed, from 0 to 1."""
        return self.found / self.observed if self.observed else 1.0


def measure(db: sqlite3.Connection, runs: tuple[str, ...] = ()) -> dict[str, Recall]:
    """Recall by kind, over all runs that the index knows, or over `runs`. Kinds that no run observed are left out.

    Raises `XrefError` (exit code 1) when the index knows no run, or not one of `runs`.
    """
    known = {row[0] for row in db.execute("SELECT id FROM runs")}
    wanted = set(runs) or known
    if not wanted or wanted - known:
        missing = ", ".join(sorted(wanted - known)) or "any run"
        raise XrefError(f"the index does not know {missing}: `xref trace -- python script.py` records one",
                        ExitCode.NOTHING)  # fmt: skip
    static = _Static(db)
    result: dict[str, Recall] = {}
    for edge in _observed(db, wanted):
        recall = result.setdefault(edge.kind, Recall())
        if edge.caller is None:
            recall.outside += 1
            continue
        recall.observed += 1
        evidence = static.evidence(edge.caller, edge.callee)
        if not evidence and edge.kind == "callback":
            evidence = static.entered(edge.caller, edge.callee)
        if evidence:
            recall.evidence[evidence] += 1
        elif edge.kind == "native" and static.through_others(edge.caller, edge.callee):
            recall.inlined += 1
        elif edge.kind == "ffi" and static.through_binding(edge.caller, edge.callee):
            recall.binding += 1
        else:
            recall.missing.append(static.missing(edge, edge.caller))
    for recall in result.values():
        recall.missing.sort(key=lambda one: (-one.calls, one.caller, one.callee))
    return {kind: result[kind] for kind in KINDS if kind in result}


class _Edge(NamedTuple):
    kind: str
    caller: Id | None
    callee: Id
    calls: int
    path: str
    line: int


def _observed(db: sqlite3.Connection, runs: set[str]) -> Iterator[_Edge]:
    """Distinct (kind, caller, callee) of the runs, each with a site that is known, if any is."""
    marks = ", ".join("?" * len(runs))
    rows = db.execute(
        "SELECT kind, caller_id, callee_id, sum(count), coalesce(max(path), ''), max(line) FROM observed_calls"
        f" WHERE run_id IN ({marks}) GROUP BY kind, caller_id, callee_id ORDER BY kind, caller_id, callee_id",
        sorted(runs),
    )
    for row in rows:
        yield _Edge(*row)


class _Static:
    """The calls of the index, read as they are asked for."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._callees: dict[Id, dict[Id, str]] = {}
        self._near: dict[Id, set[Id]] = {}

    def evidence(self, caller: Id, callee: Id) -> str:
        """The strongest evidence of a call; "" when there is none. Calling a class is calling its `__init__`."""
        known = self._of(caller)
        found = [known[one] for one in (callee, *self._class_of(callee)) if one in known]
        return min(found, key=lambda word: STRENGTH.get(word, 99), default="")

    def _of(self, caller: Id) -> dict[Id, str]:
        known = self._callees.get(caller)
        if known is None:
            known = self._callees[caller] = {}
            for callee, evidence in self._db.execute(
                "SELECT callee_id, evidence FROM calls WHERE caller_id = ?", (caller,)
            ):
                if callee not in known or STRENGTH.get(evidence, 99) < STRENGTH.get(known[callee], 99):
                    known[callee] = evidence
        return known

    def _class_of(self, callee: Id) -> list[Id]:
        marks = ", ".join("?" * len(_CONSTRUCTORS))
        return [
            row[0]
            for row in self._db.execute(
                f"SELECT parent_id FROM symbols WHERE id = ? AND name IN ({marks}) AND parent_id IS NOT NULL",
                (callee, *_CONSTRUCTORS),
            )
        ]

    def through_others(self, caller: Id, callee: Id) -> bool:
        """Whether up to two functions of the index lead from one to the other, or functions written in the caller."""
        near = self._near.get(caller)
        if near is None:
            first = {*self._of(caller), *self._written_in(caller)}
            near = self._near[caller] = first.union(*(self._of(one) for one in first), *map(self._written_in, first))
        if callee in near:
            return True
        rows = self._db.execute("SELECT DISTINCT caller_id FROM calls WHERE callee_id = ?", (callee,))
        return any(row[0] in near for row in rows)

    def entered(self, function: Id, callee: Id) -> str:
        """The evidence that C++ calls the Python function `callee` while `function`, which a key runs, is open: C++
        code is known to call it (an operator's attribute, say), or it is known to be given to that key. Which C++
        function entered it no run tells; "" when neither is known.
        """
        rows = self._db.execute(
            "SELECT c.evidence FROM calls c JOIN symbols s ON s.id = c.caller_id WHERE c.callee_id = ?"
            " AND (s.lang = 'cpp' OR c.via IN (SELECT name FROM key_defs WHERE registry = 'ffi' AND symbol_id = ?))",
            (callee, function),
        )  # fmt: skip
        return min((row[0] for row in rows), key=lambda word: STRENGTH.get(word, 99), default="")

    def through_binding(self, caller: Id, callee: Id) -> bool:
        """Whether `caller` calls Cython code, and Cython code uses a key that runs `callee`."""
        uses = self._db.execute(
            "SELECT 1 FROM key_defs d JOIN key_uses u ON u.registry = d.registry AND u.name = d.name"
            " JOIN symbols s ON s.id = u.in_symbol_id AND s.lang = 'cython'"
            " WHERE d.registry = 'ffi' AND d.symbol_id = ?",
            (callee,),
        )
        if uses.fetchone() is None:
            return False
        calls = self._db.execute(
            "SELECT 1 FROM calls c JOIN symbols s ON s.id = c.callee_id WHERE c.caller_id = ? AND s.lang = 'cython'",
            (caller,),
        )
        return calls.fetchone() is not None

    def _written_in(self, function: Id) -> list[Id]:
        rows = self._db.execute(
            "SELECT id FROM symbols WHERE parent_id = ? AND kind IN ('lambda', 'function')", (function,)
        )
        return [row[0] for row in rows]

    def missing(self, edge: _Edge, caller: Id) -> Missing:
        """The row of an observed call that is not there."""
        names = dict(self._db.execute("SELECT id, qualname FROM symbols WHERE id IN (?, ?)", (caller, edge.callee)))
        callee = names.get(edge.callee, "")
        reason = self._reason(edge, callee, callee.rpartition(".")[2])
        return Missing(edge.kind, names.get(caller, ""), callee, edge.path, edge.line, edge.calls, reason)

    def _reason(self, edge: _Edge, owner: str, callee: str) -> str:
        if edge.kind == "python" and callee.startswith("__") and callee not in _CONSTRUCTORS:
            return _SPECIAL
        if edge.kind == "native" and owner.startswith("tvm::ffi::"):
            return _COUNTING
        if not edge.path:
            return _NO_SITE
        site = (edge.path, edge.line)
        row = self._db.execute("SELECT text, reason FROM unresolved WHERE path = ? AND line = ?", site).fetchone()
        if row is not None:
            return f"{row[1]} ({row[0]})"
        known = self._db.execute("SELECT 1 FROM calls WHERE path = ? AND line = ?", site).fetchone()
        if edge.kind == "ffi" and known is not None:
            return _BINDING
        return _NO_CALL if known is None else _FAR
