"""Reads pyrefly's SCIP index: which symbol each name in a file refers to.

SCIP is a protobuf format (scip.proto of sourcegraph/scip); the few fields needed are read straight off the wire:
Index.documents = 2, Document.relative_path = 1, Document.occurrences = 2, Occurrence.range = 1, Occurrence.symbol = 2.
Ranges are [line, column, (end line,) end column], 0-based, columns in characters.
"""

from __future__ import annotations

import functools
import mmap
import re
from collections.abc import Iterator
from pathlib import Path

from xref.python.scratch import SCIP

_DESCRIPTOR = re.compile(r"(?:`((?:[^`]|``)+)`|([\w+\-$]+))(\(\)\.|[#.:/])|\((?:`[^`]+`|[\w+\-$]+)\)|\[[^\]]+\]")


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _fields(data: mmap.mmap, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Field number, start and end of every length-delimited field in data[at:end]; varints are skipped."""
    while at < end:
        tag, at = _varint(data, at)
        if tag & 7 == 2:
            length, at = _varint(data, at)
            yield tag >> 3, at, at + length
            at += length
        elif tag & 7 == 0:
            _, at = _varint(data, at)
        else:
            raise ValueError(f"unexpected wire type {tag & 7} in the SCIP index")


class Scip:
    """An open index: `occurrences` of one file at a time."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as stream:
            self._data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        self._documents: dict[str, tuple[int, int]] = {}
        for number, start, end in _fields(self._data, 0, len(self._data)):
            if number == 2:
                inner = next(((a, b) for field, a, b in _fields(self._data, start, end) if field == 1), None)
                if inner:
                    self._documents[self._data[inner[0] : inner[1]].decode("utf-8", "replace")] = (start, end)
        self._symbols: dict[bytes, tuple[str, str, bool] | None] = {}

    def occurrences(self, path: str) -> dict[tuple[int, int], tuple[str, str, bool] | None]:
        """(line, column), both 1-based -> (module, qualname in it, whether it is of the tree), None for locals and
        parameters; {} when the index does not know the file.
        """
        found: dict[tuple[int, int], tuple[str, str, bool] | None] = {}
        data = self._data
        start, end = self._documents.get(path, (0, 0))
        for number, first, last in _fields(data, start, end):
            if number != 2:
                continue
            line = column = 0
            symbol = b""
            for inner, a, b in _fields(data, first, last):
                if inner == 1:
                    line, after = _varint(data, a)
                    column, _ = _varint(data, after)
                elif inner == 2:
                    symbol = data[a:b]
            if symbol not in self._symbols:
                self._symbols[symbol] = parse_symbol(symbol.decode("utf-8", "replace"))
            found.setdefault((line + 1, column + 1), self._symbols[symbol])
        return found


def parse_symbol(text: str) -> tuple[str, str, bool] | None:
    """Module, qualname ("" for the module itself) and whether it is of the tree; None for locals and parameters.

    `scip-python python xref 1 `a.b`/C#f().` is f of class C of module a.b of the tree (package `xref`, see
    typecheck.py); locals read `local 3`, parameters end in `(name)`.
    """
    parts = text.split(" ", 4)
    if len(parts) != 5 or parts[0] == "local":
        return None
    module = ""
    names: list[str] = []
    at = 0
    descriptors = parts[4]
    while at < len(descriptors):
        match = _DESCRIPTOR.match(descriptors, at)
        if match is None or not match[3]:
            return None
        name = match[1].replace("``", "`") if match[1] else match[2]
        if match[3] == "/":
            module = name
        elif match[3] != ":" or name != "__init__":
            names.append(name)
        at = match.end()
    return (module, ".".join(names), parts[2] == "xref") if module else None


@functools.lru_cache(maxsize=2)
def load_scip(scratch: Path) -> Scip | None:
    """The index in `scratch`, None when there is none; one copy in each process."""
    path = scratch / SCIP
    return Scip(path) if path.exists() and path.stat().st_size else None
