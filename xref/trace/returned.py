"""Finds the symbols of functions that have no key: others returned them, and the index knows what those can return.

A closure that C++ code hands out is written where it is handed out: as a lambda there, or as a class with a call
operator whose object is made there. Where exactly one such function is written, that is what ran.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable

from xref.model import Id

_NAME = re.compile(r'([^("]+)((?:\((?:"[^"]*")?\))*)')
_CALL = re.compile(r'\((?:"[^"]*")?\)')
_MAKERS = ("tvm::ffi::Function", "tvm::ffi::TypedFunction")
"""Classes whose constructors and static methods (`FromTyped`, `FromPacked`) make a function of a C++ callable."""
_MARKS = ", ".join("?" * len(_MAKERS))

NO_KEY = "a function without a key of its own, returned by this one"


class Returned:
    """`find_key` gives the symbol that a key runs, or None and why (`symbols.Keys.find`)."""

    def __init__(self, db: sqlite3.Connection, find_key: Callable[[str, str], tuple[Id | None, str]]) -> None:
        self._db = db
        self._find_key = find_key

    def find(self, name: str, *, is_named: bool) -> tuple[Id | None, str]:
        """The function called `name` (docs/tracing.md, kinds `returned` and `named`), or None and why."""
        matched = _NAME.fullmatch(name)
        if matched is None:
            return None, NO_KEY
        key, calls = matched.groups()
        producer, reason = self._find_key("ffi", key)
        if producer is None:
            producer = self._find_key("method", key)[0]
        if producer is None:
            return None, reason
        found = {producer}
        for _ in range(len(_CALL.findall(calls)) + (not is_named)):
            found = set().union(*(self._handed_out(one) for one in found))
        if len(found) == 1:
            return found.pop(), ""
        return None, f"one of {len(found)} functions that are written where it is returned" if found else NO_KEY

    def _handed_out(self, producer: Id) -> set[Id]:
        """The functions that `producer`, or else one that it calls in its own file, makes functions of tvm_ffi."""
        found = self._written_in(producer)
        if found:
            return found
        beside = self._db.execute(
            "SELECT DISTINCT c.callee_id FROM calls c JOIN symbol s ON s.id = c.callee_id"
            " JOIN symbol p ON p.id = c.caller_id AND p.file_id = s.file_id WHERE c.caller_id = ?", (producer,),
        )  # fmt: skip
        return set().union(*(self._written_in(row[0]) for row in beside.fetchall()))

    def _written_in(self, function: Id) -> set[Id]:
        """Lambdas in `function` and call operators of classes that it makes objects of, when it makes functions."""
        if not self._makes_functions(function):
            return set()
        lambdas = self._db.execute("SELECT id FROM symbol WHERE parent_id = ? AND kind = 'lambda'", (function,))
        functors = self._db.execute(
            "SELECT o.id FROM calls c JOIN symbol s ON s.id = c.callee_id JOIN symbol p ON p.id = s.parent_id"
            f" JOIN symbol o ON o.parent_id = p.id WHERE c.caller_id = ? AND p.qualname NOT IN ({_MARKS})"
            " AND s.kind = 'constructor' AND o.name = 'operator()'", (function, *_MAKERS),
        )  # fmt: skip
        return {row[0] for rows in (lambdas, functors) for row in rows}

    def _makes_functions(self, function: Id) -> bool:
        row = self._db.execute(
            "SELECT 1 FROM calls c JOIN symbol s ON s.id = c.callee_id JOIN symbol p ON p.id = s.parent_id"
            f" WHERE c.caller_id = ? AND p.qualname IN ({_MARKS}) LIMIT 1", (function, *_MAKERS),
        )  # fmt: skip
        return row.fetchone() is not None
