"""Turns a file's text into HTML lines: colours from `lex`, links from the index's references at their exact columns.

A link is made only where the text at the reference's column really is the symbol's name: an implicit conversion, a
macro expansion or a wrong column must not underline something else. Where both apply, the index wins over the colours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, overload

from xref.model import Lang
from xref.site.lex import Token, tokens
from xref.site.sources import Text

ROOT = "\x00"
"""Stands in an address for the way back to the site's folder, which differs from page to page; see `with_root`."""

_TAGS = {
    "comment": ("<i>", "</i>"),
    "string": ("<u>", "</u>"),
    "keyword": ("<b>", "</b>"),
    "number": ("<var>", "</var>"),
    "preprocessor": ("<b>", "</b>"),
}
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MARKUP = re.compile("[&<>]")
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_WORD = re.compile(r"[^\W\d]\w*")
_INSIDE_WORD = re.compile(r"\w\w")
_OPERATOR = re.compile(r"operator\s*(\W+)$")
_RANK = {"definition": 0, "declaration": 1, "macro": 2, "type": 3, "call": 4}


class Mention(NamedTuple):
    """A reference as a source page needs it: where, in which role, the symbol's name and address.

    `local`: the address is a line of the same page.
    """

    line: int
    col: int
    role: str
    name: str
    address: str
    local: bool = False


class Link(NamedTuple):
    """A stretch of one line, 0-based, that leads to `address`."""

    start: int
    end: int
    address: str
    style: str


def escape(text: str) -> str:
    """`text` for an element, not an attribute; characters that hide or reorder others are written as `\\u202e`."""
    if _MARKUP.search(text):
        text = text.translate(_ESCAPES)
    if _HIDDEN.search(text):
        text = _HIDDEN.sub(_visible, text)
    return text


def _visible(match: re.Match[str]) -> str:
    return f"<mark class=ctl>\\u{ord(match[0]):04x}</mark>"


def with_root(html: str, root: str) -> str:
    """`html` for a page at depth `root`."""
    return html.replace(ROOT, root)


def find_links(text: Text, lang: str, mentions: Iterable[Mention]) -> list[Link]:
    """The links of a line, in order, none overlapping. Of references at one place the most telling one is linked."""
    in_bytes = lang == Lang.CPP
    best: dict[int, tuple[int, Link]] = {}
    for mention in mentions:
        start = text.offset(mention.line, mention.col, in_bytes=in_bytes)
        if start < 0:
            continue
        length = _length(text.rows[mention.line - 1], start, mention.name, lang)
        if not length:
            continue
        style = "v" if mention.local else "d" if mention.role == "definition" else ""
        rank = _RANK.get(mention.role, 5)
        known = best.get(start)
        if known is None or rank < known[0]:
            best[start] = rank, Link(start, start + length, mention.address, style)
    row: list[Link] = []
    for _, (_, link) in sorted(best.items()):
        if not row or row[-1].end <= link.start:
            row.append(link)
    return row


def _length(row: str, start: int, name: str, lang: str) -> int:
    """Characters at `start` that spell the symbol: its name, an operator, in Python also another name for it."""
    if row.startswith(name, start):
        end = start + len(name)
        return 0 if _INSIDE_WORD.match(row, end - 1) else len(name)
    operator = _OPERATOR.match(name)
    if operator:
        sign = operator[1].rstrip(")]")
        return len(sign) if row.startswith(sign, start) else 0
    word = _WORD.match(row, start) if lang != Lang.CPP else None
    return word.end() - start if word else 0


def find_strings(text: Text, strings: Iterable[tuple[int, str, str]]) -> Iterator[tuple[int, Link]]:
    """Line and link of quoted names, (line, name, address): a registration or a look-up may put it on the next line."""
    for line, name, address in strings:
        for at in (line, line + 1):
            row = text.rows[at - 1] if 0 < at <= len(text.rows) else ""
            start = next((row.find(quote + name + quote) for quote in "\"'" if quote + name + quote in row), -1)
            if start >= 0:
                yield at, Link(start + 1, start + 1 + len(name), address, "k")
                break


