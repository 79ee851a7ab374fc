"""Finds the members of a class by what they are, as the language looks them up: in the class, else in its bases."""

from __future__ import annotations

from collections.abc import Callable

from xref.cpp import kinds
from xref.cpp.bindings import REFERENCES
from xref.cpp.clang import CXCursor, CXType, children, load, text

_METHODS = (kinds.METHOD, kinds.FUNCTION_TEMPLATE)


def class_of(kind: CXType) -> CXCursor:
    """The declaration of the class that the type is or refers to, as written where the class is an instance; for other
    types a cursor that is none of `kinds.TYPE_LIKE`."""
    library = load()
    kind = library.clang_getCanonicalType(kind)
    if kind.kind in REFERENCES:
        kind = library.clang_getCanonicalType(library.clang_getPointeeType(kind))
    declared: CXCursor = library.clang_getTypeDeclaration(kind)
    template: CXCursor = library.clang_getSpecializedCursorTemplate(
        declared
    )  # libclang shows no members of an instance
    return template if template.decl else declared


def members(kind: CXType, is_wanted: Callable[[CXCursor], bool]) -> list[CXCursor]:
    """The wanted members of the class that the type is or refers to; when it has none, those of the nearest base."""
    return members_in(class_of(kind), is_wanted)


def members_in(class_: CXCursor, is_wanted: Callable[[CXCursor], bool]) -> list[CXCursor]:
    """The wanted members of the class; when it has none, those of the nearest base."""
    library = load()
    level = [class_]
    seen: set[int] = set()
    while level:
        inside = [c for at in level for c in children(library.clang_getCursorDefinition(at))]
        found = [c for c in inside if is_wanted(c)]
        if found:
            return found
        bases = [class_of(library.clang_getCursorType(c)) for c in inside if c.kind == kinds.BASE_SPECIFIER]
        level = [base for base in bases if base.decl and base.decl not in seen]
        seen.update(base.decl for base in level)
    return []


def methods_named(kind: CXType, name: str) -> list[CXCursor]:
    """The methods of that name, templates among them."""
    return methods_in(class_of(kind), name)


def methods_in(class_: CXCursor, name: str) -> list[CXCursor]:
    """The methods of that name in the class, or in the nearest base that has any, templates among them."""
    return members_in(class_, lambda c: c.kind in _METHODS and text(load().clang_getCursorSpelling(c)) == name)
