"""The one place that writes SQL rows: builds an index beside the old one and swaps it in whole, or not at all.

`IndexBuilder` takes file facts in any order and keeps the best row of each symbol; `open_index` hands out a read-only
connection to a finished index and refuses anything else with a message that says what to do. Public views: docs/sql.md.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path

from xref.model import ExitCode, FileFacts, Id, Lang, Status, Symbol, UseStatus, XrefError, symbol_id

SCHEMA_VERSION = 2
"""PRAGMA user_version of an index. Raised whenever a public view changes; there is no migration: index again."""

FORMAT = "2"
"""The form of the inner tables, which are no contract: an index of another form answers questions still, but is made
again as a whole instead of being brought up to date."""

_CACHE_KIB = 256 * 1024
_NO_PLACE = (
    errno.EACCES, errno.EROFS, errno.ENOENT, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EEXIST,
    errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip


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


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the right to write the index at `path`; the lock file beside it names the holder's pid.

    The lock is the kernel's (flock), so that a lock file whose process is gone, however it went, holds nobody up.
    Raises `XrefError` (exit code 5) when another indexer is at work, or when the folder cannot be written.
    """
    lock = path.with_name(path.name + ".lock")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = None
        while handle is None:
            handle = _lock(lock, path)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)


def _lock(lock: Path, path: Path) -> int | None:
    """The locked file's descriptor; None when its last holder removed the file just now, so that it locks nothing."""
    handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_same_file(handle, lock):
            os.close(handle)
            return None
        try:
            os.ftruncate(handle, 0)
            os.write(handle, str(os.getpid()).encode("ascii"))
        except OSError:
            lock.unlink(missing_ok=True)
            raise
    except BlockingIOError:
        holder = os.read(handle, 20).decode("ascii", "replace") or "unknown"
        os.close(handle)
        raise XrefError(
            f"another indexer (pid {holder}) is writing {path}: wait for it, or name another --db",
            ExitCode.UNUSABLE_INPUT,
        ) from None
    except OSError:
        os.close(handle)
        raise
    return handle


def _is_same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn "the disk is full" and "no index can be there" into an `XrefError` (exit code 5) that names the file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "full" in str(error):
            raise XrefError(
                f"{path}: the disk is full; free space, or name a --db elsewhere", ExitCode.UNUSABLE_INPUT
            ) from error
        if "readonly" in str(error) or "unable to open" in str(error) or "disk I/O" in str(error):
            raise XrefError(
                f"{path} cannot be written ({error}): name a --db elsewhere", ExitCode.UNUSABLE_INPUT
            ) from error
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise XrefError(
                f"{path}: the disk is full; free space, or name a --db elsewhere", ExitCode.UNUSABLE_INPUT
            ) from error
        if error.errno in _NO_PLACE:
            reason = f"{error.filename} is no folder" if error.errno == errno.EEXIST else error.strerror
            raise XrefError(
                f"{path} cannot be written ({reason}): name a --db elsewhere", ExitCode.UNUSABLE_INPUT
            ) from error
        raise


