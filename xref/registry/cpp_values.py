"""What an argument in C++ is: the string it holds, the function it stands for. Read from the tree, after macros.

Strings may be literals (the compiler has joined them), constants, or sums of these; a part known only at run time ends
the string, and `*` says so. Functions may be names, addresses, casts of an overload, lambdas, or variables of these.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load, text
from xref.model import CALL_OPERATOR

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

_MAX_DEPTH = 24
_EVALUATED_STRING = 4  # CXEval_StrLiteral


def argument(call: CXCursor, index: int) -> CXCursor | None:
    """The `index`-th argument of a call, None when it has fewer."""
    library = load()
    if index >= library.clang_Cursor_getNumArguments(call):
        return None
    result: CXCursor = library.clang_Cursor_getArgument(call, index)
    return result


def is_default(cursor: CXCursor) -> bool:
    """Whether the argument is a default of the called function: an expression of nothing."""
    return bool(cursor.kind == kinds.UNEXPOSED_EXPR and not children(cursor))


def string_of(cursor: CXCursor | None, depth: int = 0, variables: bool = False) -> str | None:
    """The string that the expression holds, with a final `*` where it goes on at run time; None when none is known.

    `variables`: also what a variable that is not constant starts with (enough for a look-up, not for a registration).
    """
    if cursor is None or depth > _MAX_DEPTH:
        return None
    library = load()
    kind = cursor.kind
    if kind == kinds.STRING_LITERAL:
        return unquote(text(library.clang_getCursorSpelling(cursor)))
    if kind in (kinds.DECL_REF_EXPR, kinds.MEMBER_REF_EXPR):
        referenced = library.clang_getCursorReferenced(cursor)
        if referenced.kind not in kinds.FUNCTION_LIKE:
            return _constant(referenced, depth, variables)
        # a method of the string, such as its conversion to string_view: the string is what it is called on
    if kind == kinds.CALL_EXPR and text(library.clang_getCursorSpelling(cursor)) == "operator+":
        return _joined([argument(cursor, 0), argument(cursor, 1)], depth, variables)
    if kind == kinds.BINARY_OPERATOR:
        return _joined(children(cursor)[:2], depth, variables)
    if kind not in kinds.EXPRESSIONS or kind in (kinds.LAMBDA_EXPR, kinds.SUBSCRIPT):
        return None
    if kind == kinds.CALL_EXPR:
        # a constructor or conversion around the string, else a function that could return anything
        callee = library.clang_getCursorReferenced(cursor)
        if callee.kind not in (kinds.CONSTRUCTOR, kinds.CONVERSION, kinds.FUNCTION_TEMPLATE):
            return None
        if callee.kind == kinds.FUNCTION_TEMPLATE and library.clang_Cursor_getNumArguments(cursor) != 1:
            return None
    inner = [c for c in children(cursor) if c.kind in kinds.EXPRESSIONS]
    return string_of(inner[0], depth + 1, variables) if inner else None


def _joined(parts: Sequence[CXCursor | None], depth: int, variables: bool) -> str | None:
    left = string_of(parts[0], depth + 1, variables) if parts else None
    if left is None or left.endswith("*"):
        return left
    right = string_of(parts[1], depth + 1, variables) if len(parts) > 1 else None
    return left + (right if right is not None else "*")


def _constant(declaration: CXCursor, depth: int, variables: bool) -> str | None:
    """The string that a constant (or any variable, if allowed) is initialised with."""
    if declaration.kind not in (kinds.VARIABLE, kinds.FIELD):
        return None
    library = load()
    definition = library.clang_getCursorDefinition(declaration)
    if definition.decl:
        declaration = definition
    written = text(library.clang_getTypeSpelling(library.clang_getCursorType(declaration)))
    if "const" not in written and not variables:
        return None
    for child in children(declaration):
        if child.kind in kinds.EXPRESSIONS:
            value = string_of(child, depth + 1, variables)
            if value is not None:
                return value
    result = library.clang_Cursor_Evaluate(declaration)
    if not result:
        return None
    try:
        if library.clang_EvalResult_getKind(result) == _EVALUATED_STRING:
            raw: bytes = library.clang_EvalResult_getAsStr(result)
            return raw.decode("utf-8", "replace")
    finally:
        library.clang_EvalResult_dispose(result)
    return None


def unquote(literal: str) -> str:
    """The text of a C++ literal of char as libclang spells it: escaped, non-ASCII text byte by byte."""
    body = literal[literal.find('"') + 1 : literal.rfind('"')]
    if "\\" not in body:
        return body
    decoded = codecs.decode(body.encode("latin-1", "backslashreplace"), "unicode_escape")
    return decoded.encode("latin-1", "replace").decode("utf-8", "replace")


class Found(NamedTuple):
    """What a registered expression would run: a function, a lambda, or what holds one. (None, why) when not known.

    `named_at` is the token of the expression that names it; 0 when nothing does.
    """

    target: Declaration | None
    note: str
    named_at: int = 0


def function_of(walk: Walk, cursor: CXCursor | None, purpose: str, depth: int = 0) -> Found:
    """What the expression would run. A lambda is called by `purpose`."""
    if cursor is None or depth > _MAX_DEPTH:
        return Found(None, "no function in the registration")
    library = load()
    kind = cursor.kind
    if kind == kinds.LAMBDA_EXPR:
        return Found(walk.declare_lambda(cursor, purpose), "")
    if kind in (kinds.DECL_REF_EXPR, kinds.MEMBER_REF_EXPR):
        named = _named(walk, cursor, purpose, depth)
        if named is not None:
            return named
    if kind == kinds.OVERLOADED_REF and library.clang_getNumOverloadedDecls(cursor) == 1:
        return Found(walk.declarations.of(library.clang_getOverloadedDecl(cursor, 0)), "", walk.token(cursor))
    if kind == kinds.CALL_EXPR:
        callee = walk.declarations.of(library.clang_getCursorReferenced(cursor))
        is_made = library.clang_getCursorReferenced(cursor).kind in (kinds.CONSTRUCTOR, kinds.CONVERSION)
        if callee is not None and not is_made:
            inner = _wrapped(walk, cursor, callee, purpose, depth)
            return inner if inner.target is not None else Found(callee, f"the function that {callee.name} returns")
    for child in children(cursor):
        if child.kind in kinds.EXPRESSIONS or child.kind == kinds.OVERLOADED_REF:
            found = function_of(walk, child, purpose, depth + 1)
            if found.target is not None:
                return found
    operator = _call_operator(walk, cursor)
    if operator is not None:
        return Found(operator, f"an object of {operator.qualname.rpartition('::')[0]}")
    return Found(None, "the registered expression is not a function that xref can name")


def _named(walk: Walk, cursor: CXCursor, purpose: str, depth: int) -> Found | None:
    """The function, or what the variable holds, that an expression names."""
    referenced = load().clang_getCursorReferenced(cursor)
    token = walk.token(cursor)
    values = walk.variable_values.get(referenced.decl)
    if values:
        return Found(values[-1], "", token)
    target = walk.declarations.of(referenced)
    if target is None or target.is_function:
        return Found(target, "", token) if target is not None else None
    held = _held(walk, referenced, purpose, depth)
    unknown = Found(target, f"the function that the {target.symbol_kind} {target.name} holds", token)
    return held if held is not None else unknown


def _held(walk: Walk, variable: CXCursor, purpose: str, depth: int) -> Found | None:
    """The function that a variable is initialised with, when nothing else is assigned to it."""
    if variable.kind != kinds.VARIABLE or walk.assigned.get(variable.decl):
        return None
    definition = load().clang_getCursorDefinition(variable)
    values = [c for c in children(definition if definition.decl else variable) if c.kind in kinds.EXPRESSIONS]
    if values and _is_function(values[-1]):
        return function_of(walk, values[-1], purpose, depth + 1)
    operator = _call_operator(walk, variable)
    return Found(operator, f"the object {text(load().clang_getCursorSpelling(variable))}") if operator else None


def _is_function(cursor: CXCursor) -> bool:
    """Whether the expression is a function or a lambda, perhaps converted, and not what some call returns."""
    library = load()
    at: CXCursor | None = cursor
    for _ in range(_MAX_DEPTH):
        if at is None or at.kind == kinds.LAMBDA_EXPR:
            return at is not None
        referenced = library.clang_getCursorReferenced(at)
        if at.kind in (kinds.DECL_REF_EXPR, kinds.MEMBER_REF_EXPR):
            return referenced.kind in kinds.FUNCTION_LIKE
        if at.kind == kinds.CALL_EXPR and referenced.kind not in (kinds.CONSTRUCTOR, kinds.CONVERSION):
            return False
        inner = [c for c in children(at) if c.kind in kinds.EXPRESSIONS]
        at = inner[0] if len(inner) == 1 else None
    return False


def _call_operator(walk: Walk, cursor: CXCursor) -> Declaration | None:
    """`operator()` of the object that the expression or variable is, when its class defines one: not that of a class
    template, which runs whatever it holds (std::function, TypedFunction)."""
    library = load()
    made = library.clang_getTypeDeclaration(library.clang_getCursorType(cursor))
    is_plain = made.kind in (kinds.STRUCT, kinds.CLASS) and not library.clang_getSpecializedCursorTemplate(made).decl
    methods = [c for c in children(made) if c.kind == kinds.METHOD] if is_plain else []
    found = [c for c in methods if text(library.clang_getCursorSpelling(c)) == CALL_OPERATOR]
    return walk.declarations.of(found[0]) if len(found) == 1 else None


def _wrapped(walk: Walk, call: CXCursor, callee: Declaration, purpose: str, depth: int) -> Found:
    """A helper that takes a function and returns a wrapper of it (FromTyped, TypedPackedFunc::packed, ...)."""
    for candidate in (argument(call, 0), *(c for c in children(call) if c.kind == kinds.MEMBER_REF_EXPR)):
        inner = [candidate] if candidate is not None else []
        if candidate is not None and candidate.kind == kinds.MEMBER_REF_EXPR:
            inner = [c for c in children(candidate) if c.kind in kinds.EXPRESSIONS]
        if not inner:
            continue
        found = function_of(walk, inner[0], purpose, depth + 1)
        if found.target is not None and found.target.is_function and found.target.id != callee.id:
            return found._replace(note=f"wrapped by {callee.name}")
    return Found(None, "")
