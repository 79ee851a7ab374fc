"""A small evaluator of C++ over libclang's syntax tree: strings, numbers, tables, structures, calls, loops, branches.

It follows only what it knows: a value of anything else is `UNKNOWN`, a branch on an unknown condition is not taken on
either side, and a bound on steps ends what does not end. It never runs anything of the analysed tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load, text
from xref.model import CALL_OPERATOR
from xref.registry.cpp_record import expressions, initialiser
from xref.registry.cpp_values import is_default, unquote

Value = Any
"""str, int (bool among them), list (a table or a structure, in order of its fields), a `Closure`, or `UNKNOWN`."""


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()
_MAX_STEPS = 200_000
_MAX_DEPTH = 60
_INTEGER_LITERAL, _CHARACTER_LITERAL, _CONDITIONAL, _BOOL_LITERAL = 106, 110, 116, 130
_COMPOUND, _IF, _FOR, _RETURN, _RANGE_FOR, _DECLARATION = 202, 205, 209, 214, 225, 231
_EVALUATED_INT = 1  # CXEval_Int
# CXBinaryOperatorKind and CXUnaryOperatorKind (clang-c/Index.h of libclang 18)
_BINARY: dict[int, Callable[[Any, Any], Value]] = {
    6: lambda a, b: a + b, 7: lambda a, b: a - b, 3: lambda a, b: a * b,
    11: lambda a, b: a < b, 12: lambda a, b: a > b, 13: lambda a, b: a <= b, 14: lambda a, b: a >= b,
    15: lambda a, b: a == b, 16: lambda a, b: a != b,
}  # fmt: skip
_AND, _OR, _ASSIGN = 20, 21, 22
_NOT, _MINUS, _PRE_INCREMENT, _POST_INCREMENT = 10, 8, 3, 1
_OPERATORS = {
    "operator+": _BINARY[6], "operator==": _BINARY[15], "operator!=": _BINARY[16], "operator<": _BINARY[11],
}  # fmt: skip
_NPOS = 2**64 - 1
_STRING_METHODS: dict[str, Callable[..., Value]] = {
    "rfind": lambda s, x, at=None: _position(s.rfind(x) if at is None else s.rfind(x, 0, at + len(x))),
    "find": lambda s, x, at=0: _position(s.find(x, at)),
    "substr": lambda s, at=0, n=_NPOS: s[at:] if n >= len(s) else s[at : at + n],
    "size": len,
    "length": len,
    "empty": lambda s: not s,
    "c_str": lambda s: s,
    "data": lambda s: s,
    "compare": lambda s, x: (s > x) - (s < x),
    "starts_with": lambda s, x: s.startswith(x),
    "ends_with": lambda s, x: s.endswith(x),
}
"""Methods of std::string, std::string_view and tvm::ffi::String."""


def _position(found: int) -> int:
    return found if found >= 0 else _NPOS


class Closure:
    """A lambda, with the variables that it sees."""

    def __init__(self, cursor: CXCursor, environment: dict[int, Value]) -> None:
        self.cursor, self.environment = cursor, environment


class _Return(Exception):  # noqa: N818  not an error
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class _OutOfSteps(Exception):  # noqa: N818
    pass


class Evaluator:
    """`special` gives calls a meaning that the language does not; `row` is the entry of a table that a loop is at, else
    the call of a helper."""

    def __init__(self) -> None:
        self.row: CXCursor | None = None
        self._globals: dict[int, Value] = {}
        self._steps = 0
        self._depth = 0

    def special(self, call: CXCursor, environment: dict[int, Value]) -> Value | None:
        """The value of a call that the caller knows how to read; None for any other."""

    def is_own(self, _definition: CXCursor) -> bool:
        """Whether the constructor is of the code that is evaluated: a string's own leads nowhere, in many steps."""
        return False

    def run(self, function: CXCursor) -> None:
        """Evaluate the body of a function without arguments."""
        try:
            self._body(function, {})
        except _OutOfSteps:
            self._steps = 0

    def global_value(self, declaration: CXCursor) -> Value:
        """What a variable outside functions is initialised with."""
        known = self._globals.get(declaration.decl)
        if known is None:
            self._globals[declaration.decl] = UNKNOWN  # one that refers to itself
            value = initialiser(declaration)
            try:
                known = self.value(value, {}) if value is not None else UNKNOWN
            except _OutOfSteps:
                self._steps, known = 0, UNKNOWN
            self._globals[declaration.decl] = known
        return known

    # statements

    def _body(self, function: CXCursor, environment: dict[int, Value]) -> Value:
        if self._depth > _MAX_DEPTH:
            return UNKNOWN
        self._depth += 1
        try:
            for part in children(function):
                if part.kind == _COMPOUND:
                    self._statement(part, environment)
        except _Return as result:
            return result.value
        finally:
            self._depth -= 1
        return UNKNOWN

    def _statement(self, statement: CXCursor, environment: dict[int, Value]) -> None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise _OutOfSteps
        kind = statement.kind
        if kind in (_COMPOUND, _DECLARATION):
            for part in children(statement):
                self._statement(part, environment)
        elif kind == kinds.VARIABLE:
            value = initialiser(statement)
            environment[statement.decl] = self.value(value, environment) if value is not None else ""
        elif kind == _IF:
            condition, *branches = children(statement)
            taken = self.value(condition, environment)
            if taken is UNKNOWN:
                return
            for branch in branches[:1] if taken else branches[1:2]:
                self._statement(branch, environment)
        elif kind == _RETURN:
            inner = expressions(statement)
            raise _Return(self.value(inner[0], environment) if inner else UNKNOWN)
        elif kind == _RANGE_FOR:
            self._range_for(statement, environment)
        elif kind == _FOR:
            self._for(statement, environment)
        elif kind in kinds.EXPRESSIONS:
            self.value(statement, environment)

    def _range_for(self, statement: CXCursor, environment: dict[int, Value]) -> None:
        variable, table, body = children(statement)[:3]
        values = self.value(table, environment)
        if not isinstance(values, list):
            return
        names = [variable] if variable.kind == kinds.VARIABLE else [
            c for c in children(variable) if c.kind == kinds.UNEXPOSED_DECL
        ]  # fmt: skip
        outer, rows = self.row, self._rows(table)
        for at, value in enumerate(values):
            self.row = rows[at] if at < len(rows) else outer
            if variable.kind == kinds.VARIABLE:
                environment[variable.decl] = value
            elif isinstance(value, list) and len(value) == len(names):
                environment.update({name.decl: part for name, part in zip(names, value, strict=True)})
            self._statement(body, environment)
        self.row = outer

    def _rows(self, table: CXCursor) -> list[CXCursor]:
        """The written entries of the table that a loop goes over."""
        at: CXCursor | None = table
        while at is not None and at.kind != kinds.INIT_LIST_EXPR:
            if at.kind == kinds.DECL_REF_EXPR:
                at = initialiser(load().clang_getCursorReferenced(at))
            else:
                inner = expressions(at)
                at = inner[0] if inner else None
        return expressions(at) if at is not None else []

    def _for(self, statement: CXCursor, environment: dict[int, Value]) -> None:
        parts = children(statement)
        if len(parts) != 4:
            return
        start, condition, step, body = parts
        self._statement(start, environment)
        while True:
            going = self.value(condition, environment)
            if going is UNKNOWN or not going:
                return
            self._statement(body, environment)
            self.value(step, environment)

    # expressions

    def value(self, cursor: CXCursor, environment: dict[int, Value]) -> Value:
        """The value of an expression."""
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise _OutOfSteps
        kind = cursor.kind
        if kind == kinds.STRING_LITERAL:
            return unquote(text(load().clang_getCursorSpelling(cursor)))
        if kind in (_INTEGER_LITERAL, _BOOL_LITERAL, _CHARACTER_LITERAL):
            return self._number(cursor)
        if kind == kinds.LAMBDA_EXPR:
            return Closure(cursor, environment)
        if kind == kinds.DECL_REF_EXPR:
            return self._named(load().clang_getCursorReferenced(cursor), environment)
        if kind == kinds.MEMBER_REF_EXPR:
            return self._member(cursor, environment)
        if kind == kinds.CALL_EXPR:
            return self._call(cursor, environment)
        if kind == kinds.BINARY_OPERATOR:
            return self._binary(cursor, environment)
        if kind == kinds.UNARY_OPERATOR:
            return self._unary(cursor, environment)
        inner = expressions(cursor)
        if kind == kinds.INIT_LIST_EXPR:
            return [self.value(part, environment) for part in inner]
        if kind == kinds.SUBSCRIPT and len(inner) == 2:
            table, at = (self.value(part, environment) for part in inner)
            known = isinstance(table, (list, str)) and isinstance(at, int) and 0 <= at < len(table)
            return table[at] if known else UNKNOWN
        if kind == _CONDITIONAL and len(inner) == 3:
            chosen = self.value(inner[0], environment)
            return UNKNOWN if chosen is UNKNOWN else self.value(inner[1 if chosen else 2], environment)
        return self.value(inner[-1], environment) if inner else UNKNOWN

    def _number(self, cursor: CXCursor) -> Value:
        library = load()
        result = library.clang_Cursor_Evaluate(cursor)
        if not result:
            return UNKNOWN
        try:
            if library.clang_EvalResult_getKind(result) != _EVALUATED_INT:
                return UNKNOWN
            number: int = library.clang_EvalResult_getAsInt(result)
            return number
        finally:
            library.clang_EvalResult_dispose(result)

    def _named(self, declaration: CXCursor, environment: dict[int, Value]) -> Value:
        if declaration.decl in environment:
            return environment[declaration.decl]
        if declaration.kind in kinds.FUNCTION_LIKE:
            return declaration
        return self.global_value(declaration) if declaration.kind == kinds.VARIABLE else UNKNOWN

    def _member(self, cursor: CXCursor, environment: dict[int, Value]) -> Value:
        field = load().clang_getCursorReferenced(cursor)
        inner = expressions(cursor)
        owner = self.value(inner[0], environment) if inner else UNKNOWN
        if field.kind != kinds.FIELD or not isinstance(owner, list):
            return owner if field.kind in kinds.FUNCTION_LIKE else UNKNOWN
        fields = [c for c in children(load().clang_getCursorSemanticParent(field)) if c.kind == kinds.FIELD]
        at = next((i for i, c in enumerate(fields) if c.decl == field.decl), len(owner))
        return owner[at] if at < len(owner) else UNKNOWN

    def _binary(self, cursor: CXCursor, environment: dict[int, Value]) -> Value:
        parts = expressions(cursor)
        operator = load().clang_getCursorBinaryOperatorKind(cursor)
        if len(parts) != 2:
            return UNKNOWN
        if operator == _ASSIGN:
            return self._assign(parts[0], self.value(parts[1], environment), environment)
        left = self.value(parts[0], environment)
        if operator in (_AND, _OR):
            if left is UNKNOWN:
                return UNKNOWN
            return self.value(parts[1], environment) if bool(left) == (operator == _AND) else left
        right = self.value(parts[1], environment)
        return _apply(_BINARY.get(operator), left, right)

    def _unary(self, cursor: CXCursor, environment: dict[int, Value]) -> Value:
        inner = expressions(cursor)
        value = self.value(inner[0], environment) if inner else UNKNOWN
        operator = load().clang_getCursorUnaryOperatorKind(cursor)
        if value is UNKNOWN:
            return UNKNOWN
        if operator == _NOT:
            return not value
        if isinstance(value, int) and operator in (_PRE_INCREMENT, _POST_INCREMENT):
            return self._assign(inner[0], value + 1, environment)
        return -value if operator == _MINUS and isinstance(value, int) else value

    def _assign(self, target: CXCursor, value: Value, environment: dict[int, Value]) -> Value:
        while target.kind != kinds.DECL_REF_EXPR:
            inner = expressions(target)
            if not inner:
                return value
            target = inner[0]
        environment[load().clang_getCursorReferenced(target).decl] = value
        return value

    # calls

    def receiver(self, call: CXCursor, environment: dict[int, Value]) -> Value:
        """The object that a method is called on."""
        inner = expressions(call)
        if not inner or inner[0].kind != kinds.MEMBER_REF_EXPR:
            return UNKNOWN
        owner = expressions(inner[0])
        return self.value(owner[0], environment) if owner else UNKNOWN

    def arguments(self, call: CXCursor, environment: dict[int, Value]) -> list[Value]:
        """The values of the arguments as written: a default argument is an expression of nothing."""
        library = load()
        given = [library.clang_Cursor_getArgument(call, i) for i in range(library.clang_Cursor_getNumArguments(call))]
        while given and is_default(given[-1]):
            given.pop()
        return [self.value(part, environment) for part in given]

    def _call(self, call: CXCursor, environment: dict[int, Value]) -> Value:
        found = self.special(call, environment)
        if found is not None:
            return found
        library = load()
        callee = library.clang_getCursorReferenced(call)
        name = text(library.clang_getCursorSpelling(call))
        if callee.kind in (kinds.CONSTRUCTOR, kinds.CONVERSION):
            given = self.arguments(call, environment) or [self.receiver(call, environment)]
            if self.is_own(load().clang_getCursorDefinition(callee)):
                self._enter(call, given)  # a constructor may register
            return given[0] if len(given) == 1 else given
        if name == CALL_OPERATOR:
            first = expressions(call)
            closure = self.value(first[0], environment) if first else UNKNOWN
            given = self.arguments(call, environment)
            return self._close(closure, given[-_count(closure) :] if _count(closure) else [])
        given = self.arguments(call, environment)
        if name in _OPERATORS and len(given) == 2:
            return _apply(_OPERATORS[name], *given)
        if name == "operator=" and len(given) == 2:
            return self._assign(expressions(call)[0], given[1], environment)
        if name == "operator+=" and len(given) == 2:
            return self._assign(expressions(call)[0], _apply(_BINARY[6], *given), environment)
        if name in _STRING_METHODS:
            owner = self.receiver(call, environment)
            if isinstance(owner, str):
                return _apply(_STRING_METHODS[name], owner, *given)
        if name in ("move", "forward") and len(given) == 1:
            return given[0]
        return self._enter(call, given)

    def _enter(self, call: CXCursor, given: list[Value]) -> Value:
        """What the called function's body gives, where the unit holds it."""
        definition = load().clang_getCursorDefinition(load().clang_getCursorReferenced(call))
        if not definition.decl:
            return UNKNOWN
        outer = self.row
        if outer is None:
            self.row = call  # what a helper registers, its caller decides
        result = self._invoke(definition, given, {})
        self.row = outer
        return result

    def _close(self, closure: Value, given: list[Value]) -> Value:
        if not isinstance(closure, Closure):
            return UNKNOWN
        return self._invoke(closure.cursor, given, closure.environment)

    def _invoke(self, function: CXCursor, given: list[Value], environment: dict[int, Value]) -> Value:
        parameters = [c for c in children(function) if c.kind == kinds.PARAMETER]
        environment = environment | {p.decl: UNKNOWN for p in parameters}
        environment.update({p.decl: value for p, value in zip(parameters, given, strict=False)})
        return self._body(function, environment)


def _count(closure: Value) -> int:
    if not isinstance(closure, Closure):
        return 0
    return sum(c.kind == kinds.PARAMETER for c in children(closure.cursor))


def _apply(function: Callable[..., Value] | None, *values: Value) -> Value:
    if function is None or any(value is UNKNOWN for value in values):
        return UNKNOWN
    try:
        return function(*values)
    except (TypeError, ValueError):
        return UNKNOWN
