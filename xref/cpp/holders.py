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
from xref.cpp.walk import Inputs
from xref.model import CALL_OPERATOR, METHOD_POINTER, Call, Dependent, Evidence, FileFacts, Id, Instance

_VOID = 2  # CXType_Void
_MAX_DEPTH = 6
_CASTS = (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR, kinds.CSTYLE_CAST, kinds.STATIC_CAST, kinds.REINTERPRET_CAST,
          kinds.FUNCTIONAL_CAST, kinds.UNARY_OPERATOR, kinds.INIT_LIST_EXPR)  # fmt: skip


class Holders(Parts):
    """Follows function values through what holds them. A holder is written `#<i>` (the i-th parameter of a function),
    `@<id>` (a field or variable) or `~<id>` (what a function returns), and after it the name that a reader knows."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._returns_functions: dict[Id, bool] = {}
        """By function: whether what it returns can be called."""

    def note_given(
        self, call: CXCursor, referenced: CXCursor, callee: Declaration, facts: FileFacts, line: int, col: int
    ) -> None:
        """Record the functions that a call gives for parameters that can be called."""
        if not callee.file or self.scope is None:
            return
        for i in self.callable_positions(referenced):
            if i < self.library.clang_Cursor_getNumArguments(call):
                argument = self.library.clang_Cursor_getArgument(call, i)
                if not self.token(argument):
                    argument = self.default_of(referenced, i) or argument
                for value in self._values(argument):
                    facts.instances.append(Instance(line, col, self.scope.id, callee.id, f"#{i}={value}", False))

    def note_kept(self, holder: CXCursor, expression: CXCursor) -> None:
        """Record that a field or variable is assigned, or initialised with, a function."""
        if holder.kind not in (kinds.FIELD, kinds.VARIABLE):
            return
        file, line, col = self.position(expression)
        facts, kept = self.facts.get(file), self.declarations.of(holder)
        if facts is None or kept is None or not self._may_hold(self.library.clang_getCursorType(holder)):
            return
        for value in self._values(expression):
            by = self.scope or kept
            facts.instances.append(Instance(line, col, by.id, kept.id, f"@={value}", False))

    def note_initialiser(self, holder: CXCursor) -> None:
        """Record the function that the declaration of a field or variable gives to it."""
        given = [c for c in children(holder) if c.kind in kinds.EXPRESSIONS]
        if given:
            self.note_kept(holder, given[-1])

    def note_returned(self, statement: CXCursor) -> None:
        """Record the functions that the function around returns: who calls its result calls these."""
        scope = self.scope
        if scope is None or not scope.is_function or scope.symbol_kind == "lambda":
            return
        may_return = self._returns_functions.get(scope.id)
        if may_return is False:
            return
        value = next((c for c in children(statement) if c.kind in kinds.EXPRESSIONS), None)
        if value is None:
            return
        if may_return is None:
            may_return = self.is_callable(self.library.clang_getCursorType(value))
            self._returns_functions[scope.id] = may_return
        file, line, col = self.position(statement)
        if may_return and file in self.facts:
            self.facts[file].instances += [
                Instance(line, col, scope.id, scope.id, f"~={returned}", False) for returned in self._values(value)
            ]

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
        named = self._functions_in(parts[0])  # each of which is a value already, where it stands
        functions = [int(v[1:]) for v in values if v[0] == "f"]
        facts.calls += [Call(scope.id, f, Evidence.VALUE, line, col, via) for f in functions if f not in named]
        for value in (v for v in values if v[0] != "f"):
            holder = f"~{value[1:]}" if value[0] == "r" else value.removeprefix("p")
            facts.dependent.append(Dependent(line, col, self.within(), name, "", "", written, holder))
        return bool(values)

    def _functions_in(self, expression: CXCursor) -> set[Id]:
        """The functions that the expression names itself, through casts and `? :`."""
        found: set[Id] = set()
        pending = [expression]
        for at in pending:
            if at.kind in _CASTS or at.kind == kinds.CONDITIONAL or self._picks_method(at):
                pending += [c for c in children(at) if c.kind in kinds.EXPRESSIONS]
            elif at.kind in (kinds.DECL_REF_EXPR, kinds.MEMBER_REF_EXPR):
                target = self.declarations.of(self.library.clang_getCursorReferenced(at))
                found |= {target.id} if target is not None and target.is_function else set()
        return found

    def _may_hold(self, kind: CXType) -> bool:
        kind = self.library.clang_getCanonicalType(kind)
        return self.is_callable(kind) or (
            kind.kind == POINTER and self.library.clang_getPointeeType(kind).kind == _VOID
        )

    def _values(self, expression: CXCursor, depth: int = 0) -> list[str]:
        """The functions (`f<id>`) and holders (`p#<i> name`, `@<id> name`, `r<id> name`) that the expression may be."""
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
        if expression.kind == kinds.CALL_EXPR and parts:
            return self._values_of_call(expression, parts, depth)
        if expression.kind in (kinds.DECL_REF_EXPR, kinds.MEMBER_REF_EXPR):
            return self._values_of_name(self.library.clang_getCursorReferenced(expression), depth)
        return []

    def _values_of_call(self, call: CXCursor, parts: list[CXCursor], depth: int) -> list[str]:
        """What a conversion is of, or what a function of the tree returns."""
        referenced = self.called_function(call)
        is_callable = self.is_callable(self.library.clang_getCursorType(call))
        if referenced.kind in (kinds.CONSTRUCTOR, kinds.CONVERSION) or (is_callable and not referenced.decl):
            return self._values(parts[0], depth + 1) if len(parts) == 1 else []
        called = unwrapped(parts[0], _CASTS)
        maker = self.declarations.of(referenced)
        if (
            not is_callable
            or maker is None
            or not maker.is_function
            or not maker.file
            or called.kind == kinds.CALL_EXPR
        ):
            return []  # of `f(x)(y)` libclang says that it calls f
        return [f"r{maker.id} {maker.name}"] if maker.symbol_kind in ("function", "method") else []

    def called_function(self, call: CXCursor) -> CXCursor:
        """What libclang says that the call runs; it does not say so of `(f)(x)`, `(*f)(x)` and `(&f)(x)`."""
        referenced: CXCursor = self.library.clang_getCursorReferenced(call)
        if referenced.decl:
            return referenced
        at = next(iter(children(call)), call)
        is_bracketed = False
        while at.kind in (kinds.UNARY_OPERATOR, *kinds.WRAPPERS) and len(inner := children(at)) == 1:
            is_bracketed |= at.kind == kinds.PAREN_EXPR
            at = inner[0]
        if not is_bracketed or at.kind not in (kinds.DECL_REF_EXPR, kinds.MEMBER_REF_EXPR):
            return referenced
        named: CXCursor = self.library.clang_getCursorReferenced(at)
        return named if named.kind in kinds.FUNCTION_LIKE else referenced

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
