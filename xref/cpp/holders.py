"""Functions that are kept and called later: in a parameter, a field or a variable of a type that can be called.

`std::function`, TVM's `TypedFunction` and pointers to functions hide what they run. Who is given what is a fact of each
call, assignment and initialiser (`Instance`), a call through one is another (`Dependent`); the linker joins them.
"""

from __future__ import annotations

from xref.cpp import kinds
from xref.cpp.bindings import POINTER
from xref.cpp.clang import CXCursor, CXType, children, text, unwrapped
from xref.cpp.names import Declaration
from xref.cpp.parts import Parts
from xref.model import CALL_OPERATOR, METHOD_POINTER, Call, Dependent, Evidence, FileFacts, Instance

_VOID = 2  # CXType_Void
_MAX_DEPTH = 6
_CASTS = (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR, kinds.CSTYLE_CAST, kinds.STATIC_CAST, kinds.REINTERPRET_CAST,
          kinds.FUNCTIONAL_CAST, kinds.UNARY_OPERATOR, kinds.INIT_LIST_EXPR)  # fmt: skip


class Holders(Parts):
    """Follows function values through what holds them. A holder is written `#<i>` (the i-th parameter of a function)
    or `@<id>` (a field or variable), and after it the name that a reader knows."""

    def note_given(
        self, call: CXCursor, referenced: CXCursor, callee: Declaration, facts: FileFacts, line: int, col: int
    ) -> None:
        """Record the functions that a call gives for parameters that can be called."""
        if not callee.file or self.scope is None:
            return
        for i in self.callable_positions(referenced):
            if i < self.library.clang_Cursor_getNumArguments(call):
                for value in self._values(self.library.clang_Cursor_getArgument(call, i)):
                    facts.instances.append(Instance(line, col, self.scope.id, callee.id, f"#{i}={value}", False))

    def note_kept(self, holder: CXCursor, expression: CXCursor) -> None:
        """Record that a field or variable is assigned, or initialised with, a function."""
        if self.scope is None or holder.kind not in (kinds.FIELD, kinds.VARIABLE):
            return
        file, line, col = self.position(expression)
        facts, kept = self.facts.get(file), self.declarations.of(holder)
        if facts is None or kept is None or not self._may_hold(self.library.clang_getCursorType(holder)):
            return
        for value in self._values(expression):
            facts.instances.append(Instance(line, col, self.scope.id, kept.id, f"@={value}", False))

    def field_of_this(self, member: CXCursor) -> CXCursor | None:
        """The field that `this->name` is in a class template: inherited from a class that depends on no parameter, so
        that clang looks it up in an instance alone. None for other expressions."""
        inner = children(member) if member.kind == kinds.MEMBER_REF_EXPR else []
        if len(inner) != 1 or inner[0].kind != kinds.THIS_EXPR:
            return None
        return self.field_named(self.library.clang_getCursorType(inner[0]), self.written_name(member))

    def field_named(self, kind: CXType, name: str) -> CXCursor | None:
        """The field of that name in the class that the type is or points to, or in a base of it."""
        kind = self.library.clang_getCanonicalType(kind)
        pointee = self.library.clang_getPointeeType(kind)
        return self.field_in(self.library.clang_getTypeDeclaration(pointee if pointee.kind else kind), name)

    def field_in(self, class_: CXCursor, name: str) -> CXCursor | None:
        """The field of that name in the class, or in a base of it."""
        pending = [class_]
        for at in pending:
            for child in children(self.library.clang_getCursorDefinition(at)):
                if child.kind == kinds.FIELD and text(self.library.clang_getCursorSpelling(child)) == name:
                    return child
                if child.kind == kinds.BASE_SPECIFIER:
                    base = self.library.clang_getCanonicalType(self.library.clang_getCursorType(child))
                    pending.append(self.library.clang_getTypeDeclaration(base))
        return None

    def note_initialisers(self, constructor: CXCursor) -> None:
        """Record what `x_(f)` gives to fields; libclang lists the value behind the field's name. A field whose type is
        a template parameter is made by a constructor that only an instantiation knows."""
        field: CXCursor | None = None
        for child in children(constructor):
            if child.kind == kinds.MEMBER_REF:
                field = self.library.clang_getCursorReferenced(child)
                file, line, col = self.position(child)
                parameter = self.parameter_of(self.library.clang_getCursorType(field))
                if parameter and file in self.facts:
                    self.note_construction(parameter, self.facts[file], line, col)
            elif field is not None and child.kind in kinds.EXPRESSIONS:
                self.note_kept(field, child)
                field = None

    def note_through(self, call: CXCursor, facts: FileFacts, line: int, col: int, written: str) -> bool:
        """Record that a call runs what its callee holds; False when that is no holder. `written` is the call, "" where
        clang knows a callee (std::function::operator())."""
        scope, parts = self.scope, children(call)
        if scope is None or not parts:
            return False
        values = self._values(parts[0])
        picked = unwrapped(parts[0])
        name, via = CALL_OPERATOR, ""
        if self._picks_method(picked):  # a virtual one is dispatched on the object
            object_type = self.library.clang_getCursorType(unwrapped(children(picked)[0]))
            name, via = METHOD_POINTER, METHOD_POINTER + self.class_named(object_type)
        facts.calls += [Call(scope.id, int(v[1:]), Evidence.VALUE, line, col, via) for v in values if v[0] == "f"]
        for value in (v for v in values if v[0] in "p@"):
            facts.dependent.append(Dependent(line, col, self.within(), name, "", "", written, value.removeprefix("p")))
        return bool(values)

    def _may_hold(self, kind: CXType) -> bool:
        kind = self.library.clang_getCanonicalType(kind)
        return self.is_callable(kind) or (
            kind.kind == POINTER and self.library.clang_getPointeeType(kind).kind == _VOID
        )

    def _values(self, expression: CXCursor, depth: int = 0) -> list[str]:
        """The functions (`f<id>`) and holders (`p#<i> name`, `@<id> name`) that the expression may be."""
        if depth > _MAX_DEPTH:
            return []
        expression = self.handed_on(self.bound_function(expression))
        if found := self.find_lambda(expression):
            return [f"f{self.declare_lambda(found, '').id}"]
        parts = [c for c in children(expression) if c.kind in kinds.EXPRESSIONS]
        if expression.kind == kinds.CONDITIONAL:
            return [v for part in parts[1:] for v in self._values(part, depth + 1)]
        if expression.kind in _CASTS and parts:
            return self._values(parts[-1], depth + 1)
        if self._picks_method(expression) and parts:
            return self._values(parts[-1], depth + 1)
        if expression.kind == kinds.CALL_EXPR and len(parts) == 1:
            referenced = self.library.clang_getCursorReferenced(expression)
            made = self.library.clang_getCursorType(expression)
            if referenced.kind in (kinds.CONSTRUCTOR, kinds.CONVERSION) or self.is_callable(made):
                return self._values(parts[0], depth + 1)
        if expression.kind in (kinds.DECL_REF_EXPR, kinds.MEMBER_REF_EXPR):
            return self._values_of_name(self.library.clang_getCursorReferenced(expression), depth)
        return []

    def _picks_method(self, expression: CXCursor) -> bool:
        """Whether it is `object.*method` or `object->*method`."""
        return expression.kind == kinds.BINARY_OPERATOR and (
            self.library.clang_getCursorBinaryOperatorKind(expression) in kinds.POINTER_TO_MEMBER
        )

    def calls_method_pointer(self, call: CXCursor) -> bool:
        """Whether what is called is `(object->*method)`."""
        parts = children(call)
        return bool(parts) and self._picks_method(unwrapped(parts[0]))

    def _values_of_name(self, named: CXCursor, depth: int) -> list[str]:
        if known := self.variable_values.get(named.decl or 0):
            return [f"f{value.id}" for value in known]
        name = text(self.library.clang_getCursorSpelling(named))
        target = self.declarations.of(named)
        if target is None:
            return []
        if target.is_function:
            return [f"f{target.id}"]
        if not self._may_hold(self.library.clang_getCursorType(named)):
            return []
        if named.kind == kinds.PARAMETER:
            position = self._position_of(named)
            return [f"p#{position} {name}"] if position >= 0 else []
        if target.linkage != "none" and target.file:
            return [f"@{target.id} {name}"]
        given = [c for c in children(named) if c.kind in kinds.EXPRESSIONS][-1:] + self.assigned.get(named.decl, [])
        return [v for one in given for v in self._values(one, depth + 1)]

    def _position_of(self, parameter: CXCursor) -> int:
        """The place of a parameter among its function's; -1 for a lambda's."""
        function = self.library.clang_getCursorSemanticParent(parameter)
        declared = self.declarations.of(function)
        if declared is None or declared.symbol_kind == "lambda":
            return -1
        parameters = [c for c in children(function) if c.kind == kinds.PARAMETER]
        return next((i for i, c in enumerate(parameters) if c.decl == parameter.decl), -1)
