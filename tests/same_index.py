"""Compares two indexes view by view: an index that was brought up to date must not differ from a new one."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from xref.store import open_index

VIEWS = (
    "meta", "files", "symbols", "locations", "relations", "includes", "refs", "calls", "unresolved", "keys", "key_defs",
    "key_uses", "key_relations", "runs", "observed_calls", "passes_run", "unmatched",
)  # fmt: skip
OF_THE_RUN = ("indexed_at", "seconds")
"""Facts about the run that made an index, not about the tree."""


def _rows(db: sqlite3.Connection, view: str) -> Counter[tuple[object, ...]]:
    rows = Counter(db.execute(f"SELECT * FROM {view}"))
    return Counter({row: n for row, n in rows.items() if view != "meta" or row[0] not in OF_THE_RUN})


def differences(updated: Path, fresh: Path) -> dict[str, tuple[list[object], list[object]]]:
    """View -> (rows that only `updated` has, rows that only `fresh` has), for each view that differs; the names that
    questions are completed from are compared as the view `names`."""
    found: dict[str, tuple[list[object], list[object]]] = {}
    with closing(open_index(updated)) as left, closing(open_index(fresh)) as right:
        for view in VIEWS:
            ours, theirs = _rows(left, view), _rows(right, view)
            if ours != theirs:
                found[view] = (list((ours - theirs).elements()), list((theirs - ours).elements()))
        ours, theirs = _names(left), _names(right)
        if ours != theirs:
            found["names"] = (list((ours - theirs).elements()), list((theirs - ours).elements()))
    return found


def _names(db: sqlite3.Connection) -> Counter[tuple[object, ...]]:
    """What the table of names holds: (three letters, symbol)."""
    db.execute("CREATE VIRTUAL TABLE temp.held USING fts5vocab(main, 'name_trigram', 'instance')")
    return Counter(db.execute("SELECT term, doc FROM held"))
