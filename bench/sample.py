"""Draw rows from an index by seed, with the source line of each, to check by eye: python bench/sample.py --kind calls.

The same index, kind, count and seed give the same rows, on any machine.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from xref.model import XrefError
from xref.store import open_index, read_meta


class Kind(NamedTuple):
    """What is drawn: the names of the columns before the place, their rows (place last), and an order of them that does
    not depend on how the index was made."""

    columns: tuple[str, ...]
    rows: str
    order: str


KINDS = {
    "ffi-keys": Kind(
        ("key", "side", "runs", "guard"),
        """SELECT d.name, d.side, coalesce(s.qualname, ''), d.guard, d.path, d.line
           FROM key_defs d LEFT JOIN symbols s ON s.id = d.symbol_id WHERE d.registry = 'ffi'""",
        "1, 5, 6, 3",
    ),
    "ffi-uses": Kind(
        ("key", "side", "status", "in"),
        """SELECT u.name, u.side, u.status, coalesce(s.qualname, ''), u.path, u.line
           FROM key_uses u LEFT JOIN symbols s ON s.id = u.in_symbol_id WHERE u.registry = 'ffi'""",
        "1, 5, 6, 4",
    ),
    "calls": Kind(
        ("caller", "callee", "evidence", "via"),
        """SELECT a.qualname, b.qualname, c.evidence, c.via, c.path, c.line
           FROM calls c JOIN symbols a ON a.id = c.caller_id JOIN symbols b ON b.id = c.callee_id""",
        "5, 6, 1, 2, 3, 4",
    ),
    "python-calls": Kind(
        ("caller", "callee", "evidence"),
        """SELECT a.qualname, b.qualname, c.evidence, c.path, c.line
           FROM calls c JOIN symbols a ON a.id = c.caller_id JOIN symbols b ON b.id = c.callee_id
           WHERE a.lang = 'python' AND b.lang = 'python' AND b.is_definition
             AND c.evidence IN ('direct', 'virtual', 'value')""",
        "4, 5, 1, 2, 3",
    ),
    "registry-calls": Kind(
        ("caller", "callee", "via"),
        """SELECT a.qualname, b.qualname, c.via, c.path, c.line
           FROM calls c JOIN symbols a ON a.id = c.caller_id JOIN symbols b ON b.id = c.callee_id
           WHERE c.evidence = 'registry'""",
        "4, 5, 1, 2, 3",
    ),
    "refs": Kind(
        ("symbol", "role", "in"),
        """SELECT s.qualname, r.role, coalesce(t.qualname, ''), r.path, r.line
           FROM refs r JOIN symbols s ON s.id = r.symbol_id LEFT JOIN symbols t ON t.id = r.in_symbol_id""",
        "4, 5, 1, 2, 3",
    ),
    "symbols": Kind(
        ("qualname", "kind", "signature"),
        """SELECT qualname, kind, signature, path, line FROM symbols
           WHERE is_definition AND kind NOT IN ('local', 'parameter')""",
        "4, 5, 1, 2, 3",
    ),
    "unresolved": Kind(
        ("text", "reason", "in"),
        """SELECT u.text, u.reason, coalesce(s.qualname, ''), u.path, u.line
           FROM unresolved u LEFT JOIN symbols s ON s.id = u.in_symbol_id""",
        "4, 5, 1, 2, 3",
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the drawn rows as tab-separated values."""
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("--kind", choices=sorted(KINDS), default="ffi-keys")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=_seed, default=0, help="a number, or a commit")
    parser.add_argument("--db", type=Path, default=Path("data/xref.db"))
    parser.add_argument("--where", default="", metavar="PREFIX", help="only rows of files whose path starts so")
    options = parser.parse_args(arguments)
    try:
        with closing(open_index(options.db)) as db:
            root = Path(read_meta(db).get("tree", "."))
            rows = draw(db, options.kind, options.count, options.seed, options.where)
    except XrefError as error:
        print(f"sample: {error}", file=sys.stderr)
        return error.exit_code
    print("\t".join((*KINDS[options.kind].columns, "place", "source")))
    for *shown, path, line in rows:
        values = (*map(str, shown), f"{path}:{line}", source_line(root, path, line))
        print("\t".join(" ".join(value.split()) for value in values))
    return 0


def _seed(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def draw(db: sqlite3.Connection, kind: str, count: int, seed: int | str, prefix: str = "") -> list[tuple[Any, ...]]:
    """`count` rows of `kind` (all, when there are fewer) from files below `prefix`, without repetition, in order."""
    sql = f"FROM ({KINDS[kind].rows}) WHERE substr(path, 1, length(?)) = ?"
    total = db.execute(f"SELECT count(*) {sql}", (prefix, prefix)).fetchone()[0]
    chosen = set(random.Random(seed).sample(range(total), min(count, total)))
    rows = db.execute(f"SELECT * {sql} ORDER BY {KINDS[kind].order}", (prefix, prefix))
    return [row for number, row in enumerate(rows) if number in chosen]


def source_line(root: Path, path: str | None, line: int) -> str:
    """The text of one line of the tree; "" when there is no such line."""
    try:
        with (root / (path or "")).open(encoding="utf-8", errors="replace") as stream:
            return next((text.strip() for number, text in enumerate(stream, 1) if number == line), "")
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
