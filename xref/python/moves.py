"""Where the words of a file have gone: from an earlier text of it to a later one with the same words in the same order.

Comments, blank lines and blanks may differ, and strings that stand as statements (docstrings): none of these changes
what the type checker says of the file, but for where it says it. A comment that speaks to it must be the same.
"""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_left, bisect_right
from keyword import iskeyword

Place = tuple[int, int]
"""Line, 1-based, and column, 0-based."""

_BEGINNING = (1, 0)
_INSIGNIFICANT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.ENCODING})
_EMPTY = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})
_DIRECTIVE = re.compile(r"type:|pyre|mypy|@generated|@partially|coding[:=]", re.IGNORECASE)


class _Words:
    """The words of a text, and the comments that speak to a type checker. Raises what `tokenize` does."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tokenize.TokenInfo] = []
        self.directives: list[str] = []
        self._rows = text.split("\n")
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in _INSIGNIFICANT:
                self.tokens.append(token)
            elif _DIRECTIVE.search(token.string):
                self.directives.append(token.string)

    def places(self, in_bytes: bool) -> tuple[list[Place], list[Place]]:
        """Where each word begins and ends."""
        starts, ends = [token.start for token in self.tokens], [token.end for token in self.tokens]
        if not in_bytes or all(row.isascii() for row in self._rows):
            return starts, ends
        return list(map(self._byte, starts)), list(map(self._byte, ends))

    def _byte(self, place: Place) -> Place:
        line, column = place
        row = self._rows[line - 1] if line <= len(self._rows) else ""
        return line, column if row.isascii() else len(row[:column].encode("utf-8", "replace"))


class Moves:
    """The way from the places of one text to those of another; columns count characters, or bytes (`in_bytes`)."""

    def __init__(self, before: _Words, now: _Words, *, in_bytes: bool) -> None:
        self._same = [old.string == new.string for old, new in zip(before.tokens, now.tokens, strict=True)]
        self._starts, self._ends = before.places(in_bytes)
        self._new_starts, self._new_ends = now.places(in_bytes)

    def start(self, place: Place) -> Place:
        """Where what begins at `place` begins now. Raises `KeyError` for a place outside all words."""
        at = bisect_right(self._starts, place) - 1
        if at < 0 or place >= self._ends[at]:
            raise KeyError(place)
        return self._new_starts[at] if place == self._starts[at] else self._inside(at, place)

    def end(self, place: Place) -> Place:
        """Where what ends at `place` ends now. Raises `KeyError` likewise."""
        at = bisect_left(self._ends, place)
        if at == len(self._ends) or place <= self._starts[at]:
            raise KeyError(place)
        return self._new_ends[at] if place == self._ends[at] else self._inside(at, place)

    def _inside(self, at: int, place: Place) -> Place:
        if not self._same[at]:
            raise KeyError(place)
        (line, column), (new_line, new_column) = self._starts[at], self._new_starts[at]
        if place[0] == line:
            return new_line, new_column + place[1] - column
        return new_line + place[0] - line, place[1]


def words_moved(before: str, now: str) -> tuple[Moves, Moves] | None:
    """The moves from one text of a file to another, in characters and in bytes; None when not only places differ."""
    try:
        old, new = _Words(before), _Words(now)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    if old.directives != new.directives or len(old.tokens) != len(new.tokens):
        return None
    for at, (left, right) in enumerate(zip(old.tokens, new.tokens, strict=True)):
        if left.type != right.type:
            return None
        is_alike = left.string == right.string or left.type in _EMPTY
        if not is_alike and not (_stands_alone(old.tokens, at) and _is_text(right)):
            return None
    for words in (old, new):
        words.tokens = [token for token in words.tokens if token.type not in _EMPTY]
    if _begins_with_name(old) != _begins_with_name(new):
        return None
    return Moves(old, new, in_bytes=False), Moves(old, new, in_bytes=True)


def _begins_with_name(words: _Words) -> bool:
    """Whether a name stands at the very beginning, where the module as a whole is named, too."""
    first = words.tokens[0] if words.tokens else None
    return (
        first is not None and first.start == _BEGINNING and first.type == tokenize.NAME and not iskeyword(first.string)
    )


def _stands_alone(words: list[tokenize.TokenInfo], at: int) -> bool:
    """Whether a string is a whole statement by itself."""
    is_first = at == 0 or words[at - 1].type in _EMPTY
    return is_first and words[at + 1].type == tokenize.NEWLINE and _is_text(words[at])


def _is_text(token: tokenize.TokenInfo) -> bool:
    """Whether a token is a string without code in it."""
    return token.type == tokenize.STRING and "f" not in re.split(r"['\"]", token.string, maxsplit=1)[0].lower()
