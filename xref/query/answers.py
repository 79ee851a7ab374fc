"""Answers about one symbol, read from the index: its keys, callers, callees, places and references, each with evidence.

An answer never says "nothing" alone: `why` gives the reason. Static calls and what runs observed are merged by
site, so that one line shows both.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable

from xref import graph
from xref.model import Evidence, Id
from xref.query.names import COLUMNS, SymbolRow
from xref.query.types import OBSERVED, OUTSIDE, CallSite, Crossing, KeyDefRow, Match, Place, RefRow, place_of

CLASSES = ("class", "struct", "union")
_CONSTRUCTORS = ("__init__", "__new__")


def describe(db: sqlite3.Connection, symbol: SymbolRow) -> Match:
    """What every answer says of a symbol: its public name and its keys."""
    aliases = _aliases(db, symbol.id)
    return Match(symbol, public=_public(symbol.qualname, aliases), keys=keys_of(db, symbol.id), aliases=aliases)


def keys_of(db: sqlite3.Connection, symbol_id: Id) -> list[KeyDefRow]:
    """The definitions of keys that run or name a symbol."""
    rows = db.execute(
        "SELECT registry, name, side, path, line, symbol_id, guard, note FROM key_defs WHERE symbol_id = ?"
        " ORDER BY registry, name, path, line",
        (symbol_id,),
    )
    return [KeyDefRow._make(row) for row in rows]


def _aliases(db: sqlite3.Connection, symbol_id: Id) -> list[str]:
    rows = db.execute(
        "SELECT s.qualname FROM relations r JOIN symbols s ON s.id = r.from_id WHERE r.to_id = ? AND r.kind = 'alias'",
        (symbol_id,),
    )
    return sorted((name for (name,) in rows), key=lambda name: (name.count("."), len(name), name))


def _public(qualname: str, aliases: list[str]) -> str:
    """The path by which users import a Python name: re-exported by a package around the module that defines it."""
    for alias in aliases:
        owner = alias.rpartition(".")[0]
        if owner and qualname.startswith(owner + ".") and len(alias) < len(qualname):
            return alias
    return qualname


def callable_ids(db: sqlite3.Connection, symbol: SymbolRow, *, members: bool = False) -> list[Id]:
    """The symbol, and for a class its constructors: calling the class runs them. With `members`, all its methods."""
    if symbol.kind not in CLASSES:
        return [symbol.id]
    rows = db.execute(
        "SELECT id FROM symbols WHERE parent_id = ?1 AND (kind = 'constructor' OR name IN (?2, ?3) OR"
        " (?4 AND kind IN ('method', 'function')))",
        (symbol.id, *_CONSTRUCTORS, members),
    )
    return [symbol.id, *(id_ for (id_,) in rows)]


def callers(db: sqlite3.Connection, symbol: SymbolRow) -> Match:
    """Who calls `symbol`; through its base methods too, with evidence `virtual`."""
    match = describe(db, symbol)
    ids = callable_ids(db, symbol)
    sites = _sites(db, graph.edges_of(db, ids, "callers", set(Evidence)), "callers")
    if symbol.kind in ("method", "destructor"):
        known = {(site.id, site.path, site.line, site.col) for site in sites}
        sites += [site for site in _through_bases(db, symbol) if (site.id, site.path, site.line, site.col) not in known]
    _merge_observed(db, ids, "callers", sites)
    match.calls = sorted(sites, key=lambda s: (graph.STRENGTH.get(s.evidence, 99), s.path, s.line, s.col, s.name))
    match.uses = _crossings(db, ids)
    return match


def callees(db: sqlite3.Connection, symbol: SymbolRow) -> Match:
    """What `symbol` calls, itself or in the lambdas and functions written in it, in the order of the code."""
    match = describe(db, symbol)
    inner = _functions_in(db, symbol)
    ids = [*callable_ids(db, symbol), *inner]
    sites = _callee_sites(db, ids, inner)
    _merge_observed(db, ids, "callees", sites)
    match.calls = sorted(sites, key=lambda s: (s.path, s.line, s.col, graph.STRENGTH.get(s.evidence, 99), s.name))
    return match


def _callee_sites(db: sqlite3.Connection, ids: list[Id], inner: dict[Id, str] | None = None) -> list[CallSite]:
    edges = graph.edges_of(db, ids, "callees", set(Evidence))
    sites = _sites(db, edges, "callees")
    for site, edge in zip(sites, edges, strict=True):
        site.inside = (inner or {}).get(edge.caller, "")
    return sites


def _crossings(db: sqlite3.Connection, ids: list[Id]) -> list[Crossing]:
    result = []
    for site in _callee_sites(db, ids):
        if site.evidence == Evidence.REGISTRY:
            at = [f"{key.path}:{key.line}" for key in keys_of(db, site.id) if key.name == site.via]
            result.append(Crossing(site.via, site.line, site.name, site.place, at[0] if at else ""))
    return result


def _functions_in(db: sqlite3.Connection, symbol: SymbolRow) -> dict[Id, str]:
    """The lambdas and functions written in `symbol`, at any depth: id -> name."""
    rows = db.execute(
        "WITH RECURSIVE inside(id, name) AS (SELECT ?, '' UNION SELECT s.id, s.name FROM inside i"
        " JOIN symbol p ON p.id = i.id JOIN symbols s ON s.parent_id = p.id"
        f" WHERE {graph.INNER_FUNCTIONS}) SELECT id, name FROM inside WHERE name <> ''",
        (symbol.id,),
    )
    return dict(rows.fetchall())


def _sites(db: sqlite3.Connection, edges: list[graph.Edge], direction: graph.Direction) -> list[CallSite]:
    """`edges` with the names of their far ends, in the same order."""
    far = [edge.caller if direction == "callers" else edge.callee for edge in edges]
    rows = symbol_rows(db, far)
    sites: list[CallSite] = []
    for edge, other in zip(edges, far, strict=True):
        row = rows.get(other)
        name, lang = (row.qualname, row.lang) if row else (OUTSIDE, "")
        place = place_of(row.path, row.line) if row and row.path and direction == "callees" else ""
        sites.append(CallSite(other, name, lang, edge.path, edge.line, edge.col, edge.evidence, edge.via, place=place))
    return sites


def symbol_rows(db: sqlite3.Connection, ids: Iterable[Id]) -> dict[Id, SymbolRow]:
    """The symbols of `ids` that the index has."""
    rows = db.execute(
        f"SELECT {COLUMNS} FROM symbols s WHERE s.id IN (SELECT value FROM json_each(?))", (json.dumps(list(set(ids))),)
    )
    return {row[0]: SymbolRow._make(row) for row in rows}


def base_methods(db: sqlite3.Connection, symbol_id: Id) -> list[SymbolRow]:
    """The methods that a method overrides, directly or not."""
    rows = db.execute(
        "WITH RECURSIVE up(id) AS (SELECT to_id FROM relations WHERE from_id = ? AND kind = 'overrides' UNION"
        " SELECT r.to_id FROM relations r JOIN up ON r.from_id = up.id WHERE r.kind = 'overrides')"
        f" SELECT {COLUMNS} FROM up JOIN symbols s ON s.id = up.id",
        (symbol_id,),
    )
    return [SymbolRow._make(row) for row in rows]


def _through_bases(db: sqlite3.Connection, symbol: SymbolRow) -> list[CallSite]:
    """Dispatching calls of the C++ methods that `symbol` overrides: each may reach it.

    The linker stores such calls up to a number of overriders; this finds the rest by its rule: the receiver's static
    type (`via`, empty for `Base::f(x)`, which dispatches nowhere) is the symbol's class or a base of it.
    """
    bases = base_methods(db, symbol.id) if symbol.lang == "cpp" else []
    types = _base_types(db, symbol) if bases else set()
    edges = graph.edges_of(db, [base.id for base in bases], "callers", {Evidence.DIRECT}) if bases else []
    dispatching = [edge._replace(evidence=Evidence.VIRTUAL) for edge in edges if edge.via in types]
    return _sites(db, dispatching, "callers")


def _base_types(db: sqlite3.Connection, symbol: SymbolRow) -> set[str]:
    """The qualified names of the class that `symbol` belongs to and of all its bases."""
    rows = db.execute(
        "WITH RECURSIVE up(id) AS (SELECT ?1 UNION SELECT r.to_id FROM relations r JOIN up ON r.from_id = up.id"
        " WHERE r.kind = 'base') SELECT s.qualname FROM up JOIN symbols s ON s.id = up.id",
        (symbol.parent_id,),
    )
    return {name for (name,) in rows}


def _merge_observed(db: sqlite3.Connection, ids: list[Id], direction: graph.Direction, sites: list[CallSite]) -> None:
    """Add each run's counts to the static site at the observed line, else to the first site of the same pair.

    An observed call that has no static counterpart becomes a site of its own, with evidence `observed`.
    """
    if db.execute("SELECT 1 FROM runs LIMIT 1").fetchone() is None:
        return
    near, far = ("callee_id", "caller_id") if direction == "callers" else ("caller_id", "callee_id")
    marks = ", ".join("?" * len(ids))
    rows = db.execute(
        f"SELECT run_id, {far}, kind, path, line, sum(count), sum(total_ns) FROM observed_calls"
        f" WHERE {near} IN ({marks})"
        " GROUP BY run_id, 2, kind, path, line",
        ids,
    ).fetchall()
    by_id: dict[Id, list[CallSite]] = {}
    for site in sites:
        by_id.setdefault(site.id, []).append(site)
    others = symbol_rows(db, (row[1] for row in rows if row[1] is not None))
    for run, other, kind, path, line, count, ns in rows:
        known = by_id.setdefault(other or 0, [])
        at_line = [site for site in known if (site.path, site.line) == (path, line)]
        if not known or (path and not at_line and known[0].evidence == OBSERVED):
            row = others.get(other)
            name, lang = (row.qualname, row.lang) if row else (OUTSIDE, "")
            place = place_of(row.path, row.line) if row and row.path and direction == "callees" else ""
            fallback = (row.path or "", row.line) if row and direction == "callers" else ("", 0)
            new = CallSite(other or 0, name, lang, path or fallback[0], line or fallback[1], 0, OBSERVED, kind)
            new.place = place
            known.append(new)
            sites.append(new)
            at_line = [new]
        target = (at_line or known)[0]
        target.runs[run] = target.runs.get(run, 0) + count
        if ns is not None:
            target.run_ns[run] = target.run_ns.get(run, 0) + ns


def narrow(
    db: sqlite3.Connection, match: Match, direction: graph.Direction, evidence: Collection[str] | None, depth: int
) -> None:
    """Keep the calls of some kinds of evidence, then add those at distance 2 to `depth` behind them.

    When nothing is left of calls that are known, `why_none` says so.
    """
    known = len(match.calls)
    if evidence is not None:
        match.calls = [site for site in match.calls if site.evidence in evidence]
        if known and not match.calls:
            match.why_none = f"none with evidence {', '.join(evidence)}; {known} with other evidence"
    if depth == 1:
        return
    own = set(callable_ids(db, match.symbol))
    near = graph.neighbours(db, {*own, *(site.id for site in match.calls)}, direction, depth - 1, evidence=evidence)
    match.cut = {distance + 1: count for distance, count in near.cut.items()}
    names = symbol_rows(db, near.distance)
    edges = [
        edge
        for edge in near.edges
        if (edge.callee if direction == "callers" else edge.caller) not in own and edge.evidence != graph.ENCLOSES
    ]
    for site, edge in zip(_sites(db, edges, direction), edges, strict=True):
        toward = edge.callee if direction == "callers" else edge.caller
        site.depth = near.distance[toward] + 2
        site.toward = names[toward].qualname if toward in names else OUTSIDE
        match.calls.append(site)


def where(db: sqlite3.Connection, symbol: SymbolRow) -> Match:
    """Where `symbol` is defined and declared, and what it overrides or derives from."""
    match = describe(db, symbol)
    rows = db.execute(
        "SELECT DISTINCT kind, path, line, end_line FROM locations WHERE symbol_id = ? ORDER BY kind DESC, path, line",
        (symbol.id,),
    )
    match.places = [Place._make(row) for row in rows]
    bases = db.execute(
        "SELECT r.kind, s.qualname, s.path, s.line FROM relations r JOIN symbols s ON s.id = r.to_id"
        " WHERE r.from_id = ? AND r.kind <> 'alias' ORDER BY r.kind, s.qualname",
        (symbol.id,),
    )
    match.bases = [f"{kind} {name}" + (f" {path}:{line}" if path else "") for kind, name, path, line in bases]
    return match


def refs(db: sqlite3.Connection, symbol: SymbolRow, roles: Collection[str] = ()) -> Match:
    """Every reference to `symbol` (to a class: its constructors' too), in path order; `roles` keeps some."""
    match = describe(db, symbol)
    ids = callable_ids(db, symbol)
    marks = ", ".join("?" * len(ids))
    rows = db.execute(
        "SELECT DISTINCT r.path, r.line, r.col, r.role, coalesce(i.qualname, '') FROM refs r"
        f" LEFT JOIN symbol i ON i.id = r.in_symbol_id WHERE r.symbol_id IN ({marks}) ORDER BY r.path, r.line, r.col",
        ids,
    )
    match.refs = [RefRow._make(row) for row in rows if not roles or row[3] in roles]
    return match


def overview(db: sqlite3.Connection, symbol: SymbolRow) -> Match:
    """Where `symbol` is, and how many callers, callees and references it has."""
    match = where(db, symbol)
    ids = callable_ids(db, symbol)
    marks = ", ".join("?" * len(ids))
    for word, table, column in (
        ("callers", "calls", "callee_id"),
        ("callees", "calls", "caller_id"),
        ("refs", "refs", "symbol_id"),
    ):
        count = db.execute(f"SELECT count(*) FROM {table} WHERE {column} IN ({marks})", ids).fetchone()[0]
        match.counts[word] = count
    match.uses = _crossings(db, ids)
    return match


def wrappers(db: sqlite3.Connection, matches: list[Match], most: int) -> list[tuple[SymbolRow, str]]:
    """Functions of the other language by which the matches' keys are called, with the key: the Python wrappers.

    A constructor stands for its class. A key that more than `most` functions call is no wrapper's; its callers are
    listed with the match itself.
    """
    known = {match.symbol.id for match in matches}
    result: dict[Id, tuple[SymbolRow, str]] = {}
    for match in matches:
        by_key: dict[str, set[Id]] = {}
        for site in match.calls:
            if site.depth == 1 and site.evidence == Evidence.REGISTRY and site.lang != match.symbol.lang:
                by_key.setdefault(site.via, set()).add(site.id)
        for key, ids in by_key.items():
            if len(ids) <= most:
                rows = symbol_rows(db, ids).values()
                classes = {row.parent_id for row in rows if row.name in _CONSTRUCTORS or row.kind == "constructor"}
                chosen = [row for row in rows if row.parent_id not in classes]
                chosen += symbol_rows(db, (id_ for id_ in classes if id_ is not None)).values()
                result.update((row.id, (row, key)) for row in chosen if row.id not in known and row.kind != "module")
    return list(result.values())
