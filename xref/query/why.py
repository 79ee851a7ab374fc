"""The sentence behind an empty list: why the index knows no caller of a symbol, or nothing that it calls.

An empty list alone is what users trust least. Each reason is a fact with its place: a key, a base method, an address
taken, a call that could not be resolved and spells the name, files that could not be read.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Container

from xref.query.answers import CLASSES, base_methods
from xref.query.names import SymbolRow, like_escape
from xref.query.types import KeyDefRow, Match

LANGUAGES = {"cpp": "C++", "python": "Python", "cython": "Cython"}

_NO_LOOK_UP = "no look-up of it was found: names computed at run time, and tests, are not followed"
_SHOWN = 3
_VALUE_ROLES = "('address', 'read', 'decorator')"
_KIND_REASONS = {
    "static_init": "it runs when its library is loaded",
    "module": "a module runs when it is imported",
    "namespace": "a namespace is not called",
    "macro": "a macro is expanded, not called: see its references",
    "destructor": "destructors are called implicitly, where the object's life ends",
    "parameter": "it is a parameter",
    "local": "it is a local variable",
}
_DATA_KINDS = ("field", "variable", "enumerator", "enum", "typedef", "attribute", "property", "constant")


def why_no_callers(
    db: sqlite3.Connection, match: Match, spelled: Container[str] | None = None, unread: str | None = None
) -> str | None:
    """None when a caller in the symbol's own language is known; else the sentence that says why there is none.

    `spelled` holds every word of the unresolved calls: who asks of many symbols need not search them for each.
    `unread` is what to say of other files that were not read, in place of how many there are.
    """
    symbol = match.symbol
    if any(site.lang == symbol.lang or (site.lang, symbol.lang) == ("cython", "cpp") for site in match.calls):
        return None
    language = LANGUAGES.get(symbol.lang, symbol.lang)
    lead = f"no {language} caller" if match.calls else "no caller found"
    keys = _key_reasons(db, match)
    reasons = [
        *keys,
        *_base_reasons(db, symbol),
        *_value_reasons(db, symbol, bool(keys)),
        *([] if keys else _kind_reasons(db, symbol)),
        *_class_reasons(db, symbol),
    ]
    unresolved = _spelled(db, symbol) if spelled is None or symbol.name in spelled else []
    if not reasons:
        others = _unread(db, symbol, unread)
        reasons.append(f"nothing that was read in the tree calls it, takes its address or registers it{others}")
    return f"{lead}: " + "; ".join(reasons + unresolved)


def _key_reasons(db: sqlite3.Connection, match: Match) -> list[str]:
    keys = [key for key in match.keys if key.registry == "ffi"] or match.keys
    if not keys or match.symbol.kind in CLASSES:
        return []
    shown = [
        f"the {key.registry} key {key.name} registered at {key.path}:{key.line}"
        + (f" (built under {key.guard})" if key.guard else "")
        for key in keys[:_SHOWN]
    ]
    more = len(keys) - _SHOWN
    text = " and ".join(shown) + (f" and {more} more keys" if more > 0 else "")
    return [f"it is reached only through {text}" + ("" if match.calls else _how_used(db, keys))]


def _how_used(db: sqlite3.Connection, keys: list[KeyDefRow]) -> str:
    """How `keys` are looked up, where no call leads there: by name, by a prefix of it, or not at all."""
    prefixes: list[str] = []
    for key in keys:
        rows = db.execute(
            "SELECT name, path, line FROM key_uses WHERE registry = ?1 AND (name = ?2 OR status = 'wildcard'"
            " AND ?2 GLOB name) ORDER BY path, line",
            (key.registry, key.name),
        ).fetchall()
        if any(name == key.name for name, _, _ in rows):
            return ""
        prefixes += [f"{name} at {path}:{line}" for name, path, line in rows]
    if prefixes:
        return f", by names put together at run time: {_some(list(dict.fromkeys(prefixes)))}"
    return f", and {_NO_LOOK_UP}"


def _base_reasons(db: sqlite3.Connection, symbol: SymbolRow) -> list[str]:
    bases = base_methods(db, symbol.id)
    outside = [base.qualname for base in bases if base.path is None]
    inside = [f"{base.qualname} ({base.path}:{base.line})" for base in bases if base.path is not None]
    reasons = []
    if outside:
        reasons.append(f"it overrides {', '.join(outside[:_SHOWN])}, which code outside the tree calls")
    if inside:
        reasons.append(f"it overrides {', '.join(inside[:_SHOWN])}, for which no dispatching call was found either")
    return reasons


def _value_reasons(db: sqlite3.Connection, symbol: SymbolRow, registered: bool) -> list[str]:
    """Places that take the function as a value. A registration does so too: its static initialiser is not repeated."""
    rows = db.execute(
        "SELECT DISTINCT r.path, r.line, coalesce(i.kind, '') FROM refs r LEFT JOIN symbol i ON i.id = r.in_symbol_id"
        f" WHERE r.symbol_id = ?1 AND r.role IN {_VALUE_ROLES} AND r.in_symbol_id IS NOT ?1 ORDER BY r.path, r.line",
        (symbol.id,),
    ).fetchall()
    places = [f"{path}:{line}" for path, line, around in rows if not (registered and around == "static_init")]
    if not places or symbol.kind in (*_DATA_KINDS, *CLASSES):
        return []
    verb = "its address is taken" if symbol.lang == "cpp" else "it is used as a value"
    return [f"{verb} at {_some(places)}, so it may be called through that value"]


def _kind_reasons(db: sqlite3.Connection, symbol: SymbolRow) -> list[str]:
    if symbol.path is None:
        return ["it is defined outside the tree"]
    if symbol.kind == "lambda":
        return [f"it is a lambda, run by whatever the code at {symbol.path}:{symbol.line} hands it to"]
    if symbol.kind in _DATA_KINDS:
        count = db.execute("SELECT count(*) FROM refs WHERE symbol_id = ?", (symbol.id,)).fetchone()[0]
        return [f"it is a {symbol.kind}, which is not called: see its {count} references"]
    if symbol.lang == "python" and symbol.name in ("__init__", "__new__"):
        return ["constructing its class runs it, and no such construction was found"]
    if symbol.lang == "python" and re.fullmatch(r"__\w+__", symbol.name):
        return ["Python itself calls this special method, for an operator or a protocol"]
    if symbol.kind in _KIND_REASONS:
        return [_KIND_REASONS[symbol.kind]]
    return [] if symbol.is_definition else ["the tree declares it, but does not define it"]


def _class_reasons(db: sqlite3.Connection, symbol: SymbolRow) -> list[str]:
    if symbol.kind not in CLASSES:
        return []
    rows = db.execute(
        "SELECT s.qualname, s.path, s.line FROM relations r JOIN symbols s ON s.id = r.from_id"
        " WHERE r.to_id = ? AND r.kind = 'base' ORDER BY s.path, s.line",
        (symbol.id,),
    ).fetchall()
    derived = [f"{name} ({path}:{line})" for name, path, line in rows]
    reasons = ["nothing constructs this class by name: see its references"]
    return [*reasons, f"{len(derived)} classes derive from it: {_some(derived)}"] if derived else reasons


def _spelled(db: sqlite3.Connection, symbol: SymbolRow) -> list[str]:
    """Unresolved calls of the symbol's language whose text has its name as a word: any of them may be a caller.

    Not those whose named part is resolved: of `f(x)(y)` only the outer call is unresolved, and it is not `f`.
    """
    if symbol.kind == "macro" or not re.fullmatch(r"(?!__\w+__$)\w+", symbol.name):
        return []
    rows = db.execute(
        "SELECT f.path, u.line, u.text FROM unresolved_call u JOIN file f ON f.id = u.file_id"
        " WHERE u.text LIKE ?1 ESCAPE '\\' AND (f.lang = 'cpp') = (?2 = 'cpp') AND NOT EXISTS"
        " (SELECT 1 FROM call c WHERE c.file_id = u.file_id AND c.line = u.line AND c.col = u.col)"
        " ORDER BY f.path, u.line",
        (f"%{like_escape(symbol.name)}%", symbol.lang),
    )
    word = re.compile(rf"\b{re.escape(symbol.name)}\b")
    places = list(dict.fromkeys(f"{path}:{line}" for path, line, text in rows if word.search(text)))
    if not places:
        return []
    calls = "1 unresolved call spells" if len(places) == 1 else f"{len(places)} unresolved calls spell"
    return [f"{calls} this name, at {_some(places)}"]


def _some(places: list[str]) -> str:
    more = len(places) - _SHOWN
    return ", ".join(places[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _unread(db: sqlite3.Connection, symbol: SymbolRow, others: str | None) -> str:
    """What of the tree was not read, in parentheses: the symbol's own file before the number of others."""
    own = db.execute("SELECT status, detail FROM files WHERE path = ?", (symbol.path,)).fetchone()
    if own and own[0] != "ok":
        return f" (its own file is {own[0]}: {own[1]})"
    if others is not None:
        return f" ({others})" if others else ""
    rows = dict(db.execute("SELECT status, count(*) FROM files WHERE status IN ('degraded', 'failed') GROUP BY status"))
    if not rows:
        return ""
    parts = [f"{count} {'files are' if count > 1 else 'file is'} {status}" for status, count in sorted(rows.items())]
    return f" ({' and '.join(parts)}: `xref doctor` lists them)"


