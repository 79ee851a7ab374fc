"""Puts a finished site in its place: built beside it, swapped in whole, and never over something that is not a site.

A site's folder holds a marker file that names what xref wrote at its top. Anything else in it belongs to somebody.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from xref.model import ExitCode, XrefError

MARKER = ".xref-site.json"
"""Written into every site: `{"xref-site": 1, "entries": [...]}`."""
_KEPT = ("README.md", ".gitignore", ".gitkeep")
"""Placeholders that a project keeps in the folder of generated pages; they are carried over."""


def check_target(out: Path) -> None:
    """Refuse to put a site at `out` when something else is there.

    Raises `XrefError` (exit code 5): `out` is a file, or a folder with anything that xref did not write.
    """
    if not out.exists():
        return
    if not out.is_dir():
        raise XrefError(f"{out} is not a folder: name another --out", ExitCode.UNUSABLE_INPUT)
    own = _entries(out)
    foreign = sorted(entry.name for entry in out.iterdir() if entry.name not in own and entry.name not in _KEPT)
    if foreign:
        shown = ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if len(foreign) > 3 else "")
        what = "holds files that xref did not write" if own else "is not a site made by xref"
        raise XrefError(
            f"{out} {what} ({shown}), and nothing of yours is deleted: name another --out, or move them away",
            ExitCode.UNUSABLE_INPUT,
        )


def _entries(out: Path) -> set[str]:
    """The names at the top of a site, from its marker; empty when there is no marker of ours."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        marker = json.loads((out / MARKER).read_text(encoding="utf-8"))
        if marker["xref-site"] == 1:
            return {MARKER, *map(str, marker["entries"])}
    return set()


@contextmanager
def building(out: Path) -> Iterator[Path]:
    """A new folder beside `out`; when the block ends without error it takes the place of `out`, else it is removed.

    Raises `XrefError` (exit code 5) when the disk is full or the place cannot be written.
    """
    out = Path(os.path.realpath(out))
    check_target(out)
    partial = out.with_name(f".{out.name}.{os.getpid()}.partial")
    try:
        _remove_stale(out)
        partial.mkdir(parents=True)
        yield partial
        _mark(partial)
        _swap(partial, out)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise XrefError(
                f"{out}: the disk is full; free space, or name an --out elsewhere", ExitCode.UNUSABLE_INPUT
            ) from error
        if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM, errno.ENOTDIR):
            raise XrefError(
                f"{out} cannot be written ({error.strerror}): name an --out elsewhere", ExitCode.UNUSABLE_INPUT
            ) from error
        raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


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
    names = sorted(entry.name for entry in folder.iterdir())
    marker = {"xref-site": 1, "entries": names}
    (folder / MARKER).write_text(json.dumps(marker, indent=1) + "\n", encoding="utf-8")


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
