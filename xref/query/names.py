"""Turns the name that a user types into symbols: by last part, qualified suffix, parameters, alias, key or line.

`.` and `::` are the same to a matcher, because users copy names from Python, from C++ and from keys alike. Parameters,
locals and symbols from outside the tree are offered only when nothing else bears the name.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from dataclasses import dataclass, field
from typing import NamedTuple

from xref.model import Id
from xref.query.converters import converters

ANONYMOUS = "(anonymous)"
"""The component of a C++ anonymous namespace; users may leave it out."""

_LESSER_KINDS = ("parameter", "template_parameter", "local")
_SEPARATOR = re.compile(r"::|\.")
_PLACE = re.compile(r"^(?P<path>[^\s:]+\.[A-Za-z_]\w*):(?P<line>\d+)(?::\d+)?$")
_FFI_MODULE = re.compile(r"_ffi(?:_\w+)?_api")
_TRAILING_WORDS = re.compile(r"\)\s*(?:const|noexcept|override|final|\s)*$")
_MAX_ALIAS_HOPS = 8
_MAX_BASES = 50


class Name(NamedTuple):
    """A name as typed: `text` without its parameter list, its components, and the parameters (None: none given)."""

    text: str
    parts: tuple[str, ...]
    params: tuple[str, ...] | None


class SymbolRow(NamedTuple):
    """A row of the view `symbols`, without the columns that no answer shows. `path` is None outside the tree."""

    id: Id
    lang: str
    kind: str
    name: str
    qualname: str
    path: str | None
    line: int
    end_line: int
    signature: str
    doc: str
    parent_id: Id | None
    is_definition: bool


COLUMNS = ", ".join(f"s.{field}" for field in SymbolRow._fields)
"""The columns of `SymbolRow`, of the view `symbols` under the name `s`."""


@dataclass(slots=True)
class Found:
    """What a name may mean: symbols, best first, and the (registry, name) of the keys that are called so or end so."""

    symbols: list[SymbolRow] = field(default_factory=list)
    keys: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.symbols or self.keys)


def parse_name(text: str) -> Name:
    """Split a name as a user types or pastes it.

    Takes `tvm::relax::FuseTIR`, `transform.FuseTIR`, `&Class::f`, `C::VisitExpr_(const CallNode*)`,
    `IRModule FuseTIR(IRModule mod)`, `Array<Expr>::push_back` (template arguments do not count), `X::operator()`.
    """
    text = text.strip().strip("`'\"").lstrip("…&").strip().rstrip("?;").strip()
    params: tuple[str, ...] | None = None
    match = _TRAILING_WORDS.search(text)
    if match:
        closed = text[: match.start() + 1]
        start = _opening(closed)
        head = closed[:start].rstrip()
        if start >= 0 and head and not re.search(r"(?:\boperator|::|\.)$", head):
            params = tuple(split_params(closed[start + 1 : -1]))
            text = head
    if " " in text and "operator" not in text and "{" not in text and not text.startswith(ANONYMOUS[:2]):
        text = text.split()[-1].lstrip("*&")
    return Name(text, tuple(components(text)), params)


def _opening(text: str) -> int:
    """Where the parenthesis that `text` ends with was opened; -1 when nowhere."""
    depth = 0
    for position in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[position], 0)
        if depth == 0:
            return position
    return -1


def components(qualname: str) -> list[str]:
    """`tvm::relax::transform::FuseTIR::{lambda: a.b}` -> its five components; template arguments are dropped."""
    if not any(mark in qualname for mark in "{(<") and "operator" not in qualname:
        return [part for part in _SEPARATOR.split(qualname) if part]
    parts: list[str] = []
    current: list[str] = []
    depth = position = 0
    while position < len(qualname):
        char = qualname[position]
        is_operator = "".join(current).startswith("operator")
        if char == "<" and current and not is_operator and not depth:
            position = _skip_template(qualname, position)
            continue
        if char in "{(" or (char == "<" and not is_operator):
            depth += 1
        elif char in "})" or (char == ">" and not is_operator):
            depth -= 1
        width = 2 if qualname.startswith("::", position) else 1 if char == "." else 0
        if width and depth <= 0:
            parts.append("".join(current))
            current = []
            position += width
            continue
        current.append(char)
        position += 1
    return [part for part in (*parts, "".join(current)) if part]


def _skip_template(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += {"<": 1, ">": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    return len(text)


def is_suffix(parts: tuple[str, ...], qualname: str) -> bool:
    """Whether `parts` end `qualname`; an anonymous namespace matches with or without being spelled."""
    own = components(qualname)
    if ANONYMOUS not in parts:
        own = [part for part in own if part != ANONYMOUS]
    return len(own) >= len(parts) and tuple(own[len(own) - len(parts) :]) == parts


def split_params(text: str) -> list[str]:
    """The parameters between a pair of parentheses; commas inside brackets do not split."""
    params: list[str] = []
    depth, start = 0, 0
    for position, char in enumerate(text):
        if char in "(<[{":
            depth += 1
        elif char in ")]}" or (char == ">" and text[position - 1 : position] != "-"):
            depth -= 1
        elif char == "," and depth == 0:
            params.append(text[start:position].strip())
            start = position + 1
    params.append(text[start:].strip())
    return [] if params in ([""], ["void"]) else params


def params_of(name: str, signature: str) -> list[str]:
    """The parameters in a symbol's signature, which may or may not begin with a result type and the name."""
    at = re.search(re.escape(name) + r"\s*\(", signature)
    start = at.end() - 1 if at else signature.find("(")
    if start < 0:
        return []
    depth = 0
    for position in range(start, len(signature)):
        depth += {"(": 1, ")": -1}.get(signature[position], 0)
        if depth == 0:
            return split_params(signature[start + 1 : position])
    return split_params(signature[start + 1 :])


