"""Brings a finished index up to date: a copy of it in which the facts of some files are replaced, swapped in whole.

The rows of a file are found by its id. A symbol's row is the best of what all files say of it (`claim`), and is found
again when one of them says something else; what nothing declares or uses any more goes. The result holds the rows that
a new index would.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from fcntl import ioctl
from pathlib import Path
from typing import Any

from xref.claims import Claim, merged
from xref.model import Id, Lang, Symbol
from xref.store import SEARCHED_NAMES, IndexBuilder, check_key, drop_unused, insert_claims, place_undeclared

_NOT_OF_A_FILE = ("symbol", "observed_call")
"""Of the tables with a `file_id` those whose rows do not go with the file."""
_GONE = {"call": "gone_call", "unresolved_call": "gone_unresolved", "flow": "gone_flow"}
"""Of these tables the rows of Python files that were forgotten stay in temporary ones, for the step `flow`."""
_FICLONE = 0x40049409
"""Linux's ioctl that makes a file share another's blocks (man 2 ioctl_ficlone): btrfs, XFS, bcachefs."""
_CLAIM = "lang, kind, name, qualname, line, col, end_line, signature, doc, parent_id, is_definition, linkage, access"
_LINE, _SIGNATURE, _PARENT, _LINKAGE = 4, 7, 9, 11


class IndexUpdater(IndexBuilder):
    """Like `IndexBuilder`, but starts from the index at `path`, which must be one.

    `add_file` may announce a file that is known: its facts are then gone, as those of `remove_file`. Facts are to be
    added only for announced files.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.touched: set[int] = set()
        """Ids of the files that were announced or removed."""
        self._orphans: set[Id] = set()
        """Symbols that a touched file declared."""
        self._noted: set[str] = set()
        self._named: dict[str, Id] = {}
        """Of the noted names: the symbol that the table of names had for each, where it had one."""

    def _prepare(self) -> None:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            db.execute("BEGIN")  # rolls back what a killed process left half done, and keeps others from writing
            db.execute("SELECT count(*) FROM meta").fetchone()
            copy_file(self.path, self._partial)

    def _begin(self) -> None:
        self.db.execute("BEGIN")
        self._file_ids = dict(self.db.execute("SELECT path, id FROM file"))
        self._taken = set(self._file_ids.values())
        self._tables = [
            table
            for (table,) in self.db.execute(
                "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c"
                " WHERE m.type = 'table' AND c.name = 'file_id' ORDER BY m.name"
            )
            if table not in _NOT_OF_A_FILE
        ]
        """The tables whose rows are facts of a file, or follow from such."""
        for table, gone in _GONE.items():
            self.db.execute(f"CREATE TEMP TABLE {gone} AS SELECT * FROM main.{table} WHERE 0")
            self.db.execute(f"CREATE INDEX temp.{gone}_by_file ON {gone}(file_id)")

    def add_file(self, path: str, lang: Lang, sha256: str, size: int, mtime_ns: int, guard: str = "") -> None:
        known = self._file_ids.get(path)
        if known is None:
            super().add_file(path, lang, sha256, size, mtime_ns, guard)
        else:
            self._forget(known)
            with self.writing() as db:
                db.execute(
                    "UPDATE file SET lang = ?, lines = 0, sha256 = ?, size = ?, mtime_ns = ?, guard = ?,"
                    " status = 'failed', detail = 'no facts arrived' WHERE id = ?",
                    (lang, sha256, size, mtime_ns, guard, known),
                )
        self.touched.add(self._file_ids[path])

    def keep_file(self, path: str, size: int, mtime_ns: int, guard: str) -> None:
        """A file with the same content and facts, whose other properties may have changed."""
        with self.writing() as db:
            db.execute(
                "UPDATE file SET size = ?, mtime_ns = ?, guard = ? WHERE id = ?",
                (size, mtime_ns, guard, self._file_ids[path]),
            )

    def remove_file(self, path: str) -> None:
        """Forget the file."""
        known = self._file_ids.pop(path)
        self._taken.discard(known)
        self._forget(known)
        with self.writing() as db:
            db.execute("DELETE FROM file WHERE id = ?", (known,))
        self.touched.add(known)

    def _forget(self, number: int) -> None:
        with self.writing() as db:
            declared = db.execute("SELECT symbol_id FROM location WHERE file_id = ?", (number,))
            self._orphans.update(id_ for (id_,) in declared)
            (lang,) = db.execute("SELECT lang FROM file WHERE id = ?", (number,)).fetchone()
            for table, gone in _GONE.items() if lang == Lang.PYTHON else ():
                db.execute(f"INSERT INTO temp.{gone} SELECT * FROM main.{table} WHERE file_id = ?", (number,))
            for table in self._tables:
                db.execute(f"DELETE FROM {table} WHERE file_id = ?", (number,))

    def flush_symbols(self) -> None:
        """Find the best row again of every symbol that a touched file declares, declared or names."""
        self._paths = {number: path for path, number in self._file_ids.items()}
        with self.writing() as db:
            changed = list(self._orphans | self._claims.keys())
            rows = [(id_, self._settle(db, id_)) for id_ in changed]
            known = self._select(db, "SELECT name FROM symbol WHERE id IN", changed)
            self._note_names(db, {name for (name,) in known} | {claim.symbol.name for _, claim in rows})
            self._insert_symbols(db, rows)
            self._drop(drop_unused(db, before_linking=True))
            place_undeclared(db)

    def _settle(self, db: sqlite3.Connection, id_: Id) -> Claim:
        """What the symbol's row must say now; keeps all claims when several places declare it."""
        row = db.execute(f"SELECT {_CLAIM}, file_id, key FROM symbol WHERE id = ?", (id_,)).fetchone()
        new = self._claims.get(id_, [])
        key = row[-1] if row is not None else new[0].symbol.key
        if new:
            check_key(id_, key, new[0].symbol.key)
        kept = db.execute(f"SELECT {_CLAIM}, file_id FROM claim WHERE symbol_id = ?", (id_,)).fetchall()
        if not kept and row is not None and row[_LINE] and row[-2] not in self.touched:
            kept = [row[:-1]]
        declared = [self._as_claim(key, values) for values in kept] + [c for c in new if c.file_id is not None]
        db.execute("DELETE FROM claim WHERE symbol_id = ?", (id_,))
        if len(declared) > 1:
            insert_claims(db, ((id_, claim) for claim in declared))
        if declared:
            return merged(declared)
        named = [self._as_external(key, row)] if row is not None and not (new and row[_LINE]) else []
        return merged([*new, *named])

    def _as_claim(self, key: str, row: tuple[Any, ...]) -> Claim:
        lang, *fields, number = row
        kind, name, qualname, line, col, end_line, signature, doc, parent, is_definition, linkage, access = fields
        symbol = Symbol(key, kind, name, qualname, line, col, end_line, signature, doc, parent, bool(is_definition),
                        linkage, access)  # fmt: skip
        return Claim(self._paths[number], number, Lang(lang), symbol)

    def _as_external(self, key: str, row: tuple[Any, ...]) -> Claim:
        """The row of a symbol that no file declares any more, or never did.

        A use in C++ says as much as a declaration of what encloses the symbol and how it is linked; one in Python does
        not.
        """
        lang, kind, name, qualname = row[:4]
        enclosed = lang == Lang.CPP
        symbol = Symbol(
            key,
            kind,
            name,
            qualname,
            0,
            0,
            0,
            "" if row[_LINE] else row[_SIGNATURE],  # of what the compiler declares
            parent=row[_PARENT] if enclosed else None,
            is_definition=False,
            linkage=row[_LINKAGE] if enclosed else "",
        )
        return Claim("", None, Lang(lang), symbol)

    def _note_names(self, db: sqlite3.Connection, names: set[str]) -> None:
        """Remember where the table of names points before rows change."""
        ask = f"{SEARCHED_NAMES} AND name IN"
        self._named.update((name, id_) for id_, name in self._select(db, ask, sorted(names), " GROUP BY name"))
        self._noted |= names

    @staticmethod
    def _select(db: sqlite3.Connection, ask: str, values: list[Any], tail: str = "") -> list[tuple[Any, ...]]:
        return db.execute(f"{ask} (SELECT value FROM json_each(?)){tail}", (json.dumps(values),)).fetchall()

    def publish(self) -> None:
        """Drop what nothing uses any more, and put the index in the place of the old one."""
        with self.writing() as db:
            self._drop(drop_unused(db))
            self._rename(db)
            db.execute("COMMIT")
            self._swap_in(db)

    def _drop(self, dropped: list[tuple[Id, str]]) -> None:
        """Remember where the table of names pointed before these symbols went."""
        late = {name for _, name in dropped} - self._noted
        self._note_names(self.db, late)
        for id_, name in dropped:
            if name in late:
                self._named[name] = min(id_, self._named.get(name, id_))

    def _rename(self, db: sqlite3.Connection) -> None:
        """Bring the table of names up to date. It keeps no text, so that a row goes by saying what it was."""
        ask = f"{SEARCHED_NAMES} AND name IN"
        now = {name: id_ for id_, name in self._select(db, ask, sorted(self._noted), " GROUP BY name")}
        gone = [(id_, name) for name, id_ in self._named.items() if now.get(name) != id_]
        made = [(id_, name) for name, id_ in now.items() if self._named.get(name) != id_]
        db.executemany("INSERT INTO name_trigram(name_trigram, rowid, name) VALUES ('delete', ?, ?)", gone)
        db.executemany("INSERT INTO name_trigram(rowid, name) VALUES (?, ?)", made)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file as cheaply as the file system can: sharing its blocks, else inside the kernel, else by reading."""
    with source.open("rb") as old, target.open("wb") as new:
        with suppress(OSError):
            ioctl(new.fileno(), _FICLONE, old.fileno())
            return
        with suppress(OSError, AttributeError):
            left = os.fstat(old.fileno()).st_size
            while left and (copied := os.copy_file_range(old.fileno(), new.fileno(), left)):
                left -= copied
            if not left:
                return
        old.seek(0)
        new.seek(0)
        new.truncate()
        shutil.copyfileobj(old, new)
