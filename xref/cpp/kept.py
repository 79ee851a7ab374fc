"""Keeps precompiled headers from one run to the next, so that the first thing after an edit is not to make one.

Each lies in a folder named after what it is made for: root, options, headers, libclang. manifest.json there names the
file in force ("": these headers cannot be precompiled), and the files that it was made from with their sizes and times,
by which clang judges it too. Both are renamed in; a process that reads the older one may finish. The folders used last
are kept; removing any costs seconds.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from xref.cpp.pch import Pch
from xref.cpp.plan import CppPlan

KEPT = 8
"""Folders; each holds 20 to 50 MB for TVM, what some units share included."""
_SHARED = "shared"
_MANIFEST = "manifest.json"
_PARTIAL = "partial"
_VERSIONS = 2
"""Files of one folder: the one in force, and one that another process may have started with."""
_LEFTOVER_SECONDS = 3600


def folder_for(plan: CppPlan, clang: str, cache: Path) -> Path:
    """The folder in `cache` of the plan's precompiled header, as made by the libclang of version `clang`."""
    made_for = json.dumps([plan.root, plan.arguments, plan.pch_headers, clang])
    return cache / blake2b(made_for.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def shared_folder(common: Path, below: Pch, header: str) -> Path:
    """The folder of what `header` adds to the common headers, which lie in `common`. It is of use only with the very
    file that it was made with."""
    name = blake2b(header.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
    return common / _SHARED / Path(below.path).stem / name


def load_kept(folder: Path) -> Pch | None:
    """The precompiled header in `folder`, if there is one and none of its files has changed since."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        path = folder / manifest["file"]
        if (
            (manifest["file"] and not path.is_file())
            or not (folder / "common.h").is_file()
            or any(_stamp(name) != [size, mtime] for name, size, mtime in manifest["seen"])
        ):
            return None
        os.utime(folder)
    except (OSError, ValueError, KeyError):
        return None
    made = str(path) if manifest["file"] else ""
    return Pch(made, manifest["problem"], tuple(manifest["missing"]), tuple(row[0] for row in manifest["seen"]))


def make_kept(build: Callable[[Path, str], Pch], folder: Path, otherwise: Path) -> Pch:
    """Build a precompiled header (`build(folder, file name)`) and keep it; in `otherwise` when it cannot be kept."""
    name = f"{os.getpid()}-{time.time_ns()}.pch"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pch = build(folder, name)
        if pch.path or pch.seen:
            _publish(folder, name if pch.path else "", pch)
    except OSError:
        return build(otherwise, name)
    with suppress(OSError):
        _tidy(folder)
    return pch if pch.path or pch.seen else build(otherwise, name)


def _publish(folder: Path, name: str, pch: Pch) -> None:
    seen = [[path, *_stamp(path)] for path in pch.seen]
    manifest: dict[str, Any] = {"file": name, "problem": pch.problem, "missing": pch.missing, "seen": seen}
    partial = folder / f"{_MANIFEST}.{_PARTIAL}{os.getpid()}"
    partial.write_text(json.dumps(manifest), encoding="ascii")
    partial.replace(folder / _MANIFEST)


def _stamp(path: str) -> list[int]:
    state = os.stat(path)
    return [state.st_size, state.st_mtime_ns]


def _tidy(folder: Path) -> None:
    """Remove files that a newer one has replaced for long, what killed processes left, folders not used for long."""
    made = sorted(folder.glob("*.pch"), key=_used, reverse=True)
    left = [path for path in folder.glob(f"*.{_PARTIAL}*") if time.time() - _used(path) > _LEFTOVER_SECONDS]
    for path in (*made[_VERSIONS:], *left):
        path.unlink(missing_ok=True)
    if folder.parent.parent.name == _SHARED:
        return  # these go with the file that they add to
    current = {path.stem for path in made[:_VERSIONS]}
    old = [other for other in (folder / _SHARED).glob("*") if other.name not in current]
    folders = [other for other in folder.parent.iterdir() if (other / "common.h").exists()]
    for other in (*old, *sorted(folders, key=_used, reverse=True)[KEPT:]):
        shutil.rmtree(other, ignore_errors=True)


def _used(path: Path) -> float:
    return path.stat().st_mtime