def add_link(row: list[Link], link: Link) -> None:
    """Add a link to those of its line, unless one is there already."""
    if all(other.end <= link.start or link.end <= other.start for other in row):
        row.append(link)
        row.sort()


class Lines(Sequence[str]):
    """The HTML of a file's lines, without line ends; addresses begin with `ROOT` unless they are local.

    A line is made when it is asked for: most pages show an excerpt, and after an edit few show the whole file.
    """

    def __init__(self, text: Text, lang: str, links_of: Callable[[int], Iterable[Link]]) -> None:
        """`links_of` gives the links of a line, counted from 1, in order."""
        self._text, self._lang, self._links_of = text, lang, links_of
        self._made: list[str | None] = [None] * len(text.rows)

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        made = self._made[at]
        if made is None:
            number = range(len(self))[at]
            links = self._links_of(number + 1)
            made = self._made[at] = "".join(_line(self._text.rows[number], self._tokens[number], links))
        return made

    @cached_property
    def _tokens(self) -> list[list[Token]]:
        """The tokens of each line, with places in the line; a comment or a string may go on over several."""
        pending = iter(tokens("\n".join(self._text.rows), self._lang))
        token = next(pending, None)
        result = []
        begin = 0
        for row in self._text.rows:
            end = begin + len(row)
            inside: list[Token] = []
            while token is not None and token.start < end:
                inside.append(Token(max(token.start - begin, 0), min(token.end, end) - begin, token.kind))
                if token.end > end:
                    break
                token = next(pending, None)
            while token is not None and token.end <= end + 1:
                token = next(pending, None)
            result.append(inside)
            begin = end + 1
        return result


def render_lines(text: Text, lang: str, links: dict[int, list[Link]]) -> Lines:
    """The HTML of each line; `links` are those of each line, counted from 1, in order."""
    return Lines(text, lang, lambda line: links.get(line, ()))


def _line(row: str, inside: list[Token], links: Iterable[Link]) -> Iterator[str]:
    position = 0
    coloured = iter(inside)
    token = next(coloured, None)
    for link in links:
        while token is not None and token.start < link.start:
            yield escape(row[position : token.start])
            stop = min(token.end, link.start)
            yield _coloured(row[max(token.start, position) : stop], token.kind)
            position = stop
            token = Token(link.end, token.end, token.kind) if token.end > link.end else next(coloured, None)
        yield escape(row[position : link.start])
        yield _anchor(row[link.start : link.end], link)
        position = link.end
        while token is not None and token.end <= position:
            token = next(coloured, None)
        if token is not None and token.start < position:
            token = Token(position, token.end, token.kind)
    while token is not None:
        yield escape(row[position : token.start])
        yield _coloured(row[token.start : token.end], token.kind)
        position = token.end
        token = next(coloured, None)
    yield escape(row[position:])


def _coloured(text: str, kind: str) -> str:
    if not text:
        return ""
    opening, closing = _TAGS[kind]
    return f"{opening}{escape(text)}{closing}"


def _anchor(text: str, link: Link) -> str:
    root = "" if link.style == "v" else ROOT
    style = f" class={link.style}" if link.style not in ("", "v") else ""
    return f"<a{style} href={root}{link.address}>{escape(text)}</a>"


def some_rows(lines: Sequence[str], numbers: Sequence[int], first: int = 1) -> str:
    """Some of the rendered lines of a file, by number; where lines are left out the count goes on behind them.

    `first` is the number of the first of `lines`.
    """
    parts, before = [], numbers[0] - 1 if numbers else 0
    for number in numbers:
        jump = "" if number == before + 1 else f' style="counter-set:l {number}"'
        parts.append(f"<span{jump}>{lines[number - first]}</span>")
        before = number
    return "".join(parts)
