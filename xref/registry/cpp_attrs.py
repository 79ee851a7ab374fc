"""Attributes of functions and modules, and symbols that modules answer to: strings that code joins by their value.

`tvm::attr::kGlobalSymbol` is "global_symbol" (include/tvm/ir/function.h): C++ names the constant, Python writes the
string. A constant in a namespace called `attr` defines the key; whoever sets or reads an attribute uses it. A module's
`GetFunction(name)` compares the name with what it answers to (in TVM_MODULE_VTABLE_ENTRY too, after expansion).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children
from xref.registry.cpp_record import callee_of, constant, define, use
from xref.registry.cpp_values import argument, function_of

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

ATTR, SYMBOL = "attr", "symbol"
NAMESPACE = "attr"
GETTER = "GetFunction"
EQUAL = "operator=="


class Access(NamedTuple):
    """A function whose argument `name` is a key of `registry`; `calls`: it yields what the key runs."""

    registry: str
    name: int
    calls: bool = False


_HOLDERS = ("DictAttrs", "DictAttrsNode", "BaseFuncNode", "IRModuleNode")
ACCESSES = {
    **{f"tvm::{holder}::{method}": Access(ATTR, 0) for holder in _HOLDERS for method in ("GetAttr", "HasNonzeroAttr")},
    "tvm::WithAttr": Access(ATTR, 1),
    "tvm::WithoutAttr": Access(ATTR, 1),
    **{f"tvm::{dialect}::AttrStmt::AttrStmt": Access(ATTR, 1) for dialect in ("tir", "tirx")},
    **{
        f"tvm::{module}::{GETTER}": Access(SYMBOL, 0, calls=True)
        for module in ("runtime::Module", "runtime::ModuleNode", "ffi::Module", "ffi::ModuleObj")
    },
}
NAMES = frozenset(form.rsplit("::", 1)[1] for form in ACCESSES)


def on_variable(walk: Walk, cursor: CXCursor, variable: Declaration) -> None:
    """Record the attribute that a constant names, if it is one."""
    parent = variable.parent
    if parent is None or parent.kind != kinds.NAMESPACE or parent.name != NAMESPACE:
        return
    for child in children(cursor):
        name = constant(child) if child.kind in kinds.EXPRESSIONS else None
        if name:
            define(walk, ATTR, name, cursor, variable, variable.name)
            return


def on_call(walk: Walk, call: CXCursor, callee: Declaration) -> None:
    """Record the attribute that a call sets or reads, or the symbol that a module is asked for."""
    if callee.name in NAMES and (access := ACCESSES.get(callee.qualname)) is not None:
        place = argument(call, access.name)
        name = constant(place)
        if name and place is not None:
            use(walk, access.registry, name, place, calls=access.calls, optional=True)


def on_function(walk: Walk, cursor: CXCursor, function: Declaration) -> None:
    """Record the names that a module's `GetFunction` answers to, each with what its branch returns:
    `if (name == "set_input") { return Function([..](..) {..}); }`, `TVM_MODULE_VTABLE_ENTRY("x", &VM::_X)`."""
    if function.name != GETTER or function.symbol_kind != "method":
        return
    walk.scopes.append(function)  # whose lambdas these are
    pending = [cursor]
    while pending:
        parts = children(pending.pop())
        for part in parts:
            if part.kind == kinds.IF_STATEMENT:
                _branch(walk, part, function)
            if part.kind not in (kinds.LAMBDA_EXPR, kinds.CALL_EXPR):
                pending.append(part)
    walk.scopes.pop()


def _branch(walk: Walk, statement: CXCursor, function: Declaration) -> None:
    condition, *branches = children(statement)
    places = _compared(walk, condition)
    if not places or not branches:
        return
    runs = _returned(walk, branches[0], constant(places[0]) or "") or function
    for place in places:
        define(walk, SYMBOL, constant(place) or "", place, runs, "a module's function")


def _compared(walk: Walk, condition: CXCursor) -> list[CXCursor]:
    """The literals that the condition compares something with: `name == "a" || name == "b"`."""
    found = []
    pending = [condition]
    while pending:
        at = pending.pop()
        callee = callee_of(walk, at) if at.kind == kinds.CALL_EXPR else None
        if callee is not None and callee.name == EQUAL:
            sides = [argument(at, index) for index in (0, 1)]
            found += [side for side in sides if side is not None and constant(side)][:1]
        elif at.kind != kinds.LAMBDA_EXPR:
            pending += children(at)
    return found


def _returned(walk: Walk, branch: CXCursor, name: str) -> Declaration | None:
    """The function that the branch returns: a lambda, or a method whose address it hands on."""
    pending = [branch]
    while pending:
        at = pending.pop()
        if at.kind == kinds.RETURN_STATEMENT:
            found = _first_function(walk, at, name)
            if found is not None:
                return found
        elif at.kind not in (kinds.LAMBDA_EXPR, kinds.IF_STATEMENT):
            pending += reversed(children(at))
    return None


def _first_function(walk: Walk, cursor: CXCursor, name: str) -> Declaration | None:
    """The first lambda in the expression, or function whose address is taken."""
    for part in children(cursor):
        if part.kind == kinds.LAMBDA_EXPR:
            return walk.declare_lambda(part, name)
        if part.kind == kinds.UNARY_OPERATOR:
            found = function_of(walk, part, name).target
            if found is not None and found.is_function:
                return found
        inner = _first_function(walk, part, name)
        if inner is not None:
            return inner
    return None
