"""Names near one that the index lacks: by camel humps (`FuTIR` -> `FuseTIR`), trigrams in common, difflib's ratio."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from difflib import SequenceMatcher

from xref.query.names import like_escape, parse_name

_SUGGESTIONS = 8
_CANDIDATES = 500
_LEAST_RATIO = 0.6
_IGNORED_KINDS = "('parameter', 'local', 'alias')"


def near_names(db: sqlite3.Connection, text: str, limit: int = _SUGGESTIONS) -> list[str]:
    """Up to `limit` names of symbols, best first, that the user may have meant by `text`."""
    parts = parse_name(text).parts
    if not parts:
        return []
    wanted = parts[-1]
    humps = _humps(wanted)
    pattern = re.compile(r"\w*?".join(map(re.escape, humps)))
    matcher = SequenceMatcher(None, "", wanted.lower())
    scored: list[tuple[float, int, str]] = []
    for name in _candidates(db, wanted, humps):
        matcher.set_seq1(name.lower())
        score = 0.0
        if matcher.real_quick_ratio() >= _LEAST_RATIO and matcher.quick_ratio() >= _LEAST_RATIO:
            score = matcher.ratio()
        if name.lower() == wanted.lower():
            score += 2
        elif len(humps) > 1 and pattern.match(name):
            score += 1
        if score >= _LEAST_RATIO:
            scored.append((-score, len(name), name))
    return [name for *_, name in sorted(scored)[:limit]]


def near_keys(db: sqlite3.Connection, text: str, limit: int = _SUGGESTIONS) -> list[str]:
    """Up to `limit` names of keys that the user may have meant by `text`."""
    last = text.rsplit(".", 1)[-1]
    rows = db.execute(
        "SELECT DISTINCT name FROM keys WHERE name LIKE ?1 ESCAPE '\\' OR name LIKE ?2 ESCAPE '\\'",
        (f"%{like_escape(last)}%", like_escape(text[: max(3, len(text) // 2)]) + "%"),
    )
    scored = [(-SequenceMatcher(None, text.lower(), name.lower()).ratio(), name) for (name,) in rows.fetchmany(2000)]
    return [name for _, name in sorted(scored)[:limit]]


def _humps(name: str) -> list[str]:
    """`FuTIR` -> Fu, TIR; `fuse_tir` -> fuse, tir; `VisitExpr_` -> Visit, Expr, _."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]|_+", name) or [name]


def _candidates(db: sqlite3.Connection, wanted: str, humps: list[str]) -> set[str]:
    """Names that have `wanted`'s humps in order, that begin like it and are about as long, or share its trigrams.

    The second rule is for two letters swapped, which leave few trigrams in common.
    """
    names: set[str] = set()
    conditions: list[tuple[str, tuple[str | int, ...]]] = [
        ("name GLOB ? AND length(name) BETWEEN ? AND ?", (_glob(wanted[:2]), len(wanted) - 2, len(wanted) + 2))
    ]
    if len(humps) > 1:
        conditions.append(("name GLOB ?", ("".join(map(_glob, humps)),)))
    for condition, parameters in conditions:
        rows = db.execute(
            f"SELECT DISTINCT name FROM symbol WHERE {condition} AND kind NOT IN {_IGNORED_KINDS} LIMIT ?",
            (*parameters, _CANDIDATES),
        )
        names.update(name for (name,) in rows)
    common: Counter[int] = Counter()
    for trigram in {wanted[i : i + 3].replace('"', '""') for i in range(len(wanted) - 2)}:
        rows = db.execute("SELECT rowid FROM name_trigram WHERE name_trigram MATCH ?", (f'"{trigram}"',))
        common.update(row for (row,) in rows)
    best = [row for row, _ in common.most_common(_CANDIDATES)]
    rows = db.execute("SELECT name FROM symbol WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(best),))
    names.update(name for (name,) in rows)
    return names


def _glob(prefix: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", prefix) + "*"


def names_with_prefix(db: sqlite3.Connection, prefix: str, limit: int = 50) -> list[str]:
    """Names of symbols that begin with `prefix`, by the name index: what a shell offers on Tab."""
    rows = db.execute(
        f"SELECT DISTINCT name FROM symbol WHERE name GLOB ? AND kind NOT IN {_IGNORED_KINDS} LIMIT ?",
        (_glob(prefix), limit),
    )
    return [name for (name,) in rows]
