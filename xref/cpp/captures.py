"""What capturing by copy runs: `[x]` and `[=]` call the copy constructors of what they keep, in the function around.

libclang lists the captures that are written, by name, and shows nothing of what computes them.
"""

from __future__ import annotations

import re

from xref.cpp import kinds
from xref.cpp.braces import Braces
from xref.cpp.clang import CONTINUE, CXCursor, children
from xref.cpp.hidden import captured_by
from xref.cpp.walk import Inputs, OpenCall
from xref.model import Role, Unresolved

_COPIES_ALL = re.compile(r"\[\s*=")
_COPIES_NOTHING = re.compile(r"\[\s*&?\s*(this\s*)?\]")
_NOT_SHOWN = "what a lambda copies, which this libclang does not show"
_DEPENDENT = "dependent on a template parameter: what [=] copies"


class Captures(Braces):
    """Records the constructions of captures that are no expressions of their own."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._captured: set[int] = set()
        """The constructions that libclang lists below a lambda, though they run before it: of elements of arrays."""

    def note_copied_captures(self, closure: CXCursor) -> None:
        """Record the constructors that making the closure calls. Those of `[x = f()]` are expressions in the text."""
        file, line, col = self.position(closure)
        facts, scope, parts = self.facts.get(file), self.scope, children(closure)
        if facts is None or scope is None or not parts:
            return
        written = self.source_text(closure)
        captured = captured_by(closure, parts[-1])
        unknown = captured is None and not _COPIES_NOTHING.match(written)
        if unknown or (self.in_template() and _COPIES_ALL.match(written)):
            reason = _NOT_SHOWN if unknown else _DEPENDENT
            introducer = written.partition("]")[0] + "]"
            facts.unresolved.append(Unresolved(line, col, scope.id, introducer, reason))
        own = self._own_values(parts)
        pending = [value for value in captured or () if value.data1 not in own]
        for value in pending:
            if value.kind == kinds.CALL_EXPR:
                self._note_copy(value)
            elif value.kind == kinds.UNEXPOSED_EXPR:
                inner = [c for c in children(value) if c.kind in (kinds.CALL_EXPR, kinds.UNEXPOSED_EXPR)]
                self._captured.update(c.data1 for c in inner)
                pending += inner

    def _own_values(self, parts: list[CXCursor]) -> set[int]:
        """The addresses of the values that init-captures have in the text."""
        library = self.library
        variables = [library.clang_getCursorReferenced(c) for c in parts if c.kind == kinds.VARIABLE_REF]
        return {library.clang_Cursor_getVarDeclInitializer(v).data1 for v in variables} - {None}

    def _note_copy(self, construction: CXCursor) -> None:
        referenced, scope = self.library.clang_getCursorReferenced(construction), self.scope
        callee = self.declarations.of(referenced)
        call = OpenCall(callee)
        call.file, call.line, call.col = self.position(construction)
        facts = self.facts.get(call.file)
        if callee is None or callee.symbol_kind != "constructor" or facts is None or scope is None:
            return
        self.add_ref(facts, callee.id, call.line, call.col, Role.CALL)
        self._resolved_call(scope, construction, referenced, callee, call)

    def _call(self, cursor: CXCursor, parent: CXCursor) -> int:
        return CONTINUE if cursor.data1 in self._captured else super()._call(cursor, parent)
