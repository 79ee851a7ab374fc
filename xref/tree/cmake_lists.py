"""Lists of CMake as this reader keeps them: elements with the conditions under which they are there, and globs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xref.tree.cmake_logic import Command, Condition, simplify

ROOT = "@"
"""Stands for the folder of the tree in a path, so that no path of this machine enters."""


class Item(NamedTuple):
    """One element of a list, and the conditions under which it is there."""

    text: str
    when: Condition


def glob_regex(pattern: str, recursive: bool) -> str:
    folder, _, name = pattern.rpartition("/")
    regex = _wildcards(folder) + "/" if folder else ""
    return regex + ("(?:.*/)?" if recursive else "") + _wildcards(name)


def _wildcards(text: str) -> str:
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)) for char in text)


def anchored(path: str) -> str:
    return f"{ROOT}/{path}" if path else ROOT


def implies(inner: Condition, outer: Condition) -> bool:
    """Whether `inner` holds only where `outer` does, clause by clause."""
    return all(any(clause >= other for other in outer) for clause in inner)


def merged(items: Iterable[Item]) -> list[Item]:
    """One item for each text, under any of its conditions, in order of first appearance."""
    found: dict[str, Condition] = {}
    for item in items:
        if item.when:
            found[item.text] = simplify((*found[item.text], *item.when)) if item.text in found else item.when
    return [Item(text, when) for text, when in found.items()]


def filtered(items: Iterable[Item], pattern: str, include: bool) -> list[Item]:
    try:
        regex = re.compile(pattern)
    except re.error:
        return list(items)
    return [item for item in items if bool(regex.search(item.text)) == include]


def end_of(body: Sequence[Command], start: int, opener: str) -> int:
    """The index of the command that closes a block opened before `start`; the end when it is never closed."""
    depth = 1
    for at in range(start, len(body)):
        depth += (body[at].name == opener) - (body[at].name == f"end{opener}")
        if not depth:
            return at
    return len(body)
