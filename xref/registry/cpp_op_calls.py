"""Calls of operators as C++ builds them: `Call(op, args)` of an `Op::Get("relax.nn.conv2d")`, also through a helper.

Code that makes a call of an operator leads, when the program is compiled, to the functions registered under the
operator's attributes; code that only compares with an operator does not. A helper such as `MakeConv(.., op_name)`
(src/relax/op/nn/convolution.h) takes the name as an argument: then its callers name the operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xref.cpp import kinds
from xref.cpp.clang import CONTINUE, RECURSE, CXCursor, children, load, text, visit
from xref.registry.cpp_record import callee_of, constant, expressions, initialiser, use
from xref.registry.cpp_values import argument

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

OP = "op"
GETTER = "tvm::Op::Get"
CALL_NODES = frozenset(f"tvm::{dialect}Call::Call" for dialect in ("", "relax::", "relay::", "tir::", "tirx::"))
"""Constructors of the nodes that call an operator; the operator is one of the first arguments."""
_OPERATOR_AMONG = 3
_STRINGS = ("string", "String", "char")
_MAX_DEPTH = 12


def on_call(walk: Walk, call: CXCursor, callee: Declaration) -> None:
    """Record the operator that this call builds a call of, if any."""
    if callee.qualname in CALL_NODES:
        for index in range(_OPERATOR_AMONG):
            getter = _getter(walk, argument(call, index))
            name = constant(argument(getter, 0)) if getter is not None else None
            if name is not None:
                use(walk, OP, name, call, calls=True)
                return
    elif callee.file and callee.symbol_kind == "function":
        index = _forwarded(walk, call, callee)
        place = argument(call, index) if index >= 0 else None
        name = constant(place)
        if name is not None and place is not None:
            use(walk, OP, name, place, calls=True)


def _getter(walk: Walk, cursor: CXCursor | None) -> CXCursor | None:
    """The `Op::Get` that the expression is, directly or as the value of a variable."""
    for _ in range(_MAX_DEPTH):
        if cursor is None:
            return None
        if cursor.kind == kinds.CALL_EXPR:
            callee = callee_of(walk, cursor)
            if callee is not None and callee.qualname == GETTER:
                return cursor
            if callee is not None and callee.symbol_kind not in ("constructor", "conversion"):
                return None
        if cursor.kind == kinds.DECL_REF_EXPR:
            cursor = initialiser(load().clang_getCursorReferenced(cursor))
        else:
            inner = expressions(cursor)
            cursor = inner[0] if len(inner) == 1 else None
    return None


def _forwarded(walk: Walk, call: CXCursor, callee: Declaration) -> int:
    """The index of the parameter that the called function builds an operator's call of; -1 for none."""
    known = walk.op_parameters.get(callee.id)
    if known is None:
        library = load()
        function = library.clang_getCursorReferenced(call)
        template = walk.declarations.template_of(function)
        definition = library.clang_getCursorDefinition(template if template is not None else function)
        known = walk.op_parameters[callee.id] = _operator_parameter(walk, definition) if definition.decl else -1
    return known


def _operator_parameter(walk: Walk, function: CXCursor) -> int:
    library = load()
    parameters = [c for c in children(function) if c.kind == kinds.PARAMETER]
    strings = {
        parameter.decl: index
        for index, parameter in enumerate(parameters)
        if any(word in text(library.clang_getTypeSpelling(library.clang_getCursorType(parameter))) for word in _STRINGS)
    }
    if not strings:
        return -1
    found: list[int] = []
    builds: list[bool] = []

    def look(cursor: CXCursor, _parent: CXCursor, _data: object) -> int:
        if cursor.kind != kinds.CALL_EXPR:
            return RECURSE
        callee = callee_of(walk, cursor)
        if callee is not None and callee.qualname in CALL_NODES:
            builds.append(True)
        if callee is not None and callee.qualname == GETTER:
            index = strings.get(_named(argument(cursor, 0)), -1)
            if index >= 0:
                found.append(index)
            return CONTINUE
        return RECURSE

    visit(function, look)
    return found[0] if found and builds else -1


def _named(cursor: CXCursor | None) -> int:
    """The address of the declaration that the expression names; 0 for none."""
    for _ in range(_MAX_DEPTH):
        if cursor is None:
            return 0
        if cursor.kind == kinds.DECL_REF_EXPR:
            return int(load().clang_getCursorReferenced(cursor).decl or 0)
        inner = expressions(cursor)
        cursor = inner[0] if inner else None
    return 0