def _tokens(param: str) -> list[str]:
    """A parameter's words without default, namespaces and blanks: `const tvm::Call& c = {}` -> const Call & c."""
    param = re.split(r"(?<![=!<>])=(?!=)", param)[0]
    param = re.sub(r"\b(?:class|struct|enum|typename)\s+", "", param)
    return re.findall(r"\w+|[^\w\s]", re.sub(r"(?:\w+\s*::\s*)+(?=\w)", "", param))


def _same_param(asked: list[str], own: list[str], *, loose: bool) -> bool:
    """Whether two parameters agree, each with its name or without; in Python, also without annotation."""
    if loose:
        asked, own = ([word for word in words if word not in ("const", "&", "*")] for words in (asked, own))
    unnamed = [words[:-1] if len(words) > 1 and re.match(r"\w", words[-1]) else words for words in (asked, own)]
    annotated = own[: own.index(":")] if ":" in own else own
    return asked in (own, unnamed[1], annotated) or unnamed[0] in (own, unnamed[1])


def with_params(symbols: list[SymbolRow], params: tuple[str, ...]) -> list[SymbolRow]:
    """Those of `symbols` that take `params`: exactly if one does, else leaving out const, & and *.

    `f()` is also how people write "the function f": when no candidate takes nothing, all of them are meant.
    """
    asked = [_tokens(param) for param in params]
    for loose in (False, True):
        fitting = []
        for symbol in symbols:
            own = [_tokens(param) for param in params_of(symbol.name, symbol.signature)]
            if len(own) == len(asked) and all(_same_param(a, o, loose=loose) for a, o in zip(asked, own, strict=True)):
                fitting.append(symbol)
        if fitting:
            return fitting
    return [] if params else symbols


def find(db: sqlite3.Connection, text: str, lang: str | None = None) -> Found:
    """What `text` may mean in the index; nothing found is a false value. `lang` keeps one language's symbols."""
    place = _PLACE.match(text.strip())
    if place:
        return Found(_enclosing(db, place["path"], min(int(place["line"]), sys.maxsize), lang))
    name = parse_name(text)
    if not name.parts:
        return Found()
    rows = _named(db, name)
    literal = [row for row in rows if row.qualname == name.text and len(name.parts) > 1]
    symbols = _follow_aliases(db, literal or rows)
    keys = [] if literal else _keys(db, name) or ([] if symbols else converters(db, text))
    if not literal:
        symbols += key_symbols(db, keys)
    if not symbols and len(name.parts) > 1:
        symbols = _members(db, name.parts, lang)
    if name.params is not None:
        symbols = with_params(symbols, name.params)
    symbols = _best_tier([row for row in dict.fromkeys(symbols) if lang in (None, row.lang)])
    return Found(_fold_members(symbols), keys)


def _named(db: sqlite3.Connection, name: Name) -> list[SymbolRow]:
    rows = db.execute(f"SELECT {COLUMNS} FROM symbols s WHERE s.name = ?", (name.parts[-1],))
    return [row for row in map(SymbolRow._make, rows) if is_suffix(name.parts, row.qualname)]


def _follow_aliases(db: sqlite3.Connection, rows: list[SymbolRow]) -> list[SymbolRow]:
    """`rows` with each alias replaced by what it stands for; an alias of nothing known stays."""
    result: list[SymbolRow] = []
    for alias in rows:
        row = alias
        for _ in range(_MAX_ALIAS_HOPS):
            target = (
                row.kind == "alias"
                and db.execute(
                    f"SELECT {COLUMNS} FROM relations r JOIN symbols s ON s.id = r.to_id"
                    " WHERE r.from_id = ? AND r.kind = 'alias'",
                    (row.id,),
                ).fetchone()
            )
            if not target:
                break
            row = SymbolRow._make(target)
        result.append(row)
    return result


