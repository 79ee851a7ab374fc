"""Look-ups of FFI functions in C++ whose name is no literal at the call: a variable, a function's result, a parameter.

A variable stands for every string that its function assigns to it; a function for what it returns, where that is one
expression; a parameter for what the callers in the same unit pass, whose call is then the use of the key.
"""

from __future__ import annotations

import ctypes
from ctypes import c_void_p
from typing import TYPE_CHECKING, NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import RECURSE, VISITOR, CXCursor, children, file_location, load
from xref.model import Id, KeyUse
from xref.registry.cpp_record import expressions, initialiser
from xref.registry.cpp_values import argument, string_of

if TYPE_CHECKING:
    from xref.cpp.walk import Walk

_MAX_STEPS = 12
_WRAPPERS = (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR, kinds.CALL_EXPR, kinds.FUNCTIONAL_CAST, kinds.STATIC_CAST,
             kinds.CSTYLE_CAST, kinds.INIT_LIST_EXPR)  # fmt: skip


class Forward(NamedTuple):
    """A function looks up the key that its parameter at `index` holds, behind `prefix`."""

    function: Id
    name: str
    position: int
    prefix: str
    registry: str
    optional: bool


def names_of(walk: Walk, cursor: CXCursor | None) -> list[str]:
    """The strings that the expression may hold, each with a final `*` where it goes on at run time."""
    plain = _plain(cursor)
    if plain is not None and plain.kind == kinds.CONDITIONAL:
        return list(dict.fromkeys(name for branch in children(plain)[1:] for name in names_of(walk, branch)))
    if plain is not None and plain.kind == kinds.SUBSCRIPT:
        return _entries(plain)
    whole = string_of(cursor, variables=True)
    variable = _variable(cursor)
    more = walk.extended.get(variable.decl or 0) if variable is not None else None
    if more and whole is not None:
        return _extended(whole, more)
    values = [*walk.assigned.get(variable.decl or 0, ())] if variable is not None else []
    if values:
        known = [string_of(value, variables=True) for value in values]
        return list(dict.fromkeys(name for name in (whole, *known) if name))
    if whole is None and cursor is not None:
        whole = _returned(cursor)
    return [whole] if whole else []


def _entries(subscript: CXCursor) -> list[str]:
    """All strings of the table that `table[i]` reads; none when one is not known."""
    table = _variable(children(subscript)[0])
    values = initialiser(table) if table is not None else None
    rows = expressions(values) if values is not None and values.kind == kinds.INIT_LIST_EXPR else []
    known = [string_of(row) for row in rows]
    return [name for name in known if name] if None not in known else []


def note_extended(walk: Walk, call: CXCursor) -> None:
    """Remember `name += x` and `name.append(x)`."""
    owner = children(call)[:1]
    if owner and owner[0].kind == kinds.MEMBER_REF_EXPR:
        owner = children(owner[0])[:1]
    variable = _variable(owner[0]) if owner else None
    value = argument(call, load().clang_Cursor_getNumArguments(call) - 1)
    if variable is not None and variable.kind == kinds.VARIABLE and value is not None:
        walk.extended.setdefault(variable.decl or 0, []).append(value)


def _extended(begin: str, parts: list[CXCursor]) -> list[str]:
    """What a string may be to which something is appended, perhaps: once a part is not known, all that is a prefix."""
    names = [begin]
    for part in parts:
        added = string_of(part, variables=True)
        if names[-1].endswith("*") or added is None or added.endswith("*"):
            return [names[-1].removesuffix("*") + (added or "*" if not names[-1].endswith("*") else "*")]
        names.append(names[-1] + added)
    return names


def _plain(cursor: CXCursor | None) -> CXCursor | None:
    """What stands inside conversions and constructions of strings."""
    for _ in range(_MAX_STEPS):
        if cursor is None or cursor.kind not in _WRAPPERS:
            return cursor
        if cursor.kind == kinds.CALL_EXPR:
            callee = load().clang_getCursorReferenced(cursor)
            if callee.kind not in (kinds.CONSTRUCTOR, kinds.CONVERSION):
                return cursor
        inner = [c for c in children(cursor) if c.kind in kinds.EXPRESSIONS]
        cursor = inner[0] if inner else None
    return cursor


