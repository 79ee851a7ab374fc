"""Operators in C++: their registration, the attributes set on them, and who reads operators and attributes.

Every registering macro of every era (TVM_REGISTER_OP, RELAY_REGISTER_OP, RELAX_REGISTER_UNARY_OP_AND_IMPL, ...) is,
after expansion, a chain that `OpRegEntry::RegisterOrGet` opens (include/tvm/ir/op.h, v0.7 to main). What an attribute
holds is a function (a key runs it) or a value (its text is the note).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, load
from xref.cpp.tokens import LITERAL, Token, expanded, statement_tokens
from xref.model import KeyDef
from xref.registry.cpp_record import UNCOMPILED, callee_of, constant, define, expressions, initialiser, opener_of, use
from xref.registry.cpp_tables import Registration
from xref.registry.cpp_values import argument, function_of, string_of, unquote

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

OP = "op"
ATTRIBUTE = "op_attr"
TYPE_RELATION = "TypeRelation"
"""The attribute under which `add_type_rel` (Relay, to v0.19) is filed: the function that infers the operator's type."""

TYPE_RELATION_PREFIX = "tvm.relay.type_relation."
"""`add_type_rel("Identity", f)` also registers the FFI function of this prefix (`OpRegEntry::add_type_rel`,
include/tvm/ir/op.h), once for all operators that name it."""

OPENER = "tvm::OpRegEntry::RegisterOrGet"
SETTERS = {"tvm::OpRegEntry::set_attr": "", "tvm::OpRegEntry::add_type_rel": TYPE_RELATION}
"""Methods that give an attribute as (name, value) -> the attribute's name, where the first argument is not it."""
LOOK_UPS = {"tvm::Op::Get": OP, "tvm::Op::GetAttrMap": ATTRIBUTE, "tvm::Op::HasAttrMap": ATTRIBUTE}
MAP_READS = {
    **{f"tvm::AttrRegistryMap::{name}": True for name in ("operator[]", "get")},
    **{f"tvm::OpAttrMap::{name}": True for name in ("operator[]", "get")},
}
"""Methods of an attribute's map that yield what it holds for one operator."""
COMPUTED = (Registration(OP, OPENER, 0, ATTRIBUTE, tuple(SETTERS)),)
MACROS = frozenset({"TVM_REGISTER_OP", "RELAY_REGISTER_OP"})
VARIABLES = "__make_Op"
"""How the variables begin that these macros declare (TVM_OP_REGISTER_VAR_DEF, include/tvm/ir/op.h)."""
NAMES = frozenset(form.rsplit("::", 1)[1] for form in (OPENER, *SETTERS, *LOOK_UPS, *MAP_READS))


def on_call(walk: Walk, call: CXCursor, callee: Declaration) -> None:
    """Record what the call says of an operator, if anything."""
    if callee.name not in NAMES:
        return
    qualname = callee.qualname
    if qualname == OPENER:
        name_cursor = argument(call, 0)
        name = constant(name_cursor)
        if name is not None and name_cursor is not None:
            define(walk, OP, name, name_cursor)
        else:
            walk.note_computed(call, f"name of a registered {OP} is known only at run time")
    elif qualname in SETTERS:
        _set(walk, call, SETTERS[qualname])
    elif qualname in LOOK_UPS:
        _look_up(walk, call, LOOK_UPS[qualname])
    elif qualname in MAP_READS:
        _read(walk, call)


