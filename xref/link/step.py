"""The frame of a derivation step: what it is given, where its rows go, and how they are told from facts.

A fact belongs to the file that it was read from and goes when that file is read again. A derived row follows from facts
of several files, and from what earlier steps derived. Its `step` column names the step that made it ("" marks a fact),
so that it can be made again without touching a fact. A step therefore

- reads facts and earlier steps' rows only, and depends on nothing else: neither on row ids nor on the order of rows;
- writes through `Derived`, and changes no fact (apart from what is derived of a use of a key: its `status`, and its
  name where it has candidates);
- takes at most 0.1 s on the whole of TVM, or is `scoped`: given the touched files, it removes and derives again what
  they may have changed, whatever they held before.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from xref.model import Evidence, Id, Lang, Symbol, UseStatus, symbol_id

CallRow = tuple[Id, Id, Evidence, int, int, int, str]
"""caller, callee, evidence, file id, line, column, via: as in the table `call`."""
UnresolvedRow = tuple[int, int, int, Id | None, str, str]
"""file id, line, column, enclosing symbol, text, reason: as in the table `unresolved_call`."""
KeyUseRow = tuple[str, str, str, int, int, int, Id | None, Evidence]
"""registry, name, side, file id, line, column, enclosing symbol, evidence: as in the table `key_use`."""

KeyDefRow = tuple[str, str, str, int, int, str]
"""registry, name, side, file id, line, note: as in the table `key_def`, of a key that runs nothing itself."""

_TABLES = ("call", "unresolved_call", "relation", "key_relation", "key_use", "key_def")


@dataclass(frozen=True)
class Touched:
    """What an incremental run read again: `files` are the ids of files whose facts were replaced, new ones included.

    All rows of these files, derived ones included, have gone before the first step; so have the rows of deleted files.
    What of Python files has gone from the tables `call`, `unresolved_call` and `flow` is in `temp.gone_call`,
    `temp.gone_unresolved` and `temp.gone_flow`.
    """

    files: frozenset[int]


class Derived:
    """Where the step called `step` puts its rows. `db` is for reading."""

    def __init__(self, db: sqlite3.Connection, step: str) -> None:
        self.db = db
        self.step = step
        self._before: dict[CallRow, list[int]] | None = None

    def clear(self) -> None:
        """Remove all rows of the step."""
        self._remove(_TABLES)

    def compare(self) -> None:
        """Like `clear`, but calls that are derived again stay; `finish` removes the others."""
        self._before = defaultdict(list)
        for number, *row in self.db.execute(
            "SELECT rowid, caller_id, callee_id, evidence, file_id, line, col, via FROM call WHERE step = ?"
            " AND step <> ''",
            (self.step,),
        ):
            self._before[tuple(row)].append(number)
        self._remove(table for table in _TABLES if table != "call")

    def _remove(self, tables: Iterable[str]) -> None:
        for table in tables:
            self.db.execute(f"DELETE FROM {table} WHERE step = ? AND step <> ''", (self.step,))

    def finish(self) -> None:
        """Remove the calls of before that were not derived again."""
        gone = [(number,) for numbers in (self._before or {}).values() for number in numbers]
        self.db.executemany("DELETE FROM call WHERE rowid = ?", gone)
        self._before = None

    def _not_known(self, rows: Iterable[CallRow]) -> Iterator[CallRow]:
        assert self._before is not None
        for row in rows:
            known = self._before.get(row)
            if not known:
                yield row
            elif len(known) > 1:
                known.pop()
            else:
                del self._before[row]

    def calls(self, rows: Iterable[CallRow]) -> None:
        """Add call edges."""
        if self._before is not None:
            rows = list(self._not_known(rows))
        self.db.executemany(
            "INSERT INTO call(caller_id, callee_id, evidence, file_id, line, col, via, step)"
            f" VALUES (?, ?, ?, ?, ?, ?, ?, '{self.step}')",
            rows,
        )

    def externals(self, lang: Lang, symbols: Iterable[Symbol]) -> None:
        """Add symbols without a place that the step's rows name, in the files of their classes; known ones stay."""
        self.db.executemany(
            "INSERT OR IGNORE INTO symbol(id, key, lang, kind, name, qualname, line, col, end_line, signature, doc,"
            " parent_id, is_definition, linkage, access, file_id)"
            " VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, ?, '', ?, 0, ?, '',"
            " (SELECT p.file_id FROM symbol p WHERE p.id = ? AND p.line > 0))",
            (
                (symbol_id(s.key), s.key, lang, s.kind, s.name, s.qualname, s.signature, s.parent, s.linkage, s.parent)
                for s in symbols
            ),
        )

    def unresolved(self, rows: Iterable[UnresolvedRow]) -> None:
        """Add sites that a rule cuts, with the reason."""
        self.db.executemany(
            "INSERT INTO unresolved_call(file_id, line, col, in_symbol_id, text, reason, step)"
            f" VALUES (?, ?, ?, ?, ?, ?, '{self.step}')",
            rows,
        )

    def relations(self, rows: Iterable[tuple[Id, str, Id]]) -> None:
        """Add (from, kind, to); one that is known already is left alone."""
        self.db.executemany(
            f"INSERT OR IGNORE INTO relation(from_id, kind, to_id, file_id, step) VALUES (?, ?, ?, 0, '{self.step}')",
            rows,
        )

    def key_uses(self, rows: Iterable[KeyUseRow]) -> None:
        """Add uses of keys that are defined."""
        self.db.executemany(
            "INSERT INTO key_use(registry, name, side, file_id, line, col, in_symbol_id, calls, optional, status,"
            f" evidence, step) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, '{UseStatus.RESOLVED}', ?, '{self.step}')",
            rows,
        )

    def key_definitions(self, rows: Iterable[KeyDefRow]) -> None:
        """Add definitions of keys."""
        self.db.executemany(
            "INSERT INTO key_def(registry, name, side, file_id, line, symbol_id, guard, note, step)"
            f" VALUES (?, ?, ?, ?, ?, NULL, '', ?, '{self.step}')",
            rows,
        )

    def key_relations(self, rows: Iterable[tuple[str, str, str, str]]) -> None:
        """Add (registry, name, kind, other)."""
        self.db.executemany(
            f"INSERT INTO key_relation(registry, name, kind, other, step) VALUES (?, ?, ?, ?, '{self.step}')",
            rows,
        )


@dataclass(frozen=True)
class Step:
    """`derive(derived, touched)` makes the rows of the step called `name`.

    A step that is not `scoped` is always given None, and derives everything, on a clean slate. But the calls of one
    that is `compared` stay where it derives them again, which saves writing them: it reads no call that it derives.
    """

    name: str
    derive: Callable[[Derived, Touched | None], None]
    scoped: bool = False
    compared: bool = False
