"""Digests of a file's text and facts by blocks of lines: what tells which lines of a changed file have changed.

Most edits leave most of a file as it was, and what the file mentions there looks on every page as it did.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path

from xref.model import Id
from xref.site.assets import digest
from xref.site.sources import read_bytes

LINES = 16
"""Lines of a block: TVM's 40,000 blocks are 0.2 MB in the state of a site."""
_TEXT, _FACTS_DIGITS = 4, 5
_DIGITS = _TEXT + _FACTS_DIGITS
"""Of a block's digest: of its text, of the facts."""
_FACTS = (
    "SELECT line, col, symbol_id, role, in_symbol_id FROM refs WHERE path = ?",
    "SELECT line, col, caller_id, callee_id, evidence, via FROM calls WHERE path = ?",
    "SELECT line, col, in_symbol_id, text, reason FROM unresolved WHERE path = ?",
    "SELECT line, registry, name, side, symbol_id, guard, note FROM key_defs WHERE path = ?",
    "SELECT line, registry, name, side, in_symbol_id, status FROM key_uses WHERE path = ?",
    "SELECT line, symbol_id, kind, end_line FROM locations WHERE path = ?",
)
"""All that a file says, by line."""
_CALLS = ("SELECT line, callee_id FROM calls WHERE path = ?", "SELECT line, caller_id FROM calls WHERE path = ?")
_MENTIONS = (
    "SELECT line, symbol_id FROM refs WHERE path = ?",
    "SELECT line, in_symbol_id FROM unresolved WHERE path = ?",
    "SELECT line, symbol_id FROM key_defs WHERE path = ?",
    "SELECT line, in_symbol_id FROM key_uses WHERE path = ?",
    "SELECT line, symbol_id FROM locations WHERE path = ?",
    "SELECT u.line, d.symbol_id FROM key_uses u JOIN key_defs d USING (registry, name) WHERE u.path = ?",
)
"""The symbols whose pages show something of a line, those of `_CALLS` too."""


def blocks_of(db: sqlite3.Connection, root: Path, path: str) -> str:
    """The digests of the blocks of `path`, one after the other."""
    lines = (read_bytes(root, path) or b"").split(b"\n")
    texts = [b"\n".join(lines[at : at + LINES]) for at in range(0, len(lines), LINES)]
    blocks: list[list[object]] = [[] for _ in texts]
    for query in _FACTS:
        order = ", ".join(map(str, range(1, query.partition(" FROM ")[0].count(",") + 2)))
        for row in db.execute(f"{query} ORDER BY {order}", (path,)):
            at = block_of(row[0])
            while at >= len(blocks):  # the file is no longer the one that was indexed
                blocks.append([])
                texts.append(b"")
            blocks[at].append(row)
    return "".join(
        digest(text, _TEXT) + digest((text, block), _FACTS_DIGITS) for text, block in zip(texts, blocks, strict=True)
    )


def changed_blocks(old: str, new: str, *, text: bool = False) -> set[int]:
    """The numbers of the blocks that differ; with `text`, whose text differs."""
    size, digits = max(len(old), len(new)), _TEXT if text else _DIGITS
    return {at // _DIGITS for at in range(0, size, _DIGITS) if old[at : at + digits] != new[at : at + digits]}


def meets(blocks: Collection[int], first: int, last: int) -> bool:
    """Whether any of the lines from `first` to `last` is in one of some blocks."""
    return any(at in blocks for at in range(block_of(first), block_of(last) + 1))


def mentioned(db: sqlite3.Connection, path: str, blocks: Collection[int], written: Collection[int]) -> Iterator[Id]:
    """The symbols that some blocks of a file mention, define, register or look up, or in blocks that were `written`
    anew, call or call from. Elsewhere the marks of both ends tell of a call that came or went: a line of a template
    that everybody uses calls thousands of functions.
    """
    for queries, where in ((_MENTIONS, blocks), (_CALLS, written)):
        for query in queries if where else ():
            for line, id_ in db.execute(query, (path,)):
                if id_ is not None and block_of(line) in where:
                    yield id_


def calls_in(db: sqlite3.Connection, path: str, blocks: Collection[int]) -> Iterator[tuple[Id, Id]]:
    """Caller and callee of the calls in some blocks of a file."""
    for line, caller, callee in db.execute("SELECT line, caller_id, callee_id FROM calls WHERE path = ?", (path,)):
        if block_of(line) in blocks:
            yield caller, callee


def block_of(line: int) -> int:
    """The block of a line, counted from 1; 0, an unknown line, counts to the first."""
    return max(0, line - 1) // LINES