def on_variable(walk: Walk, cursor: CXCursor, variable: Declaration) -> None:
    """Record the operator that a variable of a registering macro is about, when its initialiser did not compile.

    Then the macro's invocation is read by tokens: `TVM_REGISTER_OP("tirx.exp").set_attr<T>("llvm.FLowerIntrinsic", f)`.
    """
    if not variable.name.startswith(VARIABLES) or expressions(cursor):
        return
    file, _, _ = walk.position(cursor)
    facts = walk.facts.get(file)
    tokens = statement_tokens(cursor) if facts is not None else []
    if tokens and tokens[0].text not in MACROS:
        tokens = expanded(cursor, tokens, walk.source_of(file))
    if facts is None or len(tokens) < 3 or tokens[0].text not in MACROS or tokens[2].kind != LITERAL:
        return
    operator = _literal(tokens, 2)
    facts.key_defs.append(KeyDef(OP, operator, "cpp", tokens[0].line, note=UNCOMPILED))
    setters = {setter.rpartition("::")[2]: attribute for setter, attribute in SETTERS.items()}
    for at, token in enumerate(tokens):
        opening = next((i for i in range(at, len(tokens)) if tokens[i].text == "("), 0) if token.text in setters else 0
        if opening and tokens[at - 1].text == "." and tokens[opening + 1].kind == LITERAL:
            name = setters[token.text] or _literal(tokens, opening + 1)
            line = tokens[opening + 1].line
            facts.key_defs.append(KeyDef(ATTRIBUTE, f"{operator}:{name}", "cpp", line, note=UNCOMPILED))


def _literal(tokens: list[Token], at: int) -> str:
    """The literals that follow each other from `at` on, as one string."""
    parts = []
    while at < len(tokens) and tokens[at].kind == LITERAL:
        parts.append(unquote(tokens[at].text))
        at += 1
    return "".join(parts)


def _set(walk: Walk, call: CXCursor, attribute: str) -> None:
    opener = opener_of(walk, call, (OPENER,))
    operator = constant(argument(opener, 0)) if opener is not None else None
    name_cursor = argument(call, 0)
    name = attribute or constant(name_cursor)
    if operator is None or name is None or name_cursor is None:
        return  # a name that is computed: see `registrations`
    record_attribute(walk, f"{operator}:{name}", name_cursor, argument(call, 1))
    relation = constant(name_cursor) if attribute == TYPE_RELATION else None
    if relation is not None:
        found = function_of(walk, argument(call, 1), f"{operator}:{name}").target
        runs = found if found is not None and found.is_function else None
        define(walk, "ffi", TYPE_RELATION_PREFIX + relation, name_cursor, runs, "add_type_rel")


def record_attribute(walk: Walk, key: str, place: CXCursor, value: CXCursor | None) -> None:
    """Record an attribute at `place`: the function that `value` stands for, or what else it says."""
    found = function_of(walk, value, key) if value is not None else None
    if found is not None and found.target is not None and found.target.is_function:
        walk.registered.add(found.named_at)
        define(walk, ATTRIBUTE, key, place, found.target, found.note)
    else:
        define(walk, ATTRIBUTE, key, place, note=walk.source_text(value)[:60] if value is not None else "")


def _look_up(walk: Walk, call: CXCursor, registry: str) -> None:
    name_cursor = argument(call, 0)
    name = string_of(name_cursor, variables=True)
    if name_cursor is None:
        return
    if name is None:
        file, line, col = walk.position(call)
        if file in walk.facts:
            walk.note_unreadable(file, line, col, call, f"name of a looked-up {registry} is known only at run time")
        return
    use(walk, registry, name if registry == OP else f"*:{name}", name_cursor)


def _read(walk: Walk, call: CXCursor) -> None:
    """`map[op]` and `map.get(op, ..)` run any function set under the map's attribute."""
    parts = expressions(call)
    at = parts[0] if parts else None
    while at is not None and at.kind not in (kinds.DECL_REF_EXPR, kinds.CALL_EXPR):
        inner = expressions(at)
        referenced = load().clang_getCursorReferenced(at) if at.kind == kinds.MEMBER_REF_EXPR else None
        if referenced is not None and referenced.kind == kinds.FIELD:
            break
        at = inner[0] if inner else None
    if at is None:
        return
    if at.kind != kinds.CALL_EXPR:
        value = initialiser(load().clang_getCursorReferenced(at))
        opened = opener_of(walk, value, LOOK_UPS) if value is not None else None
        at = value if opened is None and value is not None else opened
    callee = callee_of(walk, at) if at is not None and at.kind == kinds.CALL_EXPR else None
    if at is None or callee is None or LOOK_UPS.get(callee.qualname) != ATTRIBUTE:
        return
    name = constant(argument(at, 0))
    if name is not None:
        use(walk, ATTRIBUTE, f"*:{name}", call, calls=True)