class IndexBuilder:
    """A new index, invisible until `publish`. Use as a context manager: leaving without `publish` removes every trace.

    Holds the lock of `path`; see `exclusive`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
        self._published = False
        self._file_ids: dict[str, int] = {}
        self._symbols: dict[Id, tuple[int, int | None, Lang, Symbol]] = {}

    def __enter__(self) -> IndexBuilder:
        self._lock = exclusive(self.path)
        self._lock.__enter__()
        try:
            with disk_errors(self.path):
                self._remove_stale()
                self.db = sqlite3.connect(self._partial, isolation_level=None)
                for pragma in (
                    "page_size = 8192",
                    "journal_mode = OFF",
                    "synchronous = OFF",
                    f"cache_size = -{_CACHE_KIB}",
                    "temp_store = MEMORY",
                    "locking_mode = EXCLUSIVE",
                ):
                    self.db.execute(f"PRAGMA {pragma}")
                self.db.executescript(_sql("schema.sql"))
                self.db.execute("BEGIN")
        except BaseException:
            self._discard()
            self._lock.__exit__(None, None, None)
            raise
        return self

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
        """Announce a file of the tree; until facts arrive it counts as failed, so that no file is lost silently."""
        with self.writing() as db:
            cursor = db.execute(
                "INSERT INTO file(path, lang, lines, sha256, size, mtime_ns, status, detail, guard)"
                " VALUES (?, ?, 0, ?, ?, ?, 'failed', 'no facts arrived', ?)",
                (path, lang, sha256, size, mtime_ns, guard),
            )
            self._file_ids[path] = int(cursor.lastrowid or 0)

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
        file_id = self._file_ids[facts.path]
        for symbol in facts.symbols:
            self._merge(symbol_identity(symbol), file_id, facts.lang, symbol)
        for symbol in facts.externals:
            self._merge(symbol_identity(symbol), None, facts.lang, symbol._replace(is_definition=False))
        with self.writing() as db:
            db.executemany(
                "INSERT INTO location VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (
                        symbol_identity(s),
                        "definition" if s.is_definition else "declaration",
                        file_id,
                        s.line,
                        s.col,
                        s.end_line,
                    )
                    for s in facts.symbols
                ),
            )
            db.executemany(
                "INSERT INTO ref VALUES (?, ?, ?, ?, ?, ?)",
                ((r.symbol, file_id, r.line, r.col, r.role, r.within) for r in facts.refs),
            )
            db.executemany(
                "INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?, '')",
                ((c.caller, c.callee, c.evidence, file_id, c.line, c.col, c.via) for c in facts.calls),
            )
            db.executemany(
                "INSERT INTO unresolved_call VALUES (?, ?, ?, ?, ?, ?, '')", ((file_id, *u) for u in facts.unresolved)
            )
            db.executemany(
                "INSERT INTO dependent_call VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ((file_id, *d) for d in facts.dependent)
            )
            db.executemany(
                "INSERT OR IGNORE INTO relation VALUES (?, ?, ?, ?, '')", ((*r, file_id) for r in facts.relations)
            )
            db.executemany("INSERT INTO include VALUES (?, ?, ?)", ((file_id, *i) for i in facts.includes))
            db.executemany(
                "INSERT INTO key_def VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                ((k.registry, k.name, k.side, file_id, k.line, k.symbol, k.guard, k.note) for k in facts.key_defs),
            )
            db.executemany(
                "INSERT INTO key_use VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'direct', '')",
                (
                    (
                        k.registry,
                        k.name,
                        k.side,
                        file_id,
                        k.line,
                        k.col,
                        k.within,
                        k.calls,
                        k.optional,
                        UseStatus.DANGLING,
                        k.binding,
                    )
                    for k in facts.key_uses
                ),
            )
            db.executemany(
                "INSERT INTO attribute_read VALUES (?, ?, ?, ?, ?, ?)",
                ((r.name, r.receiver, file_id, r.line, r.col, r.within) for r in facts.attribute_reads),
            )

    def _merge(self, id_: Id, file_id: int | None, lang: Lang, symbol: Symbol) -> None:
        """Keep the best row: a definition before a declaration before an external, then the first in path order."""
        rank = (2 if symbol.is_definition else 1) if file_id is not None else 0
        known = self._symbols.get(id_)
        if known is None:
            self._symbols[id_] = (rank, file_id, lang, symbol)
            return
        old_rank, old_file, old_lang, old = known
        if old.key != symbol.key:
            raise XrefError(f"two symbols hash to one id: {old.key} and {symbol.key}; please report this", 1)
        if (rank, -(file_id or 0), -symbol.line) > (old_rank, -(old_file or 0), -old.line):
            best, other, choice = symbol, old, (rank, file_id, lang)
        else:
            best, other, choice = old, symbol, (old_rank, old_file, old_lang)
        if not best.doc and other.doc:
            best = best._replace(doc=other.doc)
        self._symbols[id_] = (*choice, best)

    def flush_symbols(self) -> None:
        """Write the symbols, once, after the last facts."""
        with self.writing() as db:
            db.executemany(
                "INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        id_,
                        s.key,
                        lang,
                        s.kind,
                        s.name,
                        s.qualname,
                        file_id if file_id is not None else self._file_ids.get(s.path),
                        s.line,
                        s.col,
                        s.end_line,
                        s.signature,
                        s.doc,
                        s.parent,
                        s.is_definition,
                        s.linkage,
                        s.access,
                    )
                    for id_, (_, file_id, lang, s) in sorted(self._symbols.items())
                ),
            )

    def set_meta(self, items: Iterable[tuple[str, str]]) -> None:
        """Write facts about the index itself; a known key is overwritten."""
        with self.writing() as db:
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", items)

    def publish(self) -> None:
        """Make the indexes, close the file with nothing left beside it, and put it in the place of the old one."""
        with self.writing() as db:
            db.execute("COMMIT")
            db.executescript(_sql("indexes.sql"))
            db.execute(
                "INSERT INTO name_trigram(rowid, name) SELECT min(id), name FROM symbol"
                " WHERE kind NOT IN ('local', 'parameter') GROUP BY name"
            )
            db.execute("ANALYZE")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            db.close()
            with open(self._partial, "rb+") as stream:
                os.fsync(stream.fileno())
            os.replace(self._partial, self.path)
            self._published = True
            for suffix in ("-wal", "-shm", "-journal"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


def symbol_identity(symbol: Symbol) -> Id:
    """The id of `symbol`, from its key."""
    return symbol_id(symbol.key)


def _sql(name: str) -> str:
    return resources.files("xref").joinpath(name).read_text(encoding="utf-8")
