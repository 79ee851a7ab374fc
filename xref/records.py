"""What an index remembers of how it was made: every parse with what it consisted of, so that the next run parses only
what may come out differently."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from xref.cpp.plan import UnitJob

PLANNED, UNREACHED, RETRY, PCH = "planned", "unreached", "retry", "pch"


@dataclass(frozen=True)
class UnitRecord:
    """One parse and its outcome.

    `origin`: "planned"; "unreached" for a header that its unit turned out not to include; "retry" for a file of a parse
    that failed as a whole, with `problem` in words; "pch" for the precompiled header, whose headers `job.owned` are.
    `delivered` are the files that it gave facts of. `seen` are all files that it consisted of: tree-relative for source
    files of the tree, else absolute; those of the precompiled header are only in its own record (`used_pch`). `missing`
    are the headers that were not found, as written.
    """

    job: UnitJob
    origin: str
    delivered: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    used_pch: bool = False
    call_expressions: int = 0
    problem: str = ""


@dataclass(frozen=True)
class Source:
    """A file that some parse consisted of, as it was then.

    `resolution` says what the #include lines of a file of the tree led to (`IncludeScan.resolution`). Their `sha256` is
    "": the table of files has it. A file that was written while it was being read has the hash "?".
    """

    path: str
    size: int = 0
    mtime_ns: int = 0
    sha256: str = ""
    resolution: str = ""


@dataclass
class Records:
    """All parses of an index, and the files that they consisted of, by path."""

    units: list[UnitRecord] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)


def stat_source(path: str, started_ns: int) -> Source:
    """The state of a file outside the tree's sources; one that changed after `started_ns` counts as changed."""
    try:
        state = os.stat(path)
        with open(path, "rb") as stream:
            digest = hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return Source(path, sha256="?")
    return Source(path, state.st_size, state.st_mtime_ns, digest if state.st_mtime_ns < started_ns else "?")


def is_same(source: Source) -> bool:
    """Whether a file outside the tree's sources is as it was."""
    try:
        state = os.stat(source.path)
    except OSError:
        return False
    if (state.st_size, state.st_mtime_ns) == (source.size, source.mtime_ns) and source.sha256 != "?":
        return True
    return state.st_size == source.size and stat_source(source.path, state.st_mtime_ns + 1).sha256 == source.sha256


def save_records(db: sqlite3.Connection, records: Records) -> None:
    """Put `records` in the place of what the index had; within a transaction."""
    db.execute("DELETE FROM source")
    db.execute("DELETE FROM unit")
    numbers = {path: number for number, path in enumerate(sorted(records.sources), 1)}
    db.executemany(
        "INSERT INTO source VALUES (?, ?, ?, ?, ?, ?)",
        (
            (number, path, source.size, source.mtime_ns, source.sha256, source.resolution)
            for path, number in numbers.items()
            for source in (records.sources[path],)
        ),
    )
    db.executemany("INSERT INTO unit(record, sources) VALUES (?, ?)", (_row(unit, numbers) for unit in records.units))


def _row(unit: UnitRecord, numbers: dict[str, int]) -> tuple[str, str]:
    values = asdict(unit)
    seen: Iterable[str] = values.pop("seen")
    return json.dumps(values), json.dumps(sorted(numbers[path] for path in seen))


def load_records(db: sqlite3.Connection) -> Records:
    """What `save_records` wrote."""
    records = Records()
    paths: dict[int, str] = {}
    for number, path, size, mtime_ns, sha256, resolution in db.execute(
        "SELECT id, path, size, mtime_ns, sha256, resolution FROM source"
    ):
        paths[number] = path
        records.sources[path] = Source(path, size, mtime_ns, sha256, resolution)
    for record, sources in db.execute("SELECT record, sources FROM unit ORDER BY id"):
        values = json.loads(record)
        job = values.pop("job")
        values["delivered"], values["missing"] = tuple(values["delivered"]), tuple(values["missing"])
        job = UnitJob(job["main"], tuple(job["owned"]), job["language"], job["use_pch"])
        records.units.append(UnitRecord(job=job, seen=tuple(paths[n] for n in json.loads(sources)), **values))
    return records