def _variable(cursor: CXCursor | None) -> CXCursor | None:
    """The variable that the expression reads, if it does nothing else."""
    plain = _plain(cursor)
    if plain is None or plain.kind != kinds.DECL_REF_EXPR:
        return None
    found: CXCursor = load().clang_getCursorReferenced(plain)
    return found


def _returned(cursor: CXCursor) -> str | None:
    """The string that the called function returns, where its body says so in a single return."""
    call = _plain(cursor)
    if call is None or call.kind != kinds.CALL_EXPR:
        return None
    callee = load().clang_getCursorReferenced(call)
    body = load().clang_getCursorDefinition(callee) if callee.kind in kinds.FUNCTION_LIKE else callee
    block = next((c for c in children(body) if c.kind == kinds.COMPOUND_STATEMENT), None) if body.decl else None
    statements = children(block) if block is not None else []
    if len(statements) != 1 or statements[0].kind != kinds.RETURN_STATEMENT:
        return None
    value = children(statements[0])
    return string_of(value[0], variables=True) if value else None


def note_forward(walk: Walk, cursor: CXCursor | None, registry: str, *, optional: bool) -> bool:
    """Remember that the function around the look-up is given the name; False when it is not."""
    prefix, parameter = _ending_parameter(cursor)
    function = walk.scope
    if parameter is None or function is None or not function.is_function or function.symbol_kind == "lambda":
        return False
    owner = load().clang_getCursorSemanticParent(parameter)
    declared = walk.declarations.of(owner)
    if declared is None or declared.id != function.id:
        return False
    for index in range(max(load().clang_Cursor_getNumArguments(owner), 0)):
        given = argument(owner, index)
        if given is not None and given.decl == parameter.decl:
            walk.forwards.append(Forward(function.id, function.name, index, prefix, registry, optional))
            return True
    return False


def _ending_parameter(cursor: CXCursor | None) -> tuple[str, CXCursor | None]:
    """(what stands before it, the parameter) of `name` or `"prefix" + name`."""
    plain = _plain(cursor)
    if plain is None:
        return "", None
    if plain.kind in (kinds.CALL_EXPR, kinds.BINARY_OPERATOR):
        parts = children(plain) if plain.kind == kinds.BINARY_OPERATOR else [argument(plain, 0), argument(plain, 1)]
        prefix = string_of(parts[0]) if parts else None
        inner = _variable(parts[-1]) if prefix and len(parts) > 1 else None
        return (prefix or "", inner) if inner is not None and inner.kind == kinds.PARAMETER else ("", None)
    variable = _variable(plain)
    return ("", variable) if variable is not None and variable.kind == kinds.PARAMETER else ("", None)


def finish(walk: Walk, root: CXCursor) -> None:
    """After the walk: record what the unit's calls of forwarding functions name."""
    if not walk.forwards:
        return
    wanted: dict[Id, list[Forward]] = {}
    for forward in walk.forwards:
        wanted.setdefault(forward.function, []).append(forward)
    names = {forward.name for forward in walk.forwards}

    def look(cursor: CXCursor, _parent: CXCursor, _data: object) -> int:
        if cursor.kind == kinds.CALL_EXPR:
            callee = walk.declarations.of(walk.library.clang_getCursorReferenced(cursor))
            if callee is not None and callee.name in names:
                for forward in wanted.get(callee.id, ()):
                    _use(walk, cursor, forward)
        return RECURSE

    callback = VISITOR(look)
    walk.library.clang_visitChildren(root, ctypes.cast(callback, c_void_p), None)


def _use(walk: Walk, call: CXCursor, forward: Forward) -> None:
    given = argument(call, forward.position)
    for name in names_of(walk, given) if given is not None else ():
        handle, line, col, offset = file_location(walk.library.clang_getCursorLocation(given))
        file = walk.paths.relative(handle)
        facts = walk.facts.get(file)
        if facts is not None:
            within = _innermost(walk, file, offset)
            facts.key_uses.append(
                KeyUse(forward.registry, forward.prefix + name, "cpp", line, col, within, True, forward.optional)
            )


def _innermost(walk: Walk, file: str, offset: int) -> Id | None:
    """The function, lambda or initialiser whose text holds the offset."""
    around = [r for r in walk.function_ranges.get(file, ()) if r[0] <= offset <= r[1]]
    return min(around, key=lambda r: r[1] - r[0])[2] if around else None
