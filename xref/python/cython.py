"""Extracts Cython files in a process of its own: Cython's compiled parser has no limit on nesting, and one file with a
deep expression would take the whole indexer down with it.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from xref.model import FileFacts, Lang, Status
from xref.python.cython_extract import CURRENT, REQUEST, RESULT
from xref.python.programs import finish, own_program, start_program

TIMEOUT_S = 120
"""Seconds before the parser counts as hung; all of TVM's Cython takes 2."""


def extract_cython(root: Path, paths: Sequence[str]) -> list[FileFacts]:
    """Facts of the .pyx, .pxi and .pxd files `paths` (tree-relative) below `root`, in order.

    Never raises for what a file contains: the file that the parser dies or hangs on is failed, the others go on.
    """
    found: dict[str, FileFacts] = {}
    remaining = list(paths)
    while remaining:
        with tempfile.TemporaryDirectory(prefix="xref-cython-") as name:
            facts, culprit, reason = _run(Path(name), root, remaining)
        if not culprit:
            found.update((file.path, file) for file in facts)
            break
        found[culprit] = FileFacts(culprit, Lang.CYTHON, Status.FAILED, reason)
        remaining.remove(culprit)
    return [found[path] for path in paths]


def _run(folder: Path, root: Path, paths: list[str]) -> tuple[list[FileFacts], str, str]:
    """The facts, or the file that killed the process and the reason to give."""
    request = json.dumps({"root": str(root.absolute()), "paths": paths})
    (folder / REQUEST).write_text(request, "ascii")
    process = start_program(own_program("cython_extract", folder), folder, own_code=True)
    try:
        _, errors = finish(process, TIMEOUT_S)
        reason = f"line 1: Cython's parser crashed on this file (signal {-process.returncode}): nested too deeply"
    except subprocess.TimeoutExpired:
        errors = ""
        reason = f"line 1: Cython's parser did not finish this file within {TIMEOUT_S} s"
    if process.returncode == 0:
        facts: list[FileFacts] = pickle.loads((folder / RESULT).read_bytes())  # noqa: S301  our own process wrote it
        return facts, "", ""
    if process.returncode > 0:
        last = errors.strip().rpartition("\n")[2]
        reason = f"line 1: Cython's parser failed on this file ({last[:300]})"
    current = folder / CURRENT
    culprit = current.read_text("utf-8", "surrogateescape") if current.exists() else paths[0]
    return [], culprit, reason
