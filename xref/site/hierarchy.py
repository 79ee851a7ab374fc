"""What derives from a class or overrides a method, at any distance: the index tells it one step at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from xref.model import Id
from xref.site.names import Name

KINDS = ("base", "overrides")
"""The relations that are followed."""


class Step(NamedTuple):
    """A symbol below another, by `depth` relations from 0; `again`: what is below it stood in the list before."""

    id: Id
    depth: int
    again: bool


def load_downs(db: sqlite3.Connection, names: Mapping[Id, Name]) -> dict[str, dict[Id, list[Id]]]:
    """Relation -> symbol -> what is directly below it, by name."""
    result: dict[str, dict[Id, list[Id]]] = {kind: {} for kind in KINDS}
    marks = ", ".join("?" * len(KINDS))
    for kind, below, above in db.execute(
        f"SELECT DISTINCT kind, from_id, to_id FROM relations WHERE kind IN ({marks})", KINDS
    ):
        if below in names:
            result[kind].setdefault(above, []).append(below)
    for downs in result.values():
        for found in downs.values():
            found.sort(key=lambda id_: (names[id_].qualname, names[id_].file, names[id_].line, id_))
    return result


def deep(downs: Mapping[Id, Sequence[Id]]) -> Iterator[Id]:
    """The symbols below which something stands that is not directly below them."""
    return (id_ for id_, found in downs.items() if any(inner in downs for inner in found))


def steps(downs: Mapping[Id, Sequence[Id]], top: Id) -> list[Step]:
    """All that is below `top`, each below what it is directly below; cycles, which no language has, end."""
    result: list[Step] = []
    seen = {top}
    pending = [(id_, 0) for id_ in reversed(downs.get(top, ()))]
    while pending:
        id_, depth = pending.pop()
        inner = downs.get(id_, ())
        result.append(Step(id_, depth, bool(inner) and id_ in seen))
        if id_ not in seen:
            seen.add(id_)
            pending += [(below, depth + 1) for below in reversed(inner)]
    return result
