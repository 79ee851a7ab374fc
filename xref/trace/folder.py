"""The folder of run files: `runs` beside the index. A file is named after its run, and is the truth of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from xref.model import ExitCode, XrefError
from xref.trace.runfile import read_header, read_run, write_run

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


def runs_folder(db: Path) -> Path:
    """Where the runs of the index at `db` are kept."""
    return db.parent / "runs"


def run_path(db: Path, run_id: str) -> Path:
    """The file of a run, which need not exist. Raises `XrefError` (exit code 1) when there can be no such run."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", run_id):
        raise _unknown(db, run_id)
    return runs_folder(db) / run_id


def existing_run(db: Path, run_id: str) -> Path:
    """The file of a run. Raises `XrefError` (exit code 1) when there is no such run."""
    path = run_path(db, run_id)
    if not path.is_file():
        raise _unknown(db, run_id)
    return path


def _unknown(db: Path, run_id: str) -> XrefError:
    return XrefError(f"no run {run_id!r} in {runs_folder(db)}: `xref runs` lists them", ExitCode.NOTHING)


def new_id(db: Path, name: str, started: float) -> str:
    """An id that no run of the folder has: the time of starting (UTC; `started` is seconds since 1970) and what ran."""
    stem = _UNFIT.sub("-", name).strip("-")[:40] or "run"
    base = f"{datetime.fromtimestamp(started, UTC):%Y%m%d-%H%M%S}-{stem}"
    number, chosen = 1, base
    while (runs_folder(db) / chosen).exists():
        number += 1
        chosen = f"{base}-{number}"
    return chosen


def run_files(db: Path) -> list[Path]:
    """The run files beside the index, oldest first."""
    folder = runs_folder(db)
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))


def headers(db: Path) -> Iterator[tuple[Path, dict[str, Any] | XrefError]]:
    """Each run file with its header, or with what is wrong with it."""
    for path in run_files(db):
        try:
            header = read_header(path)
        except XrefError as error:
            yield path, error
            continue
        if header["id"] == path.name:
            yield path, header
        else:
            words = f"{path} holds the run {header['id']}: give the file that name, or delete it"
            yield path, XrefError(words, ExitCode.UNUSABLE_INPUT)


def import_run(db: Path, source: Path) -> Path:
    """Copy a run file made elsewhere beside the index.

    Raises `XrefError` (exit code 5) when it is no whole run file, or another run has its id.
    """
    run = read_run(source)
    target = run_path(db, run.id)
    if target.exists():
        if target.samefile(source) or read_run(target) == run:
            return target
        message = (
            f"another run is called {run.id}: delete it (`xref runs --delete {run.id}`), then import {source} again"
        )
        raise XrefError(message, ExitCode.UNUSABLE_INPUT)
    write_run(run, target)
    return target
