"""Reads the tree's files for the site and says whether each is still what was indexed.

A line number is only true for the bytes that were indexed: a file whose sha256 differs, or that is gone, has a state
that every page shows, and nothing links into its lines.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from xref.model import ExitCode, XrefError


class State(StrEnum):
    """What stands at a file's path now."""

    SAME = "same"
    CHANGED = "changed"
    MISSING = "missing"


class SourceFile(NamedTuple):
    """A file of the index that has a page. `lines` is what stands on disk now; `status`, `detail` are the index's."""

    id: int
    path: str
    lang: str
    lines: int
    status: str
    detail: str
    state: State
    content: str = ""
    """A digest of what stands on disk where that is not what was indexed."""


def tree_root(meta: dict[str, str]) -> Path:
    """The folder that was indexed. Raises `XrefError` (exit code 5) when it is gone."""
    root = Path(meta.get("tree", ""))
    if not meta.get("tree") or not root.is_dir():
        raise XrefError(
            f"the tree {root} that was indexed is gone, and the site shows its source: put it back, or index again",
            ExitCode.UNUSABLE_INPUT,
        )
    return root


def read_bytes(root: Path, path: str) -> bytes | None:
    """The content of `path`, None when it cannot be read or lies outside the tree (a link put there since)."""
    try:
        inside = os.path.join(os.path.realpath(root), "")
        full = os.path.realpath(os.path.join(inside, path))
        if not full.startswith(inside):
            return None
        with open(full, "rb") as stream:
            return stream.read()
    except (OSError, ValueError):
        return None


def examine(root: Path, id_: int, path: str, lang: str, sha256: str, status: str, detail: str) -> SourceFile:
    """`path` as it stands now."""
    data = read_bytes(root, path)
    if data is None:
        return SourceFile(id_, path, lang, 0, status, detail, State.MISSING)
    found = hashlib.sha256(data).hexdigest()
    lines = line_count(data)
    if found == sha256:
        return SourceFile(id_, path, lang, lines, status, detail, State.SAME)
    return SourceFile(id_, path, lang, lines, status, detail, State.CHANGED, found)


def line_count(data: bytes) -> int:
    """Lines of a file; a last line need not end in a newline."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


@dataclass(slots=True)
class Text:
    """A file's content by line: `rows` as text without line ends, `raw` as bytes where columns count bytes."""

    rows: list[str]
    raw: list[bytes] = field(default_factory=list)

    def offset(self, line: int, col: int, *, in_bytes: bool) -> int:
        """The 0-based character of `line` that a 1-based column means, -1 when there is none such."""
        if not 0 < line <= len(self.rows) or col < 1:
            return -1
        row = self.rows[line - 1]
        if in_bytes and not row.isascii():
            return len(self.raw[line - 1][: col - 1].decode("utf-8", "replace"))
        return col - 1 if col <= len(row) else -1


def decode(data: bytes) -> Text:
    """The lines of a file; bytes that are not UTF-8 become U+FFFD."""
    raw = data.split(b"\n")
    if raw and raw[-1] == b"":
        raw.pop()
    rows = [row.decode("utf-8", "replace").removesuffix("\r") for row in raw]
    if rows and rows[0].startswith("\ufeff"):
        rows[0] = rows[0][1:]
        raw[0] = raw[0][3:]
    return Text(rows, raw)


class Sources:
    """Files of one tree, read at most once per process."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._texts: dict[str, Text] = {}

    def text(self, file: SourceFile) -> Text | None:
        """The content of a file, None when it is missing."""
        if file.path not in self._texts:
            data = read_bytes(self._root, file.path)
            self._texts[file.path] = Text([]) if data is None else decode(data)
        return None if file.state is State.MISSING else self._texts[file.path]

    def line(self, file: SourceFile, line: int) -> str:
        """One line as it was indexed, "" when the file is no longer the same."""
        if file.state is not State.SAME:
            return ""
        text = self.text(file)
        return text.rows[line - 1] if text and 0 < line <= len(text.rows) else ""


def disk_size(folder: Path) -> int:
    """Bytes of all files below `folder`."""
    return sum(entry.stat().st_size for base, _, names in os.walk(folder) for entry in map(Path(base).joinpath, names))
