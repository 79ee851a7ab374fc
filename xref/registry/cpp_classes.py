"""What a C++ class says about itself as an object type: its key, its bases, how its objects are compared."""

from __future__ import annotations

from collections.abc import Iterator

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load, text
from xref.registry.cpp_values import string_of

MEMBER = "_type_key"
EQUALITY_MEMBER = "_type_s_eq_hash_kind"
"""v0.21 on; its values are kTVMFFISEqHashKindTreeNode, ...FreeVar, ... (tvm-ffi, c_api.h)."""
_EQUALITY_PREFIX = "kTVMFFISEqHashKind"
EQUALITY_METHODS = ("SEqualReduce", "SHashReduce")
"""To v0.20, include/tvm/node/structural_equal.h: a class whose objects are compared field by field has these."""
_MAX_BASES = 16
"""Steps from a class to its bases: more than any real chain."""


def definition(cursor: CXCursor) -> CXCursor:
    """The definition of a class, of a specialisation's template; the cursor itself when there is none to see."""
    library = load()
    template = library.clang_getSpecializedCursorTemplate(cursor)
    if template.decl and template.kind in kinds.TEMPLATES:
        cursor = template
    found: CXCursor = library.clang_getCursorDefinition(cursor)
    return found if found.decl else cursor


def bases(owner: CXCursor) -> Iterator[CXCursor]:
    """The classes that a class derives from, as written: templates stand for their specialisations."""
    library = load()
    for child in children(owner):
        if child.kind == kinds.BASE_SPECIFIER:
            named = library.clang_getCursorReferenced(child)
            if named.kind not in kinds.TYPE_LIKE:  # a typedef, or a name that depends on a template parameter
                written = library.clang_getCanonicalType(library.clang_getCursorType(child))
                named = library.clang_getTypeDeclaration(written)
            if named.decl and named.kind in kinds.TYPE_LIKE:
                yield named


def type_key_in(variable: CXCursor) -> str:
    """The string that the member `_type_key` is initialised with, "" when it is none."""
    for child in children(variable):
        name = string_of(child)
        if name:
            return name
    return ""


def own_type_key(owner: CXCursor) -> str:
    """The key that a class declares itself; "" without one."""
    for child in children(owner):
        if child.kind == kinds.VARIABLE and text(load().clang_getCursorSpelling(child)) == MEMBER:
            return type_key_in(child)
    return ""


def type_key_of(owner: CXCursor, depth: int = 0) -> str:
    """The key of a class, its own or, as C++ looks members up, that of a base; "" without one."""
    own = own_type_key(owner)
    if own:
        return own
    if depth < _MAX_BASES:
        for base in bases(owner):
            found = type_key_of(definition(base), depth + 1)
            if found:
                return found
    return ""


def field_named(owner: CXCursor, name: str, depth: int = 0) -> CXCursor | None:
    """The data member `name` of a class or of its bases."""
    for child in children(owner):
        if child.kind == kinds.FIELD and text(load().clang_getCursorSpelling(child)) == name:
            return child
    if depth < _MAX_BASES:
        for base in bases(owner):
            found = field_named(definition(base), name, depth + 1)
            if found is not None:
                return found
    return None


def equality_of(owner: CXCursor, depth: int = 0) -> str:
    """How objects of the class are compared, in words; "" when neither it nor a base says so."""
    library = load()
    for child in children(owner):
        name = text(library.clang_getCursorSpelling(child))
        if child.kind == kinds.VARIABLE and name == EQUALITY_MEMBER:
            kind = _constant_name(child).removeprefix(_EQUALITY_PREFIX)
            return f"structural equality: {kind}" if kind else ""
        if name in EQUALITY_METHODS and child.kind in kinds.FUNCTION_LIKE:
            return f"structural equality: {EQUALITY_METHODS[0]}"
    if depth < _MAX_BASES:
        for base in bases(owner):
            found = equality_of(definition(base), depth + 1)
            if found:
                return found
    return ""


def _constant_name(cursor: CXCursor) -> str:
    """The name of the constant that an initialiser is, through casts and conversions."""
    for child in children(cursor):
        if child.kind == kinds.DECL_REF_EXPR:
            return text(load().clang_getCursorSpelling(child))
        if child.kind in kinds.EXPRESSIONS and (found := _constant_name(child)):
            return found
    return ""