def why_no_callees(db: sqlite3.Connection, match: Match) -> str | None:
    """None when calls are known; else why the symbol calls nothing, as far as the index knows."""
    symbol = match.symbol
    if match.calls:
        return None
    unresolved = db.execute("SELECT path, line, text FROM unresolved WHERE in_symbol_id = ?", (symbol.id,)).fetchall()
    if unresolved:
        places = [f"{path}:{line} {text}" for path, line, text in unresolved]
        return f"no resolved call: {len(unresolved)} could not be resolved, at {_some(places)}"
    if symbol.path is None:
        return "no call known: it is defined outside the tree"
    if not symbol.is_definition:
        return f"no call known: the tree declares it at {symbol.path}:{symbol.line}, but does not define it"
    if symbol.kind in _DATA_KINDS or symbol.kind == "namespace":
        return f"no call: it is a {symbol.kind}"
    return "no call in its body"


def unresolved_inside(db: sqlite3.Connection, symbol: SymbolRow) -> list[tuple[str, int, str, str]]:
    """(path, line, text, reason) of the calls in `symbol` that could not be resolved."""
    return db.execute(
        "SELECT DISTINCT path, line, text, reason FROM unresolved WHERE in_symbol_id = ? ORDER BY path, line",
        (symbol.id,),
    ).fetchall()
