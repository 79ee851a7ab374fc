"""Puts a finished site in its place: built beside it, swapped in whole, and never over something that is not a site.

A site's folder holds a marker file that names all that xref wrote. Anything else in it belongs to somebody.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import posixpath
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from xref.model import ExitCode, XrefError

MARKER = ".xref-site.json"
"""Written into every site: `{"xref-site": 2, "folders": {FOLDER: [NAME, ...]}}`, "" being the site itself."""
_FORMAT = 2
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
"""The errors of a full disk: `building` turns them into an `XrefError`."""
_OF_THE_PLACE = (*DISK_FULL, errno.EACCES, errno.EROFS, errno.EPERM, errno.ENOTDIR)
_KEPT = ("README.md", ".gitignore", ".gitkeep")
"""Placeholders that a project keeps in the folder of generated pages; they are carried over."""


@contextmanager
def _place_errors(out: Path) -> Iterator[None]:
    """Errors of the operating system about the place of a site become an `XrefError` (exit code 5) that names it."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise XrefError(
                f"{out}: the disk is full; free space, or name an --out elsewhere", ExitCode.UNUSABLE_INPUT
            ) from error
        raise XrefError(
            f"{out} cannot be written ({error.strerror}): name an --out elsewhere", ExitCode.UNUSABLE_INPUT
        ) from error


def check_target(out: Path) -> None:
    """Refuse to put a site at `out` when something else is there.

    Raises `XrefError` (exit code 5): `out` is a file, a folder that holds, at any depth, what xref did not write, or
    cannot be looked at.
    """
    with _place_errors(out):
        _check_target(out)


def _check_target(out: Path) -> None:
    if not os.path.lexists(out):
        with suppress(FileNotFoundError):
            out.stat()  # a name that is too long, a file in place of a folder
        return
    if not out.is_dir():
        raise XrefError(f"{out} is not a folder: name another --out", ExitCode.UNUSABLE_INPUT)
    own = _written(out)
    foreign = sorted(_foreign(out, own))
    if foreign:
        shown = ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if len(foreign) > 3 else "")
        what = "holds files that xref did not write" if own else "is not a site made by xref"
        raise XrefError(
            f"{out} {what} ({shown}), and nothing of yours is deleted: name another --out, or move them away",
            ExitCode.UNUSABLE_INPUT,
        )


def _written(out: Path) -> dict[str, set[str]]:
    """What xref wrote, from the marker: the names in each folder of the site; empty when there is no marker of ours."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        marker = json.loads((out / MARKER).read_text(encoding="utf-8"))
        if marker["xref-site"] == _FORMAT:
            return {str(folder): set(map(str, names)) for folder, names in marker["folders"].items()}
    return {}


def _foreign(out: Path, own: dict[str, set[str]]) -> Iterator[str]:
    """Paths below `out` that xref did not write. What stands in a folder that it did not make is not looked at."""
    pending = [""]
    while pending:
        folder = pending.pop()
        names = own.get(folder, set())
        with os.scandir(out / folder) as entries:
            for entry in entries:
                path = posixpath.join(folder, entry.name)
                if not folder and entry.name in (MARKER, *_KEPT):
                    continue
                if entry.name not in names:
                    yield path
                elif entry.is_dir(follow_symlinks=False):
                    pending.append(path)


def is_whole(out: Path) -> bool:
    """Whether a site has every file that was written into it, and none was written by somebody else since."""
    try:
        made = (out / MARKER).stat().st_mtime_ns
        for folder, names in _written(out).items():
            with os.scandir(out / folder) as entries:
                found = {entry.name for entry in entries if entry.is_dir() or entry.stat().st_mtime_ns <= made}
            if names - found:
                return False
    except OSError:
        return False
    return True


def touch(out: Path) -> int:
    """Say that a site was found to be as a new one would be: its marker gets the time of now. How many pages it has."""
    with suppress(OSError):  # nothing has to be written, so a place that cannot be written is no fault
        os.utime(out / MARKER)
    return sum(name.endswith(".html") for names in _written(out).values() for name in names)


@contextmanager
def building(out: Path) -> Iterator[Path]:
    """A new folder beside `out`; when the block ends without error it takes the place of `out`, else it is removed.

    Raises `XrefError` (exit code 5) when the disk is full or the place cannot be written.
    """
    out = Path(os.path.realpath(out))
    check_target(out)
    if not out.name:
        raise XrefError(f"{out} cannot be replaced by a site: name another --out", ExitCode.UNUSABLE_INPUT)
    partial = out.with_name(f".{out.name}.{os.getpid()}.partial")
    try:
        with _place_errors(out):
            _remove_stale(out)
            partial.mkdir(parents=True)
        try:
            yield partial
        except OSError as error:
            if error.errno not in _OF_THE_PLACE and not _is_below(error.filename, partial):
                raise
            with _place_errors(out):
                raise
        with _place_errors(out):
            _mark(partial)
            _swap(partial, out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _is_below(name: object, folder: Path) -> bool:
    return isinstance(name, (str, os.PathLike)) and Path(name).is_relative_to(folder)


def _remove_stale(out: Path) -> None:
    """What builds left behind that were killed; a build that is still at work is left alone."""
    for left in out.parent.glob(f".{glob.escape(out.name)}.*.partial"):
        pid = left.name.removesuffix(".partial").rpartition(".")[2]
        if pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _mark(folder: Path) -> None:
    folders = {}
    for path, inner, files in os.walk(folder):
        relative = Path(path).relative_to(folder).as_posix()
        folders["" if relative == "." else relative] = sorted([*inner, *files])
    text = json.dumps({"xref-site": _FORMAT, "folders": folders}, separators=(",", ":"))
    (folder / MARKER).write_text(text + "\n", encoding="utf-8")


def _swap(partial: Path, out: Path) -> None:
    """Rename `partial` to `out`. The old site stands aside until the new one is in place."""
    if not out.exists():
        partial.rename(out)
        return
    check_target(out)
    for name in _KEPT:
        if (out / name).is_file() and not (partial / name).exists():
            shutil.copy2(out / name, partial / name)
    old = partial.with_suffix(".old")
    out.rename(old)
    try:
        partial.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)
