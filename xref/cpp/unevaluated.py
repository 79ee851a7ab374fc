"""Operands that are not evaluated: what `sizeof(f())`, `decltype(f())` and their kin name is used, and not called.

Of decltype libclang shows the operand alone, beside what it is the type of; it is told by the text before it. So it is
not where a macro writes decltype: there nothing tells the operand from other code of the macro.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

from xref.cpp import kinds
from xref.cpp.bindings import REFERENCES
from xref.cpp.clang import CONTINUE, RECURSE, CXCursor, children, file_location, unwrapped
from xref.cpp.members import class_of, members
from xref.cpp.walk import Handler, Inputs, Walk
from xref.model import FileFacts, Role

_DECLTYPE = re.compile(rb"\bdecltype\s*\(")
_MAX_OPERAND = 1000
"""Bytes; what is longer is a bracket in a comment."""
_NOT_DONE = (Role.CALL, Role.ADDRESS, Role.WRITE)
"""Roles that a name has only where the code runs."""


def operands_of_decltype(source: bytes) -> Iterator[tuple[int, int]]:
    """(first byte offset, the one behind the last) of each operand."""
    for match in _DECLTYPE.finditer(source):
        depth = 1
        for at in range(match.end(), min(len(source), match.end() + _MAX_OPERAND)):
            depth += (source[at : at + 1] == b"(") - (source[at : at + 1] == b")")
            if not depth:
                yield match.end(), at
                break


class Unevaluated(Walk):
    """Handlers of operands that are not evaluated."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        found = {file: list(operands_of_decltype(source)) for file, source in inputs.sources.items()}
        self._decltypes = {file: operands for file, operands in found.items() if operands}
        self._is_within = False

    def heed_decltype(self) -> None:
        """Have the handlers of expressions that may call something look whether they stand in a decltype."""
        if self._decltypes:
            for kind in kinds.MAY_CALL:
                self.handlers[kind] = self._unless_in_decltype(self.handlers[kind])

    def _unless_in_decltype(self, handler: Handler) -> Handler:
        def handle(cursor: CXCursor, parent: CXCursor) -> int:
            if self._is_within or not self._is_in_decltype(cursor):
                return handler(cursor, parent)
            self._name_only_in(cursor, lambda: handler(cursor, parent))
            return CONTINUE

        return handle

    def _is_in_decltype(self, cursor: CXCursor) -> bool:
        handle, _, _, offset = file_location(self.library.clang_getCursorLocation(cursor))
        operands = self._decltypes.get(self.paths.relative(handle))
        if operands is None:
            return False
        at = bisect_right(operands, (offset, offset)) - 1
        return any(first <= offset < last for first, last in operands[max(0, at - 1) : at + 2])

    def _operand(self, cursor: CXCursor, _parent: CXCursor) -> int:
        """sizeof, alignof, noexcept(..), a requires-expression."""
        if self._is_within:
            return RECURSE
        self._name_only_in(cursor, lambda: RECURSE)
        return CONTINUE

    def _typeid(self, cursor: CXCursor, parent: CXCursor) -> int:
        """`typeid(x)` evaluates an x that names an object of a class with virtual functions ([expr.typeid])."""
        library = self.library
        operand = next((c for c in children(cursor) if c.kind in kinds.EXPRESSIONS), None)
        if operand is None:
            return RECURSE
        is_object = True
        if (at := unwrapped(operand)).kind == kinds.CALL_EXPR:
            result = library.clang_getCursorResultType(library.clang_getCursorReferenced(at))
            is_object = library.clang_getCanonicalType(result).kind in REFERENCES
        kind = library.clang_getCursorType(operand)
        is_polymorphic = class_of(kind).kind in kinds.TYPE_LIKE and bool(
            members(kind, library.clang_CXXMethod_isVirtual)
        )
        return RECURSE if is_object and is_polymorphic else self._operand(cursor, parent)

    def name_default(self, parameter: CXCursor) -> None:
        """Walk the value of a parameter: what it calls, the function does not, but who calls it without the argument
        (xref/cpp/lifetimes.py). Lambdas in it are functions of their own."""
        facts = self.facts.get(self.position(parameter)[0])
        if facts is None or self._is_within:
            self.descend(parameter)
            return
        tables = facts.calls, facts.instances, facts.unresolved, facts.dependent
        marks = [len(rows) for rows in tables]
        first = len(facts.refs)
        self.descend(parameter)
        here = self.within()
        if marks != [len(rows) for rows in tables]:
            facts.calls[marks[0] :] = [row for row in facts.calls[marks[0] :] if row.caller != here]
            facts.instances[marks[1] :] = [row for row in facts.instances[marks[1] :] if row.caller != here]
            facts.unresolved[marks[2] :] = [row for row in facts.unresolved[marks[2] :] if row.within != here]
            facts.dependent[marks[3] :] = [row for row in facts.dependent[marks[3] :] if row.within != here]
        for i in range(first, len(facts.refs)):
            if facts.refs[i].role in _NOT_DONE and facts.refs[i].within == here:
                facts.refs[i] = facts.refs[i]._replace(role=Role.READ)

    def _name_only_in(self, cursor: CXCursor, handle: Callable[[], int]) -> None:
        """Walk the cursor, which `handle` looks at, and keep of what that yields the references."""
        facts = self.facts.get(self.position(cursor)[0])
        marks = [len(rows) for rows in _of_code_that_runs(facts)] if facts is not None else []
        first = len(facts.refs) if facts is not None else 0
        self._is_within = True
        if handle() == RECURSE:
            self.descend(cursor)
        self._is_within = False
        if facts is None:
            return
        for rows, mark in zip(_of_code_that_runs(facts), marks, strict=True):
            del rows[mark:]
        for i in range(first, len(facts.refs)):
            if facts.refs[i].role in _NOT_DONE:
                facts.refs[i] = facts.refs[i]._replace(role=Role.READ)


def _of_code_that_runs(facts: FileFacts) -> tuple[list[Any], ...]:
    return facts.calls, facts.unresolved, facts.dependent, facts.instances, facts.parts
