"""Functor dispatch in C++: (functor class, node type) -> the method or function that handles the node.

Two kinds of tables, both a `NodeFunctor` (include/tvm/ir/node_functor.h, include/tvm/node/functor.h to v0.23):
a visitor class fills one from its virtual methods (`ExprFunctor::InitVTable`, a line of IR_EXPR_FUNCTOR_DISPATCH a
node), so that every override is a handler; and a table on its own, filled entry by entry from anywhere
(TVM_STATIC_IR_FUNCTOR(ReprPrinter, vtable).set_dispatch<VarNode>(f)). The key is `<class>:<node type>`. A `*` for the
node stands where a table is used; the handlers that a call reaches are derived when keys are linked (xref.link).
"""

from __future__ import annotations

from ctypes import POINTER, byref, c_uint
from typing import TYPE_CHECKING

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load, text
from xref.model import CALL_OPERATOR, KeyDef, KeyUse
from xref.registry.cpp_record import callee_of, constant, define, expressions
from xref.registry.cpp_values import argument, function_of

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

FUNCTOR, SCRIPT = "functor", "script"
TABLE = "NodeFunctor<"
"""How libclang spells the type of a table."""
TABLES = frozenset({"tvm::NodeFunctor"})
PRINTER_TABLES = frozenset({"tvm::script::printer::IRDocsifierFunctor"})
"""Tables whose first argument, before the node, is the token of the IR (the script printer's, v0.10 on)."""
_MAX_OVERRIDDEN = 16
_POINTER = 101  # CXType_Pointer


def on_function(walk: Walk, cursor: CXCursor, function: Declaration) -> None:
    """Record the method as a handler of a node type, or as what fills the table of its class."""
    if function.symbol_kind != "method" or function.parent is None:
        return
    if _makes_table(cursor):
        if function.parent.qualname not in TABLES:
            _fills(walk, cursor, function, function.parent)
        return
    node = _node_type(cursor)
    root = _root(walk, cursor) if node else None
    if root is None:
        return
    file, line, _ = walk.position(cursor)
    facts = walk.facts.get(file)
    if facts is not None:
        name = f"{function.parent.qualname}:{node}"
        facts.key_defs.append(KeyDef(FUNCTOR, name, "cpp", line, function.id, note=f"dispatched by {root.qualname}"))


def _fills(walk: Walk, cursor: CXCursor, function: Declaration, owner: Declaration) -> None:
    file, line, col = walk.position(cursor)
    facts = walk.facts.get(file)
    if facts is not None:
        facts.key_uses.append(KeyUse(FUNCTOR, f"{owner.qualname}:*", "cpp", line, col, function.id))


def _makes_table(function: CXCursor) -> bool:
    """Whether the function returns a table by value; one that hands out a reference has a table on its own."""
    library = load()
    result = library.clang_getCanonicalType(library.clang_getCursorResultType(function))
    spelled = text(library.clang_getTypeSpelling(result))
    return TABLE in spelled and not spelled.endswith("&")


def _node_type(method: CXCursor) -> str:
    """The class that the method's first parameter points to, "" unless it is `const X*`."""
    library = load()
    first = next((c for c in children(method) if c.kind == kinds.PARAMETER), None)
    if first is None:
        return ""
    given = library.clang_getCursorType(first)
    pointee = library.clang_getPointeeType(given)
    spelled = text(library.clang_getTypeSpelling(pointee)) if given.kind == _POINTER else ""
    return spelled.removeprefix("const ").rpartition("::")[2] if spelled.startswith("const ") else ""


def _root(walk: Walk, method: CXCursor) -> Declaration | None:
    """The visitor class whose table calls this method: where it, or what it overrides, was first declared virtual."""
    library = load()
    at = method
    for _ in range(_MAX_OVERRIDDEN):
        overridden, count = POINTER(CXCursor)(), c_uint()
        library.clang_getOverriddenCursors(at, byref(overridden), byref(count))
        if not count.value:
            break
        copy = CXCursor.from_buffer_copy(overridden[0])
        library.clang_disposeOverriddenCursors(overridden)
        at = copy
    if not library.clang_CXXMethod_isVirtual(at):
        return None
    home = library.clang_getCursorSemanticParent(at)
    template = library.clang_getSpecializedCursorTemplate(home)
    home = template if template.decl else home
    owner = walk.declarations.of(home)
    if owner is None:
        return None
    known = walk.functors.get(owner.id)
    if known is None:
        methods = (c for c in children(library.clang_getCursorDefinition(home)) if c.kind in kinds.FUNCTION_LIKE)
        known = walk.functors[owner.id] = any(_makes_table(c) for c in methods)
    return owner if known else None


def on_call(walk: Walk, call: CXCursor, callee: Declaration) -> None:
    """Record an entry of a table that is filled from anywhere, or a call through such a table."""
    if callee.name not in ("set_dispatch", CALL_OPERATOR) or callee.parent is None:
        return
    if callee.parent.qualname in TABLES:
        if callee.name == "set_dispatch":
            _entry(walk, call)
        else:
            table = _table(walk, call)
            if table is not None:
                _use(walk, call, f"{table.qualname}:*", FUNCTOR)
    elif callee.parent.qualname in PRINTER_TABLES:
        if callee.name == "set_dispatch":
            _printer_entry(walk, call)
        else:
            _use(walk, call, "printer:*", SCRIPT)


def _entry(walk: Walk, call: CXCursor) -> None:
    table, node = _table(walk, call), _template_argument(walk, call)
    if table is None or not node:
        return  # within a visitor class: its methods are the handlers
    found = function_of(walk, argument(call, 0), node)
    if found.target is not None:
        walk.registered.add(found.named_at)
    define(walk, FUNCTOR, f"{table.qualname}:{node}", call, found.target, found.note)


def _printer_entry(walk: Walk, call: CXCursor) -> None:
    token, node = constant(argument(call, 0)), _template_argument(walk, call)
    if token is None or not node:
        return
    found = function_of(walk, argument(call, 1), node)
    if found.target is not None:
        walk.registered.add(found.named_at)
    define(walk, SCRIPT, f"printer:{token}:{node}" if token else f"printer:{node}", call, found.target, found.note)


def _use(walk: Walk, call: CXCursor, name: str, registry: str) -> None:
    file, line, col = walk.position(call)
    facts = walk.facts.get(file)
    if facts is not None and walk.scope is not None:
        facts.key_uses.append(KeyUse(registry, name, "cpp", line, col, walk.scope.id, calls=True))


def _table(walk: Walk, call: CXCursor) -> Declaration | None:
    """The class whose static method returns the table (`ReprPrinter::vtable()`) at the start of the chain of calls."""
    at = call
    while True:
        inner = expressions(at)
        if not inner:
            return None
        at = inner[0]
        if at.kind == kinds.CALL_EXPR:
            callee = callee_of(walk, at)
            if callee is not None and callee.name not in ("set_dispatch", CALL_OPERATOR):
                return callee.parent if callee.symbol_kind == "method" else None


def _template_argument(walk: Walk, call: CXCursor) -> str:
    """The last type written in the call's name: `VarNode` of `set_dispatch<tir::VarNode>`."""
    inner = expressions(call)
    at = inner[0] if inner else None
    if at is None or at.kind != kinds.MEMBER_REF_EXPR:
        return ""
    named = [c for c in children(at) if c.kind in (kinds.TYPE_REF, kinds.TEMPLATE_REF)]
    declared = walk.declarations.of(load().clang_getCursorReferenced(named[-1])) if named else None
    return declared.name if declared is not None else ""
