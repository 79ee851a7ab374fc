"""What runs though nobody writes a call: destructors of variables and temporaries, and the values of parameters that a
call leaves out."""

from __future__ import annotations

from xref.cpp import kinds
from xref.cpp.bindings import REFERENCES
from xref.cpp.clang import CXCursor, children
from xref.cpp.names import Declaration
from xref.cpp.specials import Specials
from xref.cpp.walk import Inputs
from xref.model import Call, Evidence, FileFacts

_INSTANTIABLE = (kinds.CLASS, kinds.STRUCT, kinds.UNION)


class Lifetimes(Specials):
    """Records the calls of values that nobody writes, and at the end of an object's life."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._destructors: dict[int, Declaration | None] = {}
        self._of_defaults: dict[tuple[int, int], list[tuple[Declaration, CXCursor]]] = {}

    def note_defaults(self, call: CXCursor, referenced: CXCursor, facts: FileFacts, line: int, col: int) -> None:
        """What the values of parameters that the call leaves out call (`Span span = Span()`), the caller calls."""
        library = self.library
        for i in range(library.clang_Cursor_getNumArguments(call)):
            if not self.token(library.clang_Cursor_getArgument(call, i)):  # a default has no place in the text
                self._note_default(referenced, i, Evidence.DIRECT, facts, line, col)

    def note_left_out(
        self, function: CXCursor, given: int, evidence: Evidence, facts: FileFacts, line: int, col: int
    ) -> None:
        """The same of a function that may be called, with so many arguments, where it takes so few."""
        left_out = range(given, self.library.clang_getNumArgTypes(self.library.clang_getCursorType(function)))
        if left_out and self.default_of(function, given) is not None:
            for i in left_out:
                self._note_default(function, i, evidence, facts, line, col)

    def _note_default(
        self, function: CXCursor, i: int, evidence: Evidence, facts: FileFacts, line: int, col: int
    ) -> None:
        scope = self.scope
        known = self._of_defaults.get((function.decl, i))
        if known is None:
            known = self._of_defaults[function.decl, i] = self._uses_of_default(function, i)
        for callee, at in known if scope is not None else ():
            assert scope is not None
            self.mention(callee, facts)
            is_call = at.kind == kinds.CALL_EXPR
            facts.calls.append(Call(scope.id, callee.id, evidence if is_call else Evidence.VALUE, line, col))
            if is_call:
                self.note_instance(at, self.library.clang_getCursorReferenced(at), callee, facts, line, col)

    def default_of(self, function: CXCursor, i: int) -> CXCursor | None:
        """The value of the function's i-th parameter where a call leaves it out."""
        template = self.library.clang_getSpecializedCursorTemplate(function)
        parameters = [c for c in children(template if template.decl else function) if c.kind == kinds.PARAMETER]
        values = [c for c in children(parameters[i]) if c.kind in kinds.EXPRESSIONS] if i < len(parameters) else []
        return values[-1] if values else None

    def _uses_of_default(self, function: CXCursor, i: int) -> list[tuple[Declaration, CXCursor]]:
        """The functions in the value of the function's i-th parameter that it calls, or hands over as values, each with
        its cursor."""
        library = self.library
        found: list[tuple[Declaration, CXCursor]] = []
        called: set[int] = set()
        seen: set[tuple[int, int]] = set()
        pending = self._unseen_default(function, i, seen)
        for expression in pending:
            pending += [c for c in children(expression) if c.kind in kinds.EXPRESSIONS and c.kind != kinds.LAMBDA_EXPR]
            if expression.kind not in (kinds.CALL_EXPR, kinds.DECL_REF_EXPR):
                continue
            referenced = library.clang_getCursorReferenced(expression)
            callee = self.declarations.of(referenced)
            if callee is None or not callee.is_function:
                continue
            if expression.kind == kinds.CALL_EXPR:
                called.add(referenced.decl)
                for j in range(library.clang_Cursor_getNumArguments(expression)):
                    if not self.token(library.clang_Cursor_getArgument(expression, j)):
                        pending += self._unseen_default(referenced, j, seen)
            if expression.kind == kinds.CALL_EXPR or referenced.decl not in called:
                found.append((callee, expression))
        return found

    def _unseen_default(self, function: CXCursor, i: int, seen: set[tuple[int, int]]) -> list[CXCursor]:
        value = self.default_of(function, i) if (function.decl, i) not in seen else None
        seen.add((function.decl, i))
        return [value] if value is not None else []

    def note_temporary(self, constructor: CXCursor, facts: FileFacts, line: int, col: int) -> None:
        """An object that is made within a larger call ends in the function: `LogFatal(..).stream() << x`."""
        if self.open_calls:
            self._note_destructor_of(self.library.clang_getCursorSemanticParent(constructor), facts, line, col)

    def note_destructor(self, variable: CXCursor) -> None:
        """A local variable's destructor is called by the function, where somebody wrote one for its class; an array's
        elements each have one."""
        library, scope = self.library, self.scope
        kind = library.clang_getCanonicalType(library.clang_getCursorType(variable))
        while kind.kind in kinds.ARRAY_TYPES:
            kind = library.clang_getArrayElementType(kind)
        class_ = library.clang_getTypeDeclaration(kind)
        if scope is None or kind.kind in REFERENCES or class_.kind not in _INSTANTIABLE:
            return
        file, line, col = self.position(variable)
        facts = self.facts.get(file)
        if facts is not None:
            self._note_destructor_of(class_, facts, line, col)

    def _note_destructor_of(self, class_: CXCursor, facts: FileFacts, line: int, col: int) -> None:
        if class_.decl not in self._destructors:
            self._destructors[class_.decl] = self._destructor_of(class_)
        destructor, scope = self._destructors[class_.decl], self.scope
        if destructor is not None and scope is not None:
            self.mention(destructor, facts)
            facts.calls.append(Call(scope.id, destructor.id, Evidence.DIRECT, line, col))
            self._emit(destructor, self._class_bindings(class_), facts, line, col)

    def _destructor_of(self, class_: CXCursor) -> Declaration | None:
        template = self.library.clang_getSpecializedCursorTemplate(class_)  # libclang shows an instance without members
        defined = self.library.clang_getCursorDefinition(template if template.decl else class_)
        written = next((c for c in children(defined) if c.kind == kinds.DESTRUCTOR), None)
        found = self.declarations.of(written) if written is not None else None
        return found if found is not None and found.file else None
