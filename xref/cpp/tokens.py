"""Reads code by tokens where it did not compile, so that no tree is left of it: a header that is missing costs what
depends on it, not the strings that stand beside it.
"""

from __future__ import annotations

import ctypes
import os
import re
from ctypes import byref, c_size_t, c_uint
from typing import Any, NamedTuple

from xref.cpp.clang import CXCursor, CXToken, TranslationUnit, file_location, load, text
from xref.cpp.conditionals import NEVER, Conditionals

PUNCTUATION, KEYWORD, IDENTIFIER, LITERAL, COMMENT = range(5)


class Token(NamedTuple):
    """A token: its CXTokenKind, how it is written, its line, column and byte offset (0 for what a macro makes)."""

    kind: int
    text: str
    line: int
    col: int = 0
    offset: int = 0


def statement_tokens(cursor: CXCursor, limit: int = 4000) -> list[Token]:
    """The tokens from the cursor's position to the `;` that ends the statement, or to the bracket that closes what is
    around it, within `limit` bytes; no comments."""
    offset = file_location(load().clang_getCursorLocation(cursor))[3]
    result: list[Token] = []
    depth = 0
    for token in _tokens(cursor, offset, limit):
        depth += (token.text in ("(", "{", "[")) - (token.text in (")", "}", "]"))
        if (token.text == ";" and depth <= 0) or depth < 0:
            return result
        result.append(token)
    return []  # no end in sight: nothing is known


def file_tokens(root: CXCursor, path: str) -> list[Token]:
    """The tokens of a file of the unit `root`, by its absolute name: also of what the preprocessor left out (but for
    what no build takes in, `#if 0`), without directives and comments."""
    library = load()
    unit = library.clang_Cursor_getTranslationUnit(root)
    handle = library.clang_getFile(unit, os.fsencode(path)) if unit else None
    if not handle:
        return []
    size = c_size_t()
    content = library.clang_getFileContents(unit, handle, byref(size)) or b""
    conditions = Conditionals(content.decode("utf-8", "replace"))
    left_out = {line for line in left_out_lines(root, path) if NEVER in conditions.all_at(line)}
    continued = False
    for number, line in enumerate(content.split(b"\n"), start=1):
        if continued or line.lstrip().startswith(b"#"):
            left_out.add(number)
            continued = line.rstrip().endswith(b"\\")
    return [token for token in _tokens_of(unit, handle, 0, size.value) if token.line not in left_out]


def left_out_lines(root: CXCursor, path: str) -> set[int]:
    """The lines of a file of the unit `root` that the preprocessor left out."""
    unit = TranslationUnit(load().clang_Cursor_getTranslationUnit(root))
    return {line for first, last in unit.skipped_lines(path) for line in range(first, last + 1)}


def _tokens(cursor: CXCursor, offset: int, limit: int) -> list[Token]:
    """The tokens of the cursor's file from the byte `offset` on, within `limit` bytes, without comments."""
    library = load()
    handle = file_location(library.clang_getCursorLocation(cursor))[0]
    unit = library.clang_Cursor_getTranslationUnit(cursor)
    return _tokens_of(unit, handle, offset, limit) if handle and unit else []


def _tokens_of(unit: Any, handle: Any, offset: int, limit: int) -> list[Token]:
    library = load()
    size = c_size_t()
    library.clang_getFileContents(unit, handle, byref(size))
    last = min(offset + limit, size.value)  # a location behind the file's end is none
    start, end = (library.clang_getLocationForOffset(unit, handle, at) for at in (offset, last))
    found, count = ctypes.POINTER(CXToken)(), c_uint()
    library.clang_tokenize(unit, library.clang_getRange(start, end), byref(found), byref(count))
    result: list[Token] = []
    for i in range(count.value):
        kind = library.clang_getTokenKind(found[i])
        if kind != COMMENT:
            _, line, col, at = file_location(library.clang_getTokenLocation(unit, found[i]))
            result.append(Token(kind, text(library.clang_getTokenSpelling(unit, found[i])), line, col, at))
    library.clang_disposeTokens(unit, found, count)
    return result


def expanded(cursor: CXCursor, tokens: list[Token], source: bytes) -> list[Token]:
    """The tokens of a statement with the macro that opens it expanded once, when the file defines it; else unchanged.

    All tokens of the expansion stand on the line of the invocation. Only parameters, `#` and `##` are dealt with.
    """
    if len(tokens) < 3 or tokens[0].kind != IDENTIFIER or tokens[1].text != "(":
        return tokens
    name = tokens[0].text.encode("utf-8")
    at = next((m.start() for m in re.finditer(rb"#[ \t]*define[ \t]+(\w+)\(", source) if m.group(1) == name), -1)
    if at < 0:
        return tokens
    end = at
    while (end := source.find(b"\n", end + 1)) > 0 and source[:end].rstrip(b"\r").endswith(b"\\"):
        pass
    definition = _tokens(cursor, at, (end if end > 0 else len(source)) - at)
    opening, closing = _bracketed(definition, 3)
    parameters = [t.text for t in definition[opening + 1 : closing] if t.kind == IDENTIFIER]
    opening, last = _bracketed(tokens, 1)
    given = dict(zip(parameters, _split(tokens[opening + 1 : last]), strict=False))
    result = _substituted(definition[closing + 1 :], given, tokens[0].line)
    return result if result and result[-1].text == ";" else result + tokens[last + 1 :]


def _bracketed(tokens: list[Token], opening: int) -> tuple[int, int]:
    """The indices of the bracket at `opening` and of the one that closes it."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += (tokens[i].text == "(") - (tokens[i].text == ")")
        if not depth:
            return opening, i
    return opening, len(tokens)


def _split(tokens: list[Token]) -> list[list[Token]]:
    """The arguments of a macro."""
    result: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if token.text == "," and not depth:
            result.append([])
        else:
            result[-1].append(token)
    return result


def _substituted(body: list[Token], given: dict[str, list[Token]], line: int) -> list[Token]:
    result: list[Token] = []
    at = 0
    while at < len(body):
        token = body[at]
        if token.text == "#" and at + 1 < len(body) and body[at + 1].text in given:
            written = " ".join(t.text for t in given[body[at + 1].text])
            result.append(Token(LITERAL, f'"{written}"', line))
            at += 2
        elif token.text == "##" and result and at + 1 < len(body):
            right = given.get(body[at + 1].text, [body[at + 1]])
            result[-1] = Token(result[-1].kind, result[-1].text + "".join(t.text for t in right), line)
            at += 2
        else:
            result += [t._replace(line=line) for t in given.get(token.text, [token])]
            at += 1
    return result
