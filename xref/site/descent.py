"""All that derives from a class or overrides a method, at any distance, as the list that its page shows.

A class stands below the one that it derives from, indented; where several ways lead to it, below each, and what derives
from it only below the first. A list that is too long for the symbol's page goes on, whole, on further pages.
"""

from __future__ import annotations

from typing import NamedTuple

from xref.model import Id
from xref.site.calls import FIRST_ROWS, MORE_ROWS, Further, further
from xref.site.hierarchy import steps
from xref.site.links import Linker, SymbolLink

_LISTS = {"base": ("Derived classes", "class", "derived"), "overrides": ("Overridden by", "method", "overriders")}
"""Relation -> heading, what the list has, part of the address of its further pages."""


class Row(NamedTuple):
    """A step of `hierarchy.steps`, as a page shows it."""

    symbol: SymbolLink
    depth: int
    again: bool


class Descent(NamedTuple):
    """The list. `total` counts symbols, `direct` those of the first depth, `length` the rows on all `pages`."""

    kind: str
    heading: str
    noun: str
    part: str
    total: int
    direct: int
    length: int
    pages: list[list[Row]]
    further: list[Further]

    @property
    def rows(self) -> list[Row]:
        """Those of the symbol's own page."""
        return self.pages[0]


def descents(linker: Linker, id_: Id, code: str) -> list[Descent]:
    """The lists of a symbol that has something below it that is not directly below it."""
    result = []
    for kind, (heading, noun, part) in _LISTS.items():
        downs = linker.plan.downs[kind]
        if not any(inner in downs for inner in downs.get(id_, ())):
            continue
        found = steps(downs, id_)
        rows = [Row(linker.symbol(step.id), step.depth, step.again) for step in found]
        pages = [rows[:FIRST_ROWS]]
        pages += [rows[at : at + MORE_ROWS] for at in range(FIRST_ROWS, len(rows), MORE_ROWS)]
        total = len({step.id for step in found} - {id_})
        result.append(
            Descent(kind, heading, noun, part, total, len(downs[id_]), len(rows), pages,
                    further(code, part, [len(page) for page in pages]))
        )  # fmt: skip
    return result
