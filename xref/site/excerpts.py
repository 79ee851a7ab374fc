"""Which lines of a definition an excerpt shows: never half a signature, and no docstring, which stands beside it."""

from __future__ import annotations

from collections.abc import Sequence

from xref.model import Lang
from xref.site.lex import tokens

_MORE = 24
"""Lines that an excerpt may be longer than asked for, so that what began in its last line ends."""
_SHORT = 2
"""Lines of a docstring that is shown all the same: leaving it out would tell no more."""


def shown_lines(rows: Sequence[str], lang: str, first: int, last: int, count: int, *, head: bool = True) -> list[int]:
    """The numbers of about `count` lines, the first of `first` to `last`, counted from 1, without a long docstring.

    It goes on where a bracket, a comment or a string is open; with `head`, where a function's body has not begun.
    """
    part = rows[first - 1 : last]
    closed, docstring = _states(part, lang)
    body = _body(part, lang) if head else 0
    skipped = range(*docstring) if head and docstring[1] - docstring[0] > _SHORT else range(0)
    shown: list[int] = []
    for at in range(len(part)):
        if at in skipped:
            continue
        if len(shown) >= count and (len(shown) >= count + _MORE or (closed[at - 1] and at > body)):
            break
        shown.append(first + at)
    return shown


def _states(rows: Sequence[str], lang: str) -> tuple[list[bool], tuple[int, int]]:
    """Of each line whether all that it begins has ended at its end, and the lines of a docstring, from and to."""
    text = "\n".join(rows)
    open_until = []  # characters that stand in comments and strings
    docstring = (0, 0)
    code = list(text)
    for token in tokens(text, lang):
        if token.kind in ("comment", "string"):
            if lang != Lang.CPP and docstring == (0, 0) and token.kind == "string" and _begins_body(text, token.start):
                docstring = text.count("\n", 0, token.start), text.count("\n", 0, token.end) + 1
            open_until.append((token.start, token.end))
            code[token.start : token.end] = [char if char == "\n" else " " for char in text[token.start : token.end]]
    closed, depth, end = [], 0, 0
    inside = iter(open_until)
    span = next(inside, None)
    for row in "".join(code).split("\n"):
        depth += sum(char in "([" for char in row) - sum(char in ")]" for char in row)
        end += len(row) + 1
        while span is not None and span[1] < end:
            span = next(inside, None)
        closed.append(depth <= 0 and not (span is not None and span[0] < end - 1 < span[1]))
    return closed, docstring


def _begins_body(text: str, at: int) -> bool:
    """Whether the first statement of a body stands at a place of a Python definition."""
    before = text[:at].rstrip()
    return before.endswith(":") and "\n" in text[len(before) : at] and before.lstrip().startswith(_HEADS)


_HEADS = ("def ", "class ", "async ", "cdef ", "cpdef ", "@")


def _body(rows: Sequence[str], lang: str) -> int:
    """The line, from 0, in which the body of a C++ definition begins, or that ends a declaration."""
    if lang != Lang.CPP:
        return 0
    return next((at for at, row in enumerate(rows[:_MORE]) if "{" in row or ";" in row or row.startswith("#")), 0)
