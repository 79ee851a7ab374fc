"""What the mechanisms of C++ share: to record a key or its use where it stands, and to find what opened a chain.

A chain (`OpRegEntry::RegisterOrGet("nn.relu").set_name().set_attr<T>("K", f)`) names its key once; each later call of
the chain is about that key. The chain may be cut by a variable: `auto& op = ..RegisterOrGet("x"); op.set_attr(..)`.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load
from xref.model import Id, KeyDef, KeyUse
from xref.registry.cpp_values import string_of

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

CPP = "cpp"
UNCOMPILED = "read by tokens: what is registered did not compile"
"""Note of a key that stands in code of which clang keeps no tree."""
_LONGEST_CHAIN = 400


def callee_of(walk: Walk, call: CXCursor) -> Declaration | None:
    """The declaration that a call names, folded to its template; None when libclang names none."""
    return walk.declarations.of(load().clang_getCursorReferenced(call))


def expressions(cursor: CXCursor) -> list[CXCursor]:
    """The children of `cursor` that are expressions."""
    return [c for c in children(cursor) if c.kind in kinds.EXPRESSIONS]


def initialiser(declaration: CXCursor) -> CXCursor | None:
    """The expression that a variable or field is initialised with; None when its definition shows none."""
    if declaration.kind not in (kinds.VARIABLE, kinds.FIELD):
        return None
    definition: CXCursor = load().clang_getCursorDefinition(declaration)
    values = expressions(definition if definition.decl else declaration)
    return values[-1] if values else None


def opener_of(walk: Walk, call: CXCursor, openers: Container[str]) -> CXCursor | None:
    """The call of one of `openers` (qualified names) that the chain ending in `call` began with."""
    at = call
    for _ in range(_LONGEST_CHAIN):
        inner = expressions(at)
        if not inner:
            if at.kind != kinds.DECL_REF_EXPR:
                return None
            value = initialiser(load().clang_getCursorReferenced(at))
            if value is None:
                return None
            at = value
        else:
            at = inner[0]
        if at.kind == kinds.CALL_EXPR:
            callee = callee_of(walk, at)
            if callee is not None and callee.qualname in openers:
                return at
    return None


def define(
    walk: Walk, registry: str, name: str, place: CXCursor, target: Declaration | None = None, note: str = ""
) -> None:
    """Record a definition of the key at `place`. `target` is what it runs or names."""
    file, line, _ = walk.position(place)
    facts = walk.facts.get(file)
    if facts is None:
        return
    if target is not None:
        walk.mention(target, facts)
    symbol = target.id if target is not None else None
    facts.key_defs.append(KeyDef(registry, name, CPP, line, symbol, note=note))


def use(walk: Walk, registry: str, name: str, place: CXCursor, *, calls: bool = False, optional: bool = False) -> None:
    """Record a use of the key at `place`; see `KeyUse`."""
    file, line, col = walk.position(place)
    facts = walk.facts.get(file)
    if facts is not None:
        within: Id | None = walk.within()
        facts.key_uses.append(KeyUse(registry, name, CPP, line, col, within, calls, optional))


def constant(cursor: CXCursor | None) -> str | None:
    """The whole string that the expression holds; None when part of it is known only at run time."""
    name = string_of(cursor)
    return None if name is None or name.endswith("*") else name
