"""Attributes of functions and modules, and symbols that modules answer to: strings that code joins by their value.

`tvm::attr::kGlobalSymbol` is "global_symbol" (include/tvm/ir/function.h): C++ names the constant, Python writes the
string. A constant in a namespace called `attr` defines the key; whoever sets or reads an attribute uses it. A module's
`GetFunction(name)` compares the name with what it answers to (in TVM_MODULE_VTABLE_ENTRY too, after expansion).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children
from xref.registry.cpp_record import constant, define, use
from xref.registry.cpp_values import argument

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
    """Record the attribute that a call sets or reads, or the symbol that a module answers to or is asked for."""
    if callee.name == EQUAL:
        _answers_to(walk, call)
    elif callee.name in NAMES and (access := ACCESSES.get(callee.qualname)) is not None:
        place = argument(call, access.name)
        name = constant(place)
        if name and place is not None:
            use(walk, access.registry, name, place, calls=access.calls, optional=True)


def _answers_to(walk: Walk, call: CXCursor) -> None:
    scope = walk.scope
    if scope is None or scope.name != GETTER or scope.symbol_kind != "method":
        return
    for index in (0, 1):
        place = argument(call, index)
        if place is not None and (name := constant(place)):
            define(walk, SYMBOL, name, place, scope, "a module's function")
            return
