"""Reads the #include lines of a tree's files, and what each leads to: in the tree, for planning, and on the disk, to
notice a header that newly appears where one was looked for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_OPENED = re.compile(rb'#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]')
_HEAD = re.compile(rb"(?:\s+|%b|%b)*+" % (_COMMENT.pattern, _OPENED.pattern), re.DOTALL)
"""What may stand before a file's code, and between its first #include lines."""
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


class IncludeScan:
    """The #include lines of a tree, whatever #if they stand in.

    `known` are the tree's C++ files; `include_dirs` are absolute, in order.
    """

    def __init__(self, root: Path, known: frozenset[str], include_dirs: Iterable[str]) -> None:
        self._root = root
        self._known = known
        self._prefix = str(root).rstrip("/") + "/"
        self._dirs = tuple(include_dirs)
        self._names: dict[str, tuple[str, ...]] = {}
        self._sizes: dict[str, int] = {}
        self._found: dict[tuple[str, str], str] = {}
        self._files: dict[str, bool] = {}
        self.folders = tuple(
            d[len(self._prefix) :] + "/" if d != str(root) else ""
            for d in self._dirs if f"{d}/".startswith(self._prefix)
        )  # fmt: skip
        """The include folders that lie in the tree, with a slash behind."""

    def graph(self) -> dict[str, list[str]]:
        """Each file -> the files of the tree that it names in #include lines, resolved as a compiler would."""
        return {
            path: [found for name in self.names(path) if (found := self._in_tree(_folder(path), name))]
            for path in self._known
        }

    def reachable(self, paths: Iterable[str]) -> set[str]:
        """`paths`, and all files of the tree that their #include lines lead to."""
        seen = set(paths)
        pending = list(seen)
        while pending:
            path = pending.pop()
            for name in self.names(path):
                found = self._in_tree(_folder(path), name)
                if found and found not in seen:
                    seen.add(found)
                    pending.append(found)
        return seen

    def resolution(self, path: str) -> str:
        """A digest of what the #include lines of a file of the tree lead to, on the whole disk."""
        folder = self._prefix + _folder(path)
        found = "\0".join(self.find(name, folder) for name in self.names(path))
        return blake2b(found.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()

    def find(self, name: str, *before: str) -> str:
        """The absolute path of what `name` leads to in the include folders, and in those `before`; "" for nothing."""
        places = (*before, *self._dirs)
        return next((path for place in places if self._is_file(path := os.path.join(place, name))), "")

    def names(self, path: str) -> tuple[str, ...]:
        """The names in the #include lines of a file of the tree, as written."""
        names = self._names.get(path)
        if names is None:
            try:
                source = (self._root / path).read_bytes()
            except OSError:
                source = b""
            names = self._names[path] = tuple(raw.decode("utf-8", "replace") for raw in _INCLUDE.findall(source))
            self._sizes[path] = len(source)
        return names

    def size(self, path: str) -> int:
        """Bytes of a file of the tree; 0 for one that cannot be read."""
        self.names(path)
        return self._sizes[path]

    def leading(self, path: str) -> list[str]:
        """The files of the tree that the #include lines at the head of a file lead to, before any other directive."""
        try:
            head = _HEAD.match((self._root / path).read_bytes())
        except OSError:
            return []
        lines = _OPENED.findall(_COMMENT.sub(b"", head[0])) if head is not None else []
        places = ((_folder(path) if opening == b'"' else "", name) for opening, name in lines)
        return [found for here, name in places if (found := self._in_tree(here, name.decode("utf-8", "replace")))]

    def in_tree(self, name: str) -> str:
        """The file of the tree that `name` leads to in the include folders; "" for none."""
        return self._in_tree("", name)

    def _is_file(self, path: str) -> bool:
        known = self._files.get(path)
        if known is None:
            known = self._files[path] = os.path.isfile(path)
        return known

    def _in_tree(self, here: str, name: str) -> str:
        found = self._found.get((here, name))
        if found is None:
            candidates = (_normal(folder + name) for folder in (here, *self.folders))
            found = self._found[here, name] = next((c for c in candidates if c in self._known), "")
        return found


def _folder(path: str) -> str:
    return path.rsplit("/", 1)[0] + "/" if "/" in path else ""


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)
