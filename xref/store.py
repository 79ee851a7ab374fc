"""The one place that writes SQL rows: builds an index beside the old one and swaps it in whole, or not at all.

`IndexBuilder` takes file facts in any order and keeps the best row of each symbol; `open_index` hands out a read-only
connection to a finished index and refuses anything else with a message that says what to do. Public views: docs/sql.md.
"""

from __future__ import annotations

import glob
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import TypeVar

from xref.claims import Claim, file_id, merged, symbol_identity
from xref.locking import disk_errors, exclusive
from xref.model import ExitCode, FileFacts, Id, Lang, Status, UseStatus, XrefError

SCHEMA_VERSION = 2
"""PRAGMA user_version of an index. Raised whenever a public view changes; there is no migration: index again."""

FORMAT = "7"
"""The form of the inner tables, which are no contract: an index of another form answers questions still, but is made
again as a whole instead of being brought up to date."""

_CACHE_KIB = 128 * 1024
"""Pages that the writer holds, beside every claim on a symbol and what the last steps make of the whole tree."""
_PRAGMAS = (
    "page_size = 8192", "journal_mode = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KIB}",
    "temp_store = MEMORY", "locking_mode = EXCLUSIVE",
)  # fmt: skip
"""For a file that nobody else opens, and that is thrown away when anything goes wrong."""
SEARCHED_NAMES = "SELECT min(id), name FROM symbol WHERE kind NOT IN ('local', 'parameter')"
"""The names that questions are completed and corrected from, each once."""
_USES_OF_SYMBOLS = (("location", "symbol_id"), ("ref", "symbol_id"), ("symbol", "parent_id"), ("part", "callee_id"))
_DERIVED_USES_OF_SYMBOLS = (
    ("call", "callee_id"), ("call", "caller_id"), ("relation", "from_id"), ("relation", "to_id"),
    ("key_def", "symbol_id"), ("key_use", "in_symbol_id"), ("unresolved_call", "in_symbol_id"),
)  # fmt: skip
"""In tables whose rows may be a step's."""
_Row = TypeVar("_Row")


def open_index(path: Path) -> sqlite3.Connection:
    """A read-only connection to the index at `path`.

    Raises `XrefError` (exit code 3) when there is none, when it is no xref index, or has another schema.
    """
    if not path.exists():
        raise XrefError(f"no index at {path}: run `xref index PATH --db {path}` first", ExitCode.NO_INDEX)
    try:
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        version = db.execute("PRAGMA user_version").fetchone()[0]
        is_index = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'symbol'").fetchone()[0]
    except sqlite3.Error as error:
        raise XrefError(
            f"{path} is not an xref index ({error}): remove it, or name another --db", ExitCode.NO_INDEX
        ) from error
    if not is_index:
        db.close()
        raise XrefError(f"{path} is a database, but not an xref index: name another --db", ExitCode.NO_INDEX)
    if version != SCHEMA_VERSION:
        db.close()
        age = "newer" if version > SCHEMA_VERSION else "older"
        remedy = "upgrade xref" if version > SCHEMA_VERSION else "run `xref index` again"
        raise XrefError(
            f"{path} has the {age} schema {version}, this xref reads {SCHEMA_VERSION}: {remedy}", ExitCode.NO_INDEX
        )
    return db


def read_meta(db: sqlite3.Connection) -> dict[str, str]:
    """The index's facts about itself: see `meta` in docs/sql.md."""
    return dict(db.execute("SELECT key, value FROM meta"))


