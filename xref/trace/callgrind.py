"""Reads what callgrind wrote: which function of machine code called which, how often, and how many instructions that
took. The format is valgrind's (docs/html/cl-format.html); names come demangled.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_COMPRESSED = re.compile(r"\((\d+)\)(?: (.*))?")
_RECURSION = re.compile(r"'\d+$")
_ADDRESS = re.compile(r"0x[0-9a-f]+")


class Place(NamedTuple):
    """A function as callgrind knows it. `library` is its file's name; `name` is "" when the library has no symbol for
    it, then `address` is where it begins in the library; `file` is its source by debug information, else "".
    """

    library: str
    name: str
    address: int
    file: str


def read_edges(path: Path) -> dict[tuple[Place, Place], tuple[int, int]]:
    """(caller, callee) -> number of calls, and instructions executed in them with all that was inside. Levels of a
    recursion are put together. Raises OSError, and ValueError when `path` is no output of callgrind.
    """
    totals: dict[tuple[Place, Place], list[int]] = defaultdict(lambda: [0, 0])
    for edge, calls, cost in _Reader().edges(path):
        totals[edge][0] += calls
        totals[edge][1] += cost
    return {edge: (calls, cost) for edge, (calls, cost) in totals.items()}


class _Reader:
    """Keeps the names that the format abbreviates: each kind of name has its own numbers."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, str]] = {"ob": {}, "fl": {}, "fn": {}}

    def _name(self, kind: str, text: str) -> str:
        matched = _COMPRESSED.fullmatch(text)
        if matched is None:
            return text
        number, name = matched.groups()
        if name is not None:
            self._names[kind][number] = name
        return self._names[kind][number]

    def edges(self, path: Path) -> Iterator[tuple[tuple[Place, Place], int, int]]:
        library = file = callee_library = callee_file = ""
        caller = callee = Place("", "", 0, "")
        with open(path, encoding="utf-8", errors="replace") as stream:
            if not next(stream, "").startswith("# callgrind format"):
                raise ValueError(f"{path} is no output of callgrind")
            lines = iter(stream)
            for line in lines:
                word, sep, value = line.rstrip("\n").partition("=")
                if not sep:
                    continue
                if word == "ob":
                    library = self._name("ob", value)
                elif word in ("fl", "fi", "fe"):
                    name = self._name("fl", value)
                    file = name if word == "fl" else file
                elif word == "fn":
                    caller = _place(library, self._name("fn", value), file)
                    callee_library, callee_file = library, file
                elif word == "cob":
                    callee_library = self._name("ob", value)
                elif word in ("cfi", "cfl"):
                    callee_file = self._name("fl", value)
                elif word == "cfn":
                    callee = _place(callee_library, self._name("fn", value), callee_file)
                elif word == "calls":
                    cost = next(lines).split()
                    yield (caller, callee), int(value.split()[0]), int(cost[1]) if len(cost) > 1 else 0
                    callee_library, callee_file = library, file


def _place(library: str, name: str, file: str) -> Place:
    name = _RECURSION.sub("", name)
    library = library.rpartition("/")[2]
    file = "" if file == "???" else file
    if _ADDRESS.fullmatch(name):
        return Place(library, "", int(name, 16), file)
    return Place(library, name, 0, file)
