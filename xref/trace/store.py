"""Writes the rows of runs into a finished index, one transaction for each run. Static tables are never touched."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from xref.locking import exclusive
from xref.model import ExitCode, Id, XrefError
from xref.store import open_index

_TABLES = ("observed_call", "pass_run", "unmatched_event", "tensor_crossing")


class ObservedRow(NamedTuple):
    """See the view `observed_calls`. `file_id` and `line` are the site; None and 0 when it is unknown."""

    caller: Id | None
    callee: Id
    kind: str
    file_id: int | None
    line: int
    thread: int
    calls: int
    total_ns: int | None


class PassRow(NamedTuple):
    """See the view `passes_run`."""

    seq: int
    depth: int
    name: str
    symbol: Id | None
    start_ns: int
    duration_ns: int
    changed: int | None


class TensorRow(NamedTuple):
    """See the view `tensor_crossings`."""

    caller: Id | None
    callee: Id | None
    name: str
    file_id: int | None
    line: int
    thread: int
    same: int
    different: int
    passed: int
    made: int


class UnmatchedRow(NamedTuple):
    """See the view `unmatched`."""

    kind: str
    name: str
    calls: int
    reason: str


class RunRow(NamedTuple):
    """See the view `runs`."""

    id: str
    command: str
    started: str
    tvm_version: str
    python_version: str
    note: str


def sql_text(text: str) -> str:
    """`text` as SQLite can hold it: bytes of file names that are not UTF-8 are written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@contextmanager
def open_for_runs(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the index at `path` that may write runs; holds the index's lock.

    Raises `XrefError`: exit code 3 when there is no index of this schema, 5 when it is being written or cannot be.
    """
    open_index(path).close()
    with exclusive(path), closing(sqlite3.connect(path, isolation_level=None)) as db:
        try:
            yield db
        except sqlite3.OperationalError as error:
            message = f"{path} cannot be written ({error}): the index is as it was; the run file is kept"
            raise XrefError(message, ExitCode.UNUSABLE_INPUT) from error


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def put_run(
    db: sqlite3.Connection, run: RunRow, observed: Iterable[ObservedRow], passes: Iterable[PassRow],
    unmatched: Iterable[UnmatchedRow], tensors: Iterable[TensorRow],
) -> None:  # fmt: skip
    """Put the rows of `run` in the place of those that it may have; within a transaction."""
    remove_run(db, run.id)
    columns = "id, command, started, tvm_version, python_version, note"
    db.execute(f"INSERT INTO run({columns}) VALUES (?, ?, ?, ?, ?, ?)", run)
    db.executemany(
        "INSERT INTO observed_call(run_id, caller_id, callee_id, kind, file_id, line, thread, count, total_ns)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((run.id, *row) for row in observed),
    )
    db.executemany(
        "INSERT INTO pass_run(run_id, seq, depth, name, symbol_id, start_ns, duration_ns, changed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ((run.id, *row) for row in passes),
    )
    db.executemany(
        "INSERT INTO unmatched_event(run_id, kind, name, count, reason) VALUES (?, ?, ?, ?, ?)",
        ((run.id, *row) for row in unmatched),
    )
    db.executemany(
        "INSERT INTO tensor_crossing(run_id, caller_id, callee_id, name, file_id, line, thread, same, different,"
        " passed, made) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((run.id, *row) for row in tensors),
    )


def remove_run(db: sqlite3.Connection, run_id: str) -> bool:
    """Remove all rows of a run; whether it had any. Within a transaction."""
    for table in _TABLES:
        db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
    return db.execute("DELETE FROM run WHERE id = ?", (run_id,)).rowcount > 0