class IndexBuilder:
    """A new index, invisible until `publish`. Use as a context manager: leaving without `publish` removes every trace.

    Holds the lock of `path`; see `exclusive`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
        self._published = False
        self._file_ids: dict[str, int] = {}
        self._taken: set[int] = set()
        self._claims: dict[Id, list[Claim]] = {}

    def __enter__(self) -> IndexBuilder:
        self._lock = exclusive(self.path)
        self._lock.__enter__()
        try:
            with disk_errors(self.path):
                self._remove_stale()
                self._prepare()
                self.db = sqlite3.connect(self._partial, isolation_level=None)
                for pragma in _PRAGMAS:
                    self.db.execute(f"PRAGMA {pragma}")
                self._begin()
        except BaseException:
            self._discard()
            self._lock.__exit__(None, None, None)
            raise
        return self

    def _prepare(self) -> None:
        """Make the file at `_partial`, where the new index does not start from nothing."""

    def _begin(self) -> None:
        self.db.executescript(_sql("schema.sql"))
        self.db.execute("BEGIN")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if not self._published:
                self._discard()
        finally:
            self._lock.__exit__(None, None, None)

    def _remove_stale(self) -> None:
        """What indexers left behind that were killed: the lock says that none is at work."""
        for left in self.path.parent.glob(f"{glob.escape(self.path.name)}.*.partial*"):
            left.unlink(missing_ok=True)

    def _discard(self) -> None:
        with suppress(AttributeError, sqlite3.Error):
            self.db.close()
        self._partial.unlink(missing_ok=True)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The connection, with disk errors turned into `XrefError`."""
        with disk_errors(self.path):
            yield self.db

    def add_file(self, path: str, lang: Lang, sha256: str, size: int, mtime_ns: int, guard: str = "") -> None:
        """Announce a file of the tree; until facts arrive it counts as failed, so that no file is lost silently.

        Announce files in the order of their paths: of two whose paths have one hash, the later gets the next number.
        """
        self._file_ids[path] = file_id(path, self._taken)
        self._taken.add(self._file_ids[path])
        with self.writing() as db:
            db.execute(
                "INSERT INTO file(id, path, lang, lines, sha256, size, mtime_ns, status, detail, guard)"
                " VALUES (?, ?, ?, 0, ?, ?, ?, 'failed', 'no facts arrived', ?)",
                (self._file_ids[path], path, lang, sha256, size, mtime_ns, guard),
            )

    def set_status(self, path: str, status: Status, detail: str, lines: int) -> None:
        """State how far `path` could be read."""
        with self.writing() as db:
            db.execute(
                "UPDATE file SET status = ?, detail = ?, lines = max(lines, ?) WHERE id = ?",
                (status, detail, lines, self._file_ids[path]),
            )

    def knows_file(self, path: str) -> bool:
        """Whether `path` was announced."""
        return path in self._file_ids

    def add_facts(self, facts: FileFacts) -> None:
        """Store what one file yields; its status is set by `set_status`. The file must be announced."""
        owner = self._file_ids[facts.path]
        for symbol in facts.symbols:
            self._claim(Claim(facts.path, owner, facts.lang, symbol))
        # What Cython and Python both use is Python, whichever file comes first.
        foreign = Lang.PYTHON if facts.lang is Lang.CYTHON else facts.lang
        for symbol in facts.externals:
            self._claim(Claim("", None, foreign, symbol._replace(is_definition=False)))
        with self.writing() as db:
            db.executemany(
                "INSERT INTO location VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (
                        symbol_identity(s),
                        "definition" if s.is_definition else "declaration",
                        owner,
                        s.line,
                        s.col,
                        s.end_line,
                    )
                    for s in facts.symbols
                ),
            )
            db.executemany(
                "INSERT INTO ref VALUES (?, ?, ?, ?, ?, ?)",
                ((r.symbol, owner, r.line, r.col, r.role, r.within) for r in facts.refs),
            )
            db.executemany(
                "INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?, '')",
                ((c.caller, c.callee, c.evidence, owner, c.line, c.col, c.via) for c in facts.calls),
            )
            db.executemany(
                "INSERT INTO unresolved_call VALUES (?, ?, ?, ?, ?, ?, '')", ((owner, *u) for u in facts.unresolved)
            )
            db.executemany(
                "INSERT INTO dependent_call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", ((owner, *d) for d in facts.dependent)
            )
            db.executemany("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ((owner, *p) for p in facts.parts))
            db.executemany("INSERT INTO instance VALUES (?, ?, ?, ?, ?, ?, ?)", ((owner, *i) for i in facts.instances))
            db.executemany("INSERT INTO virtual_method VALUES (?, ?)", ((owner, id_) for id_ in facts.virtual_methods))
            db.executemany(
                "INSERT OR IGNORE INTO relation VALUES (?, ?, ?, ?, '')", ((*r, owner) for r in facts.relations)
            )
            db.executemany("INSERT INTO include VALUES (?, ?, ?)", ((owner, *i) for i in facts.includes))
            if facts.flow:
                db.execute("INSERT OR REPLACE INTO flow VALUES (?, ?)", (owner, facts.flow))
            if facts.kept:
                db.execute("INSERT OR REPLACE INTO kept_python VALUES (?, ?)", (owner, facts.kept))
            db.executemany(
                "INSERT INTO key_def VALUES (?, ?, ?, ?, ?, ?, ?, ?, '')",
                ((k.registry, k.name, k.side, owner, k.line, k.symbol, k.guard, k.note) for k in facts.key_defs),
            )
            db.executemany(
                "INSERT INTO key_use VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'direct', '')",
                (
                    (
                        k.registry,
                        k.name,
                        k.side,
                        owner,
                        k.line,
                        k.col,
                        k.within,
                        k.calls,
                        k.optional,
                        UseStatus.DANGLING,
                        k.binding,
                        k.candidates,
                    )
                    for k in facts.key_uses
                ),
            )
            db.executemany(
                "INSERT INTO attribute_read VALUES (?, ?, ?, ?, ?, ?)",
                ((r.name, r.receiver, owner, r.line, r.col, r.within) for r in facts.attribute_reads),
            )

    def _claim(self, claim: Claim) -> None:
        id_ = symbol_identity(claim.symbol)
        known = self._claims.setdefault(id_, [])
        if not known:
            known.append(claim)
            return
        check_key(id_, known[0].symbol.key, claim.symbol.key)
        if claim.file_id is not None and known[0].file_id is not None:
            known.append(claim)
        elif claim.file_id is not None or known[0].file_id is None:
            known[0] = merged((known[0], claim))

    def flush_symbols(self) -> None:
        """Write the symbols, once, after the last facts; of one that several places declare, all of it is kept."""
        with self.writing() as db:
            rows = ((id_, claims, merged(claims) if len(claims) > 1 else claims[0])
                    for id_, claims in sorted(self._claims.items()))  # fmt: skip
            for batch in _batches(rows, 10_000):
                self._insert_symbols(db, ((id_, best) for id_, _, best in batch))
                insert_claims(db, ((id_, claim) for id_, all_, _ in batch if len(all_) > 1 for claim in all_))
            place_undeclared(db)
        self._claims.clear()  # a third of a gigabyte for TVM, which the linker's steps then take

    def _insert_symbols(self, db: sqlite3.Connection, symbols: Iterable[tuple[Id, Claim]]) -> None:
        db.executemany(
            "INSERT OR REPLACE INTO symbol VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (id_, s.key, lang, s.kind, s.name, s.qualname, file_id, s.line, s.col, s.end_line, s.signature, s.doc,
                 s.parent, s.is_definition, s.linkage, s.access)
                for id_, (_, file_id, lang, s) in symbols
            ),
        )  # fmt: skip

    def set_meta(self, items: Iterable[tuple[str, str]]) -> None:
        """Write facts about the index itself; a known key is overwritten."""
        with self.writing() as db:
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", items)

    def publish(self) -> None:
        """Make the indexes, close the file with nothing left beside it, and put it in the place of the old one."""
        with self.writing() as db:
            db.execute("COMMIT")
            db.executescript(_sql("indexes.sql"))
            drop_unused(db)
            db.execute(f"INSERT INTO name_trigram(rowid, name) {SEARCHED_NAMES} GROUP BY name")
            db.execute("ANALYZE")
            self._swap_in(db)

    def _swap_in(self, db: sqlite3.Connection) -> None:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.close()
        with open(self._partial, "rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(self._partial, self.path)
        self._published = True
        for suffix in ("-wal", "-shm", "-journal"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


def insert_claims(db: sqlite3.Connection, claims: Iterable[tuple[Id, Claim]]) -> None:
    """Keep what places say of symbols, so that the best row can be found again without them."""
    db.executemany(
        "INSERT INTO claim VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (id_, file_id, lang, s.kind, s.name, s.qualname, s.line, s.col, s.end_line, s.signature, s.doc, s.parent,
             s.is_definition, s.linkage, s.access)
            for id_, (_, file_id, lang, s) in claims
        ),
    )  # fmt: skip


