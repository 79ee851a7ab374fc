"""The class that stands before a name in a template: `Base::run(t)`, `TB<T>::run(t)`, `this->TB<T>::run(t)`, or is one.

clang looks such a name up in an instance alone. What it shows are the names in front of it that mean something already:
a class template, an alias, a parameter. A name between (`TB<T>::Inner::run(t)`) is looked up here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, CXType, children, file_location, text
from xref.cpp.holders import Holders
from xref.cpp.members import class_of, members_in
from xref.cpp.written import without_arguments

_NAMES = (kinds.TYPE_REF, kinds.TEMPLATE_REF)
_ALIASES = (kinds.TYPEDEF, kinds.TYPE_ALIAS)
_LAST_NAME = re.compile(r"([A-Za-z_]\w*|operator\s*\W+)\s*$")
_TEMPLATE = re.compile(r"\btemplate\s*$")
_MAX_PATH = 400
"""Bytes before the end of a name that are looked at."""


class Qualifier(NamedTuple):
    """What stands before a name: a class, or the type that a template parameter says (`T`, `T::Inner`); neither where
    it is a type that nothing is known of."""

    class_: CXCursor | None
    parameter: str = ""


class Qualifiers(Holders):
    """Reads what qualifies the callee of a call that clang does not resolve."""

    def qualifier(self, callee: CXCursor) -> Qualifier | None:
        """What qualifies the callee's name; None where nothing does."""
        parts = children(callee)
        named = [c for c in parts if c.kind in _NAMES]
        if not named:
            return None
        first, behind = self._written_path(callee, named)
        if first is None and not any(c.kind in kinds.EXPRESSIONS for c in parts):
            first = named[0]  # a macro makes the name
        return self._looked_up(first, behind[:-1]) if first is not None else None

    def class_written(self, named_in: CXCursor) -> CXCursor | None:
        """The class that the text of a base (`TB<T>::Inner`) names within one that clang knows."""
        first, behind = self._written_path(named_in, [c for c in children(named_in) if c.kind in _NAMES])
        return self._looked_up(first, behind).class_ if first is not None else None

    def _written_path(self, path: CXCursor, named: list[CXCursor]) -> tuple[CXCursor | None, list[str]]:
        """The last of the names in `A<T>::B::c` that clang knows, and those behind it; (None, []) where the text does
        not have them."""
        places = {file_location(self.library.clang_getCursorLocation(c))[3]: c for c in named}
        extent = self.library.clang_getCursorExtent(path)
        handle, _, _, end = file_location(self.library.clang_getRangeEnd(extent))
        start = max(0, end - _MAX_PATH)
        rest = self.source_of(self.paths.relative(handle))[start:end].decode("latin-1")  # a byte, a character
        behind: list[str] = []
        while found := _LAST_NAME.search(without_arguments(rest)):
            rest = rest[: found.start()]
            if behind and (first := places.get(start + len(rest))):
                return first, behind
            behind.insert(0, found.group(1))
            rest = _TEMPLATE.sub("", rest).rstrip()
            if not rest.endswith("::"):
                break
            rest = rest[:-2]
        return None, []

    def _looked_up(self, name: CXCursor, path: list[str]) -> Qualifier:
        """The type that the name is, or the one of that path in it."""
        at = self._type_named(name)
        for inner in path:
            if at.class_ is None:
                at = Qualifier(None, f"{at.parameter}::{inner}" if at.parameter else "")
            else:
                found = members_in(at.class_, lambda c, name=inner: self._is_type_called(c, name))  # type: ignore[misc]
                at = self._type_declared(found[0]) if found else Qualifier(None)
        return at

    def _is_type_called(self, member: CXCursor, name: str) -> bool:
        is_type = member.kind in kinds.TYPE_LIKE or member.kind in _ALIASES
        return is_type and text(self.library.clang_getCursorSpelling(member)) == name

    def _type_named(self, reference: CXCursor) -> Qualifier:
        named = self.library.clang_getCursorReferenced(reference)
        if named.kind == kinds.ALIAS_TEMPLATE:
            aliased = next((c for c in children(named) if c.kind in _ALIASES), None)
            return self._type_declared(aliased) if aliased is not None else Qualifier(None)
        return self._type_declared(named)

    def _type_declared(self, declared: CXCursor) -> Qualifier:
        """The type that a declaration is, through aliases."""
        library = self.library
        if declared.kind in _ALIASES:
            kind: CXType = library.clang_getTypedefDeclUnderlyingType(declared)
            if parameter := self.parameter_of(kind):
                return Qualifier(None, parameter)
            declared = class_of(kind)
        if declared.kind == kinds.TEMPLATE_TYPE_PARAMETER:
            return Qualifier(None, text(library.clang_getCursorSpelling(declared)))
        return Qualifier(declared if declared.kind in kinds.TYPE_LIKE else None)
