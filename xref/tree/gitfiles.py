"""Read what git knows about a checkout from its files, without running git: no hook, filter or configured program runs.

A checkout is untrusted text here; whatever is missing, foreign or malformed reads as "unknown".
"""

from __future__ import annotations

import re
from pathlib import Path

from xref.tree.flags import read_text

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PACKED_REFS_BYTES = 8 << 20
_SUBMODULE_DEPTH = 3


def head(root: Path) -> tuple[str, str]:
    """The commit that `root` has checked out and a tag that names it: ("", "") outside a git checkout.

    Only tags whose commit stands in git's own text files are found: packed tags, and loose lightweight ones.
    """
    folder = _git_folder(root)
    if folder is None:
        return "", ""
    shared = folder / (read_text(folder / "commondir").strip() or ".")
    packed = _packed_refs(shared)
    current = read_text(folder / "HEAD").strip()
    if current.startswith("ref: "):
        name = current[5:]
        if ".." in name or name.startswith("/"):
            return "", ""
        current = read_text(folder / name).strip() or read_text(shared / name).strip() or packed.get(name, "")
    if not _HASH.fullmatch(current):
        return "", ""
    tags = [name for name, commit in packed.items() if commit == current and name.startswith("refs/tags/")]
    loose = shared / "refs/tags"
    if loose.is_dir():
        tags += [f"refs/tags/{path.name}" for path in loose.iterdir() if read_text(path).strip() == current]
    return current, min(tags, default="").removeprefix("refs/tags/")


def missing_submodules(root: Path, depth: int = _SUBMODULE_DEPTH) -> tuple[str, ...]:
    """Tree-relative paths of the submodules in .gitmodules, nested ones too, whose folder is absent or empty."""
    missing: list[str] = []
    for name in re.findall(r"^\s*path\s*=\s*(.+?)\s*$", read_text(root / ".gitmodules"), re.MULTILINE):
        if name.startswith("/") or ".." in name.split("/"):
            continue
        try:
            is_there = any((root / name).iterdir())
        except OSError:
            is_there = False
        if not is_there:
            missing.append(name)
        elif depth:
            missing += [f"{name}/{inner}" for inner in missing_submodules(root / name, depth - 1)]
    return tuple(sorted(missing))


def _git_folder(root: Path) -> Path | None:
    """The git folder of `root`: .git itself, or the one that a .git file (a worktree, a submodule) points at."""
    folder = root / ".git"
    if folder.is_dir():
        return folder
    pointer = re.fullmatch(r"gitdir: (.+)\n?", read_text(folder))
    return root / pointer[1] if pointer and (root / pointer[1]).is_dir() else None


def _packed_refs(folder: Path) -> dict[str, str]:
    """Reference name -> commit of a packed-refs file; an annotated tag's "^" line gives the commit it names."""
    refs: dict[str, str] = {}
    last = ""
    for line in read_text(folder / "packed-refs", _PACKED_REFS_BYTES).splitlines():
        if line.startswith("^"):
            refs[last] = line[1:]
        elif not line.startswith("#") and " " in line:
            commit, last = line.split(" ", 1)
            refs[last] = commit
    return refs
