"""What values in braces run: constructions of array elements, fields and bases, and initialisers of fields left out.

`Agg a{1}` makes the first field of 1, the others by their initialisers or default constructors, and calls no
constructor of Agg, for an aggregate has none: the function that has the list calls them all, at the list.
"""

from __future__ import annotations

from xref.cpp import kinds
from xref.cpp.calls import Calls
from xref.cpp.clang import CONTINUE, RECURSE, CXCursor, children
from xref.cpp.hidden import can_read_lists, values_of
from xref.cpp.members import class_of
from xref.cpp.walk import OpenCall
from xref.model import Unresolved

_REASON = "what values in braces construct, which this libclang does not show"


class Braces(Calls):
    """The handler of lists in braces."""

    def _list(self, cursor: CXCursor, _parent: CXCursor) -> int:
        values = values_of(cursor)
        if values is None:
            if not can_read_lists():
                self._note_unread(cursor)
            return RECURSE
        self._designators(cursor)
        self.descend(values.listed.cursor)
        for field in values.defaults:
            self._run_initialiser(field, cursor)
        return CONTINUE

    def _note_unread(self, list_: CXCursor) -> None:
        file, line, col = self.position(list_)
        kind = self.library.clang_getCanonicalType(self.library.clang_getCursorType(list_))
        is_made = kind.kind in kinds.ARRAY_TYPES or class_of(kind).kind in kinds.TYPE_LIKE
        if is_made and file in self.facts:
            row = Unresolved(line, col, self.within(), self.source_text(list_), _REASON)
            self.facts[file].unresolved.append(row)

    def _designators(self, list_: CXCursor) -> None:
        """The fields that `{.x = 1, .y = {.z = 2}}` names stand in the written list alone."""
        for value in children(list_):
            if value.kind != kinds.UNEXPOSED_EXPR:
                continue
            for part in children(value):
                if part.kind != kinds.MEMBER_REF:
                    break
                self._reference(part, value)

    def _run_initialiser(self, field: CXCursor, list_: CXCursor) -> None:
        scope, (file, line, col) = self.scope, self.position(list_)
        if scope is None or file not in self.facts:
            return
        for callee, at in self.calls_of_initialiser(field):
            call = OpenCall(callee)
            call.file, call.line, call.col = file, line, col
            self._resolved_call(scope, at, self.library.clang_getCursorReferenced(at), callee, call)
