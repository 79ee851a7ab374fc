"""Reads code by tokens where it did not compile, so that no tree is left of it: a header that is missing costs what
depends on it, not the strings that stand beside it.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_size_t, c_uint
from typing import NamedTuple

from xref.cpp.clang import CXCursor, CXToken, file_location, load, text

PUNCTUATION, KEYWORD, IDENTIFIER, LITERAL, COMMENT = range(5)


class Token(NamedTuple):
    """A token: its CXTokenKind, how it is written, and its line."""

    kind: int
    text: str
    line: int


def statement_tokens(cursor: CXCursor, limit: int = 4000) -> list[Token]:
    """The tokens from the cursor's position to the `;` that ends the statement, within `limit` bytes; no comments."""
    library = load()
    handle, _, _, offset = file_location(library.clang_getCursorLocation(cursor))
    unit = library.clang_Cursor_getTranslationUnit(cursor)
    if not handle or not unit:
        return []
    size = c_size_t()
    library.clang_getFileContents(unit, handle, byref(size))
    last = min(offset + limit, size.value)  # a location behind the file's end is none
    start, end = (library.clang_getLocationForOffset(unit, handle, at) for at in (offset, last))
    found, count = ctypes.POINTER(CXToken)(), c_uint()
    library.clang_tokenize(unit, library.clang_getRange(start, end), byref(found), byref(count))
    result: list[Token] = []
    depth = 0
    for i in range(count.value):
        kind = library.clang_getTokenKind(found[i])
        written = text(library.clang_getTokenSpelling(unit, found[i]))
        if kind == COMMENT:
            continue
        depth += (written in ("(", "{", "[")) - (written in (")", "}", "]"))
        if written == ";" and depth <= 0:
            break
        line = file_location(library.clang_getTokenLocation(unit, found[i]))[1]
        result.append(Token(kind, written, line))
    else:
        result.clear()  # no end in sight: nothing is known
    library.clang_disposeTokens(unit, found, count)
    return result