def place_undeclared(db: sqlite3.Connection) -> None:
    """Give what no file declares the file of the class around it.

    What the compiler declares by itself (a constructor that nobody wrote, an assignment, a destructor) stands where its
    class does. It follows from the class's row, whoever named the symbol: no unit that names it need be read again when
    the class moves.
    """
    db.execute(
        """
        WITH RECURSIVE around(id, parent_id, file_id) AS (
            SELECT id, parent_id, NULL FROM symbol WHERE line = 0
            UNION ALL
            SELECT a.id, iif(p.line, NULL, p.parent_id), iif(p.line AND p.kind <> 'namespace', p.file_id, NULL)
            FROM around a JOIN symbol p ON p.id = a.parent_id)
        UPDATE symbol SET file_id = place.file_id
        FROM (SELECT id, max(file_id) file_id FROM around GROUP BY id) place
        WHERE symbol.line = 0 AND symbol.id = place.id AND symbol.file_id IS NOT place.file_id"""
    )


def check_key(id_: Id, known: str, key: str) -> None:
    """Raise `XrefError` when two keys have one id."""
    if known != key:
        raise XrefError(f"two symbols hash to one id ({id_}): {known} and {key}; please report this", 1)


def drop_unused(db: sqlite3.Connection, *, before_linking: bool = False) -> list[tuple[Id, str]]:
    """Remove symbols that no file declares and nothing refers to any more, and then those that enclosed them.

    Returns the id and name of each. `before_linking`: what steps derived from the facts of before keeps no symbol of
    C++, else they would find what a new index does not have, and derive the same from it for ever.
    """
    facts_only, which = (" AND x.step = ''", "line = 0 AND lang = 'cpp'") if before_linking else ("", "line = 0")
    uses = [(*use, "") for use in _USES_OF_SYMBOLS] + [(*use, facts_only) for use in _DERIVED_USES_OF_SYMBOLS]
    unused = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM {table} x WHERE x.{column} = symbol.id{more})" for table, column, more in uses
    )
    dropped: list[tuple[Id, str]] = []
    while found := db.execute(f"SELECT id, name FROM symbol WHERE {which} AND {unused}").fetchall():
        db.executemany("DELETE FROM symbol WHERE id = ?", ((id_,) for id_, _ in found))
        dropped += found
    return dropped


def _batches(rows: Iterator[_Row], size: int) -> Iterator[list[_Row]]:
    while batch := list(islice(rows, size)):
        yield batch


def _sql(name: str) -> str:
    return resources.files("xref").joinpath(name).read_text(encoding="utf-8")
