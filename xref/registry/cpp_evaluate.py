"""A small evaluator of C++ over libclang's syntax tree: strings, numbers, tables, structures, calls, loops, branches.

It follows only what it knows: a value of anything else is `UNKNOWN`, a branch on an unknown condition is not taken on
either side, and a bound on steps ends what does not end. It never runs anything of the analysed tree.
"""

from __future__ import annotations

from collections.abc import Callable

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load, text
from xref.model import CALL_OPERATOR
from xref.registry.cpp_operations import (
    ADD,
    APPENDING,
    BINARY,
    COMPOUND_ASSIGN,
    EMPTY,
    OPERATORS,
    POSTFIX,
    STEPS,
    STRING_METHODS,
    UNKNOWN,
    Closure,
    Value,
    apply,
    element,
    position_of,
)
from xref.registry.cpp_record import expressions, initialiser
from xref.registry.cpp_values import is_default, unquote

_MAX_STEPS = 200_000
_MAX_DEPTH = 60
_INTEGER_LITERAL, _CHARACTER_LITERAL, _COMPOUND_ASSIGN_OPERATOR, _CONDITIONAL, _BOOL_LITERAL = 106, 110, 115, 116, 130
_COMPOUND, _IF, _RETURN, _DECLARATION = 202, 205, 214, 231
_WHILE, _DO, _FOR, _RANGE_FOR, _CONTINUE, _BREAK = 207, 208, 209, 225, 212, 213
_LOOPS = (_WHILE, _DO, _FOR, _RANGE_FOR)
_EVALUATED_INT = 1  # CXEval_Int
_AND, _OR, _ASSIGN = 20, 21, 22
_NOT, _MINUS = 10, 8


class _Return(Exception):  # noqa: N818  not an error
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class _Continue(Exception):  # noqa: N818
    pass


class _Break(Exception):  # noqa: N818
    pass


