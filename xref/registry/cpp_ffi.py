"""FFI global functions in C++: registrations and look-ups of every TVM era, by the method that the code calls.

Macros (TVM_REGISTER_GLOBAL, TVM_FFI_REGISTER_GLOBAL, TVM_FFI_STATIC_INIT_BLOCK, and those of single files such as
TOPI_DEF_BCAST_OP) need no form of their own: after expansion each is a call of one of these methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load
from xref.model import KeyDef, KeyUse
from xref.registry.cpp_look_ups import names_of, note_extended, note_forward
from xref.registry.cpp_tables import Registration
from xref.registry.cpp_values import Found, argument, function_of, string_of

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

REGISTRY = "ffi"


class Definition(NamedTuple):
    """A method whose argument `name` is the key and `target` the function; the era that writes it."""

    name: int
    target: int
    era: str


class Body(NamedTuple):
    """A method, chained to one of `OPENERS`, whose argument `target` is the function."""

    target: int
    era: str


class LookUp(NamedTuple):
    """A function whose argument `name` is the key; `optional` when its result says that there may be none. `calls` is
    False where it only names the function that generated code will call."""

    name: int
    optional: bool
    era: str
    calls: bool = True


DEFINITIONS = {
    "tvm::ffi::reflection::GlobalDef::def": Definition(0, 1, "v0.21-"),
    "tvm::ffi::reflection::GlobalDef::def_packed": Definition(0, 1, "v0.21-"),
    "tvm::ffi::reflection::GlobalDef::def_method": Definition(0, 1, "v0.21-"),
    "tvm::ffi::Function::SetGlobal": Definition(0, 1, "v0.21-"),
}
OPENERS = {
    "tvm::runtime::Registry::Register": 0,
    "tvm::ffi::Function::Registry::Registry": 0,
}
BODIES = {
    **{f"tvm::runtime::Registry::{m}": Body(0, "-v0.20") for m in ("set_body", "set_body_typed", "set_body_method")},
    **{
        f"tvm::ffi::Function::Registry::{m}": Body(0, "v0.21")
        for m in ("set_body", "set_body_packed", "set_body_typed", "set_body_method")
    },
}
LOOK_UPS = {
    "tvm::runtime::Registry::Get": LookUp(0, True, "-v0.20"),
    "tvm::ffi::Function::GetGlobal": LookUp(0, True, "v0.21-"),
    "tvm::ffi::Function::GetGlobalRequired": LookUp(0, False, "v0.21-"),
    "tvm::EnvFunc::Get": LookUp(0, False, "-"),
    "tvm::relax::ExternFunc::ExternFunc": LookUp(0, True, "-", calls=False),
}
APPENDING = frozenset({"operator+=", "append"})
"""Methods that make a string longer."""


def _class(method: str) -> str:
    return method.rpartition("::")[0]


COMPUTED = (
    *(Registration(REGISTRY, method, form.name, runs=form.target) for method, form in DEFINITIONS.items()),
    *(
        Registration(REGISTRY, opener, name, bodies=tuple(b for b in BODIES if _class(b) == _class(opener)))
        for opener, name in OPENERS.items()
    ),
)
"""Registrations whose names loops and helpers put together."""
NAMES = frozenset(form.rsplit("::", 1)[1] for form in (*DEFINITIONS, *OPENERS, *BODIES, *LOOK_UPS))
"""The methods' last names: a cheap first look at a call."""


def on_call(walk: Walk, call: CXCursor, callee: Declaration) -> None:
    """Record the key that this call defines or looks up, if any."""
    if callee.name in APPENDING:
        note_extended(walk, call)
    if callee.name not in NAMES:
        return
    qualname = callee.qualname
    if (definition := DEFINITIONS.get(qualname)) is not None:
        _define(walk, call, argument(call, definition.name), argument(call, definition.target), callee.name)
    elif (body := BODIES.get(qualname)) is not None:
        opener = _opener(walk, call)
        if opener is not None:
            walk.consumed.add(walk.token(opener))
            name = argument(opener, OPENERS[_qualname(walk, opener)])
            _define(walk, call, name, argument(call, body.target), callee.name)
    elif qualname in OPENERS:
        if walk.token(call) not in walk.consumed:
            _define(walk, call, argument(call, OPENERS[qualname]), None, callee.name)
    elif (look_up := LOOK_UPS.get(qualname)) is not None:
        _use(walk, call, argument(call, look_up.name), look_up)


def _qualname(walk: Walk, call: CXCursor) -> str:
    callee = walk.declarations.of(load().clang_getCursorReferenced(call))
    return callee.qualname if callee is not None else ""


def _opener(walk: Walk, call: CXCursor) -> CXCursor | None:
    """The call that opened the chain `Register("name").set_body(..)`: the receiver's receiver, and so on."""
    cursor: CXCursor | None = call
    while cursor is not None:
        inner = [c for c in children(cursor) if c.kind in kinds.EXPRESSIONS]
        cursor = inner[0] if inner else None
        if cursor is not None and cursor.kind == kinds.CALL_EXPR and _qualname(walk, cursor) in OPENERS:
            return cursor
    return None


def _define(
    walk: Walk, call: CXCursor, name_cursor: CXCursor | None, target_cursor: CXCursor | None, method: str
) -> None:
    name = string_of(name_cursor)
    file, line, _ = walk.position(name_cursor if name_cursor is not None else call)
    facts = walk.facts.get(file)
    if facts is None:
        return
    if name is None or name.endswith("*"):
        walk.note_computed(call, f"name of a registered {REGISTRY} key is not a constant")
        return
    found = function_of(walk, target_cursor, name) if target_cursor is not None else Found(None, "no body")
    if found.target is not None:
        walk.registered.add(found.named_at)
        walk.mention(found.target, facts)
    runs = found.target.id if found.target is not None else None
    facts.key_defs.append(KeyDef(REGISTRY, name, "cpp", line, runs, note=found.note or method))


def _use(walk: Walk, call: CXCursor, name_cursor: CXCursor | None, look_up: LookUp) -> None:
    names = names_of(walk, name_cursor)
    file, line, col = walk.position(name_cursor if names and name_cursor is not None else call)
    facts = walk.facts.get(file)
    if facts is None:
        return
    within = walk.within()
    for name in names:
        facts.key_uses.append(KeyUse(REGISTRY, name, "cpp", line, col, within, look_up.calls, look_up.optional))
    if names or not look_up.calls:
        return
    is_given = note_forward(walk, name_cursor, REGISTRY, optional=look_up.optional)
    why = "a parameter, followed to the callers in this unit only" if is_given else "known only at run time"
    walk.note_unreadable(file, line, col, call, f"name of a looked-up {REGISTRY} key is {why}")