def _members(db: sqlite3.Connection, parts: tuple[str, ...], lang: str | None) -> list[SymbolRow]:
    """A member named through an alias of its owner, or inherited: `tvm.relax.BlockBuilder.emit`, `Derived::f`."""
    owners = [symbol.id for symbol in find(db, ".".join(parts[:-1]), lang).symbols]
    seen: set[Id] = set()
    while owners:
        seen.update(owners)
        marks = ", ".join("?" * len(owners))
        rows = db.execute(
            f"SELECT {COLUMNS} FROM symbols s WHERE s.parent_id IN ({marks}) AND s.name = ?", (*owners, parts[-1])
        )
        if members := [SymbolRow._make(row) for row in rows]:
            return _follow_aliases(db, members)
        bases = db.execute(f"SELECT to_id FROM relations WHERE kind = 'base' AND from_id IN ({marks})", owners)
        owners = [base for (base,) in bases if base not in seen][:_MAX_BASES]
    return []


def _keys(db: sqlite3.Connection, name: Name) -> list[tuple[str, str]]:
    """Keys spelled like the name in any registry, and FFI functions that end in it.

    `tvm.relax.transform._ffi_api.FuseTIR` is how Python spells the key `relax.transform.FuseTIR`
    (tvm_ffi.init_ffi_api("relax.transform", __name__)); after a bare `_ffi_api.` any namespace will do.
    """
    exact = db.execute(
        "SELECT registry, name FROM key_def WHERE name = ?1 UNION SELECT registry, name FROM key_use WHERE name = ?1",
        (name.text,),
    ).fetchall()
    parts = name.parts
    at = next((i for i, part in enumerate(parts) if _FFI_MODULE.fullmatch(part)), None)
    if at is not None and parts[at + 1 :]:
        package = parts[1:at] if parts[0] == "tvm" else parts[:at]
        ending = _ending(db, ".".join(parts[at + 1 :]))
        spelled = ("ffi", ".".join((*package, *parts[at + 1 :])))
        return [spelled] if spelled in ending else ending
    return list(dict.fromkeys([*exact, *_ending(db, ".".join(parts))]))


def _ending(db: sqlite3.Connection, text: str) -> list[tuple[str, str]]:
    """The FFI functions whose last parts are `text`."""
    rows = db.execute(
        "SELECT registry, name FROM keys WHERE registry = 'ffi' AND name LIKE ? ESCAPE '\\'",
        ("%." + like_escape(text),),
    )
    return [(registry, key) for registry, key in rows if key.endswith("." + text)]


def key_symbols(db: sqlite3.Connection, keys: list[tuple[str, str]]) -> list[SymbolRow]:
    """What the definitions of `keys` run or name."""
    result: list[SymbolRow] = []
    for registry, key in keys:
        rows = db.execute(
            f"SELECT {COLUMNS} FROM key_defs k JOIN symbols s ON s.id = k.symbol_id"
            " WHERE k.registry = ? AND k.name = ?",
            (registry, key),
        )
        result += map(SymbolRow._make, rows)
    return result


def like_escape(text: str) -> str:
    """`text` to stand literally in a LIKE pattern with ESCAPE '\\'."""
    return re.sub(r"([\\%_])", r"\\\1", text)


def _best_tier(symbols: list[SymbolRow]) -> list[SymbolRow]:
    """Names of the tree before names from outside it before unresolved aliases, parameters and locals."""
    tiers: tuple[list[SymbolRow], list[SymbolRow], list[SymbolRow]] = ([], [], [])
    for symbol in symbols:
        lesser = symbol.kind in _LESSER_KINDS or symbol.kind == "alias"
        tiers[2 if lesser else 1 if symbol.path is None else 0].append(symbol)
    best = next((tier for tier in tiers if tier), [])
    return sorted(best, key=lambda s: (s.lang == "python", s.path or "~", s.line))


def _fold_members(symbols: list[SymbolRow]) -> list[SymbolRow]:
    """Leave out the constructors of a class that is itself a candidate: answers about a class include them."""
    ids = {symbol.id for symbol in symbols}
    return [s for s in symbols if not (s.kind == "constructor" and s.parent_id in ids)]


def _enclosing(db: sqlite3.Connection, path: str, line: int, lang: str | None) -> list[SymbolRow]:
    """The innermost function-like symbol around a line; `path` may lack its leading folders."""
    files = db.execute(
        "SELECT id FROM file WHERE path = ?1 OR path LIKE ?2 ESCAPE '\\'", (path, "%/" + like_escape(path))
    )
    result: list[SymbolRow] = []
    for (file_id,) in files.fetchall():
        rows = db.execute(
            f"SELECT {COLUMNS} FROM symbols s JOIN symbol i ON i.id = s.id WHERE i.file_id = ?1 AND i.line <= ?2"
            " AND i.end_line >= ?2 AND i.kind IN ('function', 'method', 'constructor', 'destructor', 'conversion',"
            " 'lambda', 'static_init', 'class', 'struct', 'macro', 'module')"
            " ORDER BY i.line DESC, i.end_line LIMIT 1",
            (file_id, line),
        )
        result += [row for row in map(SymbolRow._make, rows) if lang in (None, row.lang)]
    return result
