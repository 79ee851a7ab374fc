"""Who may write an index, and what is said of a disk that does not let him: the lock beside an index, disk errors."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xref.model import ExitCode, XrefError

_NO_PLACE = (
    errno.EACCES, errno.EROFS, errno.ENOENT, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EEXIST,
    errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip


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