class _OutOfSteps(Exception):  # noqa: N818
    loop: CXCursor | None = None
    """The outermost loop that did not end."""


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

    def cut(self, place: CXCursor) -> None:
        """Called when an evaluation was given up; `place` is the outermost loop that did not end, else what was run."""

    def lacks_body(self, function: CXCursor) -> None:
        """Told of a called function whose body the unit does not hold."""

    def run(self, function: CXCursor) -> None:
        """Evaluate the body of a function without arguments."""
        self._bounded(function, lambda: self._body(function, {}))

    def _bounded(self, place: CXCursor, evaluate: Callable[[], Value]) -> Value:
        """The result of `evaluate`, UNKNOWN when it takes too many steps; then nothing of its state is left."""
        outer = self.row, self._depth, self._steps
        self._steps = 0
        try:
            return evaluate()
        except _OutOfSteps as given_up:
            self.cut(given_up.loop or place)
            return UNKNOWN
        finally:
            self.row, self._depth, self._steps = outer

    def global_value(self, declaration: CXCursor) -> Value:
        """What a variable outside functions is initialised with."""
        known = self._globals.get(declaration.decl)
        if known is None:
            self._globals[declaration.decl] = UNKNOWN  # one that refers to itself
            value = initialiser(declaration)
            known = self._bounded(declaration, lambda: self.value(value, {})) if value is not None else UNKNOWN
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
        elif kind in _LOOPS:
            self._enter_loop(statement, environment)
        elif kind == _CONTINUE:
            raise _Continue
        elif kind == _BREAK:
            raise _Break
        elif kind in kinds.EXPRESSIONS:
            self.value(statement, environment)

    def _enter_loop(self, statement: CXCursor, environment: dict[int, Value]) -> None:
        try:
            if statement.kind == _RANGE_FOR:
                self._range_for(statement, environment)
            elif statement.kind == _FOR:
                self._for(statement, environment)
            else:
                self._while(statement, environment)
        except _Break:
            pass
        except _OutOfSteps as given_up:
            given_up.loop = statement
            raise

    def _once(self, body: CXCursor, environment: dict[int, Value]) -> None:
        try:
            self._statement(body, environment)
        except _Continue:
            pass

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
            try:
                self._once(body, environment)
            finally:
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
        while self._goes_on(condition, environment):
            self._once(body, environment)
            self.value(step, environment)

    def _while(self, statement: CXCursor, environment: dict[int, Value]) -> None:
        """`while`, perhaps with a declaration in front of its condition, and `do`."""
        parts = children(statement)
        condition, body = parts[-2:] if statement.kind == _WHILE else (parts[-1], parts[0])
        if statement.kind == _DO:
            self._once(body, environment)
        while self._goes_on(condition, environment):
            self._once(body, environment)

    def _goes_on(self, condition: CXCursor, environment: dict[int, Value]) -> bool:
        value = self.value(condition, environment)
        return value is not UNKNOWN and bool(value)

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
        if kind in (kinds.BINARY_OPERATOR, _COMPOUND_ASSIGN_OPERATOR):
            return self._binary(cursor, environment)
        if kind == kinds.UNARY_OPERATOR:
            return self._unary(cursor, environment)
        inner = expressions(cursor)
        if kind == kinds.INIT_LIST_EXPR:
            return [self.value(part, environment) for part in inner]
        if kind == kinds.SUBSCRIPT and len(inner) == 2:
            return element(*(self.value(part, environment) for part in inner))
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
        at = position_of(field)
        return owner[at] if at < len(owner) else UNKNOWN

    def _binary(self, cursor: CXCursor, environment: dict[int, Value]) -> Value:
        parts = expressions(cursor)
        operator = load().clang_getCursorBinaryOperatorKind(cursor)
        if len(parts) != 2:
            return UNKNOWN
        if operator == _ASSIGN:
            return self._assign(parts[0], self.value(parts[1], environment), environment)
        left = self.value(parts[0], environment)
        if operator in COMPOUND_ASSIGN:
            result = apply(COMPOUND_ASSIGN[operator], left, self.value(parts[1], environment))
            return self._assign(parts[0], result, environment)
        if operator in (_AND, _OR):
            if left is UNKNOWN:
                return UNKNOWN
            return self.value(parts[1], environment) if bool(left) == (operator == _AND) else left
        right = self.value(parts[1], environment)
        return apply(BINARY.get(operator), left, right)

    def _unary(self, cursor: CXCursor, environment: dict[int, Value]) -> Value:
        inner = expressions(cursor)
        value = self.value(inner[0], environment) if inner else UNKNOWN
        operator = load().clang_getCursorUnaryOperatorKind(cursor)
        if value is UNKNOWN:
            return UNKNOWN
        if operator == _NOT:
            return not value
        if isinstance(value, int) and operator in STEPS:
            stepped = self._assign(inner[0], value + STEPS[operator], environment)
            return value if operator in POSTFIX else stepped
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
            given = self.arguments(call, environment) or [self._empty(callee, call, environment)]
            self._construct(call, callee, given)
            return given[0] if len(given) == 1 else given
        if name == CALL_OPERATOR:
            first = expressions(call)
            closure = self.value(first[0], environment) if first else UNKNOWN
            return self._close(closure, call, self.arguments(call, environment)[1:])
        given = self.arguments(call, environment)
        if name in OPERATORS and len(given) == 2:
            return apply(OPERATORS[name], *given)
        if name == "operator=" and len(given) == 2:
            return self._assign(expressions(call)[0], given[1], environment)
        if name == "operator+=" and len(given) == 2:
            return self._assign(expressions(call)[0], apply(BINARY[ADD], *given), environment)
        if name in STRING_METHODS:
            owner = self.receiver(call, environment)
            if isinstance(owner, str) or (isinstance(owner, list) and name in ("size", "empty")):
                return apply(STRING_METHODS[name], owner, *given)
        if name in ("operator[]", "at"):
            owner = self.value(expressions(call)[0], environment) if name != "at" else self.receiver(call, environment)
            return element(owner, given[-1] if given else UNKNOWN)
        if name in APPENDING and len(given) == 1 and isinstance(owner := self.receiver(call, environment), list):
            return self._assign(expressions(call)[0], apply(BINARY[ADD], owner, given), environment)
        if name in ("move", "forward") and len(given) == 1:
            return given[0]
        if name == "to_string" and len(given) == 1 and isinstance(given[0], int):
            return str(given[0])
        return self._enter(call, given)

    def _construct(self, call: CXCursor, constructor: CXCursor, given: list[Value]) -> None:
        """Follow a constructor that may register."""
        definition = load().clang_getCursorDefinition(constructor)
        if not definition.decl:
            self.lacks_body(constructor)
        elif self.is_own(definition):
            self._enter(call, given)

    def _empty(self, callee: CXCursor, call: CXCursor, environment: dict[int, Value]) -> Value:
        """What is made, or converted, of nothing but the object that the call is a part of."""
        kind = text(load().clang_getCursorSpelling(load().clang_getCursorSemanticParent(callee)))
        if callee.kind == kinds.CONSTRUCTOR and kind in EMPTY:
            return EMPTY[kind]()
        return self.receiver(call, environment)

    def _enter(self, call: CXCursor, given: list[Value]) -> Value:
        """What the called function's body gives, where the unit holds it."""
        function = load().clang_getCursorReferenced(call)
        definition = load().clang_getCursorDefinition(function)
        if not definition.decl:
            self.lacks_body(function)
            return UNKNOWN
        return self._invoke_for(call, definition, given, {})

    def _close(self, closure: Value, call: CXCursor, given: list[Value]) -> Value:
        """What a lambda's body gives. That of a generic lambda is the instance of its `operator()` which is called."""
        if not isinstance(closure, Closure):
            return UNKNOWN
        function = load().clang_getCursorReferenced(call)
        definition = load().clang_getCursorDefinition(function)
        has_body = definition.decl and any(part.kind == _COMPOUND for part in children(definition))
        if not has_body:
            self.lacks_body(function)
        return self._invoke_for(call, definition if has_body else closure.cursor, given, closure.environment)

    def _invoke_for(
        self, call: CXCursor, function: CXCursor, given: list[Value], environment: dict[int, Value]
    ) -> Value:
        outer = self.row
        if outer is None:
            self.row = call  # what a helper registers, its caller decides
        try:
            return self._invoke(function, given, environment)
        finally:
            self.row = outer

    def _invoke(self, function: CXCursor, given: list[Value], environment: dict[int, Value]) -> Value:
        parameters = [c for c in children(function) if c.kind == kinds.PARAMETER]
        environment = environment | {p.decl: UNKNOWN for p in parameters}
        environment.update({p.decl: value for p, value in zip(parameters, given, strict=False)})
        return self._body(function, environment)
