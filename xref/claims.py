"""Decides which of several files' words on one symbol become its row; the same whatever order they come in."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from xref.model import Id, Lang, Symbol, symbol_id


class Claim(NamedTuple):
    """What one place says of a symbol. `path` and `file_id` are the file's, "" and None for one that only uses it."""

    path: str
    file_id: int | None
    lang: Lang
    symbol: Symbol

    @property
    def rank(self) -> int:
        """A definition comes before a declaration, a declaration before a mere use."""
        if self.file_id is None:
            return 0
        return 2 if self.symbol.is_definition else 1


def merged(claims: Iterable[Claim]) -> Claim:
    """The best claim: of the highest rank the first in path and line order, with the first documentation there is."""
    ordered = sorted(claims, key=lambda c: (-c.rank, c.path, c.symbol.line, c.symbol.col, str(c.symbol)))
    best = ordered[0]
    if not best.symbol.doc:
        doc = next((claim.symbol.doc for claim in ordered if claim.symbol.doc), "")
        if doc:
            return best._replace(symbol=best.symbol._replace(doc=doc))
    return best


def symbol_identity(symbol: Symbol) -> Id:
    """The id of `symbol`, from its key."""
    return symbol_id(symbol.key)


def file_id(path: str, taken: Collection[int]) -> int:
    """An id of 31 bits from the path itself, so that a file keeps it whatever other files come and go.

    When its number is taken, which is rare, the next free one.
    """
    number = symbol_id(f"file:{path}") >> 32
    while number in taken or not number:
        number = (number + 1) & 0x7FFFFFFF
    return number
