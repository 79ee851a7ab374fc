"""What `delete p` and `new T(..)` run beside constructors: destructors, and a class's own operator delete and new."""

from __future__ import annotations

import re

from xref.cpp import kinds
from xref.cpp.clang import RECURSE, CXCursor, CXType, children, text
from xref.cpp.dependent import NOT_COMPILED, DependentCalls
from xref.cpp.members import class_of, members, methods_named
from xref.model import DESTRUCTION, Call, Dependent, Evidence, FileFacts, Role, Unresolved

_DELETE = re.compile(r"(::)?\s*delete\s*(\[\s*\])?")
_REASON = "dependent on a template parameter: what delete runs"


class Allocations(DependentCalls):
    """Handlers of delete and new expressions."""

    def _delete(self, cursor: CXCursor, _parent: CXCursor) -> int:
        library = self.library
        file, line, col = self.position(cursor)
        facts, parts = self.facts.get(file), children(cursor)
        if facts is None or not parts:
            return RECURSE
        pointer = library.clang_getCursorType(parts[-1])
        pointee = library.clang_getPointeeType(library.clang_getCanonicalType(pointer))
        written = self.source_text(cursor)
        if class_of(pointee).kind in kinds.TYPE_LIKE:
            self._destroys(pointee, facts, line, col)
            form = _DELETE.match(written)
            if form is None or not form.group(1):
                name = "operator delete[]" if form is not None and form.group(2) else "operator delete"
                found = methods_named(pointee, name)
                usual = sorted(found, key=lambda c: library.clang_getNumArgTypes(library.clang_getCursorType(c)))
                self._runs(usual[:1], facts, line, col)  # with the size only where there is none without
        elif parameter := self.parameter_of(pointer):
            facts.dependent.append(Dependent(line, col, self.within(), DESTRUCTION, "", "", written, parameter))
        elif not pointee.kind or pointee.kind in kinds.UNKNOWN_TYPES:
            reason = _REASON if self.in_template() else NOT_COMPILED
            facts.unresolved.append(Unresolved(line, col, self.within(), written, reason))
        return RECURSE

    def _destroys(self, kind: CXType, facts: FileFacts, line: int, col: int) -> None:
        """The destructor of the class; of one that has none of its own those of its bases, which the compiler's calls.
        A virtual one leads on to those of the classes below the static type (xref/link/overriders.py)."""
        library, scope = self.library, self.scope
        static = self.declarations.of(class_of(kind))
        for cursor in members(kind, lambda c: c.kind == kinds.DESTRUCTOR):
            destructor = self.declarations.of(cursor)
            if destructor is not None and scope is not None and static is not None:
                via = static.qualname if library.clang_CXXMethod_isVirtual(cursor) else ""
                self.mention(destructor, facts)
                self.add_ref(facts, destructor.id, line, col, Role.CALL)
                facts.calls.append(Call(scope.id, destructor.id, Evidence.DIRECT, line, col, via))
                self._emit(destructor, self._class_bindings(library.clang_getTypeDeclaration(kind)), facts, line, col)

    def _new(self, cursor: CXCursor, _parent: CXCursor) -> int:
        library = self.library
        file, line, col = self.position(cursor)
        facts, parts = self.facts.get(file), children(cursor)
        made = library.clang_getPointeeType(library.clang_getCanonicalType(library.clang_getCursorType(cursor)))
        if facts is None or class_of(made).kind not in kinds.TYPE_LIKE or self.source_text(cursor).startswith("::"):
            return RECURSE
        value = library.clang_getCanonicalType(library.clang_getCursorType(parts[-1])) if parts else made
        placed = next((i for i, c in enumerate(parts) if c.kind not in kinds.EXPRESSIONS), 0)
        given = [text(library.clang_getTypeSpelling(library.clang_getCursorType(c))) for c in parts[:placed]]
        found = methods_named(made, "operator new[]" if value.kind in kinds.ARRAY_TYPES else "operator new")
        fitting = [c for c in found if len(self._placement(c)) == placed]
        exact = [c for c in fitting if self._placement(c) == given]
        self._runs(exact or fitting or found, facts, line, col)
        return RECURSE

    def _placement(self, operator: CXCursor) -> list[str]:
        """The types of the parameters behind the size."""
        kind = self.library.clang_getCursorType(operator)
        count = self.library.clang_getNumArgTypes(kind)
        return [
            text(self.library.clang_getTypeSpelling(self.library.clang_getArgType(kind, i))) for i in range(1, count)
        ]

    def _runs(self, operators: list[CXCursor], facts: FileFacts, line: int, col: int) -> None:
        """One is called; several that may be are guesses."""
        evidence = Evidence.DIRECT if len(operators) == 1 else Evidence.NAME
        for cursor in operators:
            operator, scope = self.declarations.of(cursor), self.scope
            if operator is not None and scope is not None:
                self.mention(operator, facts)
                self.add_ref(facts, operator.id, line, col, Role.CALL)
                facts.calls.append(Call(scope.id, operator.id, evidence, line, col))
