"""Names near one that the index lacks: by camel humps (`FuTIR` -> `FuseTIR`), trigrams in common, difflib's ratio."""

from __future__ import annotations

import re
import sqlite3
from difflib import SequenceMatcher

from xref.query_names import like_escape, parse_name

_SUGGESTIONS = 8
_CANDIDATES = 300
_LEAST_RATIO = 0.6
_SHORT = 6
"""Two letters swapped in a name this short leave no trigram in common."""

_IGNORED_KINDS = "('parameter', 'local', 'alias')"


def near_names(db: sqlite3.Connection, text: str, limit: int = _SUGGESTIONS) -> list[str]:
    """Up to `limit` names of symbols, best first, that the user may have meant by `text`."""
    parts = parse_name(text).parts
    if not parts:
        return []
    wanted = parts[-1]
    humps = _humps(wanted)
    pattern = re.compile(r"\w*?".join(map(re.escape, humps)))
    scored: list[tuple[float, int, str]] = []
    for name in _candidates(db, wanted, humps):
        score = SequenceMatcher(None, wanted.lower(), name.lower()).ratio()
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


def _candidates(db: sqlite3.Connection, wanted: str, humps: list[str]) -> list[str]:
    """Names that begin like `wanted`'s first hump (by index) or share trigrams with it (full-text table)."""
    names: dict[str, None] = {}
    if len(humps) > 1:
        pattern = "".join(map(_glob, humps))
        rows = db.execute(
            f"SELECT DISTINCT name FROM symbol WHERE name GLOB ? AND kind NOT IN {_IGNORED_KINDS} LIMIT ?",
            (pattern, _CANDIDATES),
        )
        names.update((name, None) for (name,) in rows)
    trigrams = {wanted[i : i + 3].replace('"', '""') for i in range(len(wanted) - 2)}
    if trigrams:
        rows = db.execute(
            "SELECT s.name FROM name_trigram t JOIN symbol s ON s.id = t.rowid WHERE t.name_trigram MATCH ?"
            f" AND s.kind NOT IN {_IGNORED_KINDS} ORDER BY t.rank LIMIT ?",
            (" OR ".join(f'"{trigram}"' for trigram in sorted(trigrams)), _CANDIDATES),
        )
        names.update((name, None) for (name,) in rows)
    if len(wanted) <= _SHORT:
        rows = db.execute(
            f"SELECT DISTINCT name FROM symbol WHERE name GLOB ? AND length(name) BETWEEN ? AND ?"
            f" AND kind NOT IN {_IGNORED_KINDS} LIMIT ?",
            (_glob(wanted[:2]), len(wanted) - 1, len(wanted) + 1, _CANDIDATES),
        )
        names.update((name, None) for (name,) in rows)
    return list(names)


def _glob(prefix: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", prefix) + "*"


def names_with_prefix(db: sqlite3.Connection, prefix: str, limit: int = 50) -> list[str]:
    """Names of symbols that begin with `prefix`, by the name index: what a shell offers on Tab."""
    rows = db.execute(
        f"SELECT DISTINCT name FROM symbol WHERE name GLOB ? AND kind NOT IN {_IGNORED_KINDS} LIMIT ?",
        (_glob(prefix), limit),
    )
    return [name for (name,) in rows]
