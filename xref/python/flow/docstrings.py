"""Reads the types that numpydoc sections of a docstring give to parameters and results, as annotations.

TVM documents its older half this way (`data : tvm.te.Tensor`, `args : list of Expr`, `x : Expr or int, optional`); see
https://numpydoc.readthedocs.io/en/latest/format.html. What does not read as names of classes says nothing.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import NamedTuple

_SECTION = re.compile(r"^[ \t]*(\w[\w ]*)\n[ \t]*-{3,}[ \t]*$", re.MULTILINE)
_ENTRY = re.compile(r"^(\*{0,2}\w[\w, *]*?)[ \t]*:[ \t]*(\S.*)$")
_CLASS = re.compile(r"[A-Za-z_][\w.]*(?:\[[\w., \[\]|\"']*\])?$")
_OF = re.compile(r"(?i)(?:an? )?(list|tuple|array|sequence|set|iterable)s? of (.+)$")
_MANNER = re.compile(r",?\s*(?:optional|default\b.*|required)\s*$", re.IGNORECASE)
_LONGEST = 160


class DocumentedTypes(NamedTuple):
    """`parameters`: name -> type. `result`: the type of what is returned, None when it is not told."""

    parameters: dict[str, ast.expr]
    result: ast.expr | None


NO_TYPES = DocumentedTypes({}, None)


def documented_types(doc: str | None) -> DocumentedTypes:
    """The types that a docstring tells."""
    if not doc or "---" not in doc:
        return NO_TYPES
    parameters: dict[str, ast.expr] = {}
    results: list[ast.expr | None] = []
    heads = list(_SECTION.finditer(doc))
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(doc)
        entries = _entries(doc[head.end() : end])
        if head[1].strip() in ("Parameters", "Other Parameters"):
            for name, text in entries:
                found = read_type(text)
                if found is not None:
                    parameters.update((one.strip(" *"), found) for one in name.split(","))
        elif head[1].strip() == "Returns":
            results = [read_type(text) for _, text in entries]
    return DocumentedTypes(parameters, results[0] if len(results) == 1 else None)


def _entries(text: str) -> list[tuple[str, str]]:
    """The lines of a section that are indented least, cut at their colon."""
    lines = [line for line in text.expandtabs().split("\n") if line.strip()]
    if not lines:
        return []
    least = min(len(line) - len(line.lstrip()) for line in lines)
    matches = (_ENTRY.match(line[least:]) for line in lines if not line[least : least + 1].isspace())
    return [(match[1], match[2].strip()) for match in matches if match is not None]


@lru_cache(maxsize=4096)
def read_type(text: str) -> ast.expr | None:
    """A type as numpydoc writes it, as an annotation; None when it is prose."""
    text = _MANNER.sub("", text.strip().strip("`").rstrip(".")).strip()
    if not text or len(text) > _LONGEST:
        return None
    several = _OF.match(text)
    if several is not None:
        element = read_type(several[2])
        return _parse(f"list[{ast.unparse(element)}]") if element is not None else None
    parts = [part.strip().strip("`") for part in re.split(r"\s+or\s+|,\s*or\s+", text)]
    if len(parts) > 1:
        known = [found for part in parts if (found := read_type(part)) is not None]
        return _parse(" | ".join(map(ast.unparse, known))) if known else None
    return _parse(text) if _CLASS.match(text) else None


def _parse(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
