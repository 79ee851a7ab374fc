"""Joins what files say of each other: uses of keys to definitions, calls through keys, virtual calls to overriders.

Works on the rows of a whole index; each rule is stated at its function. What a rule cuts is a row in `unresolved`.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable

from xref.model import Evidence, Id, UseStatus

MAX_UNDER_PREFIX = 64
"""A use of a prefix that stands for more keys than this makes no call edges: a row in `unresolved` says so."""
MAX_OVERRIDERS = 256
"""Likewise for a virtual call that may reach more overriders."""


MAX_DANGLING_SHARE = 0.1
"""More dangling uses than this mean that registrations were not read, not that the code is wrong: 1 % on whole trees
from v0.14 to main."""


def link(db: sqlite3.Connection) -> list[str]:
    """Link everything; what the user should know of the result. Idempotent only on freshly extracted rows."""
    _complete_guards(db)
    _link_keys(db)
    _link_virtual_calls(db)
    return _doubts(db)


def _doubts(db: sqlite3.Connection) -> list[str]:
    """A rename upstream, or headers that are missing, must not pass for a tree whose keys nobody registers."""
    uses, dangling = db.execute(
        "SELECT count(*), count(CASE WHEN status = 'dangling' THEN 1 END) FROM key_use"
    ).fetchone()
    if not uses or dangling <= uses * MAX_DANGLING_SHARE:
        return []
    lost = db.execute(
        "SELECT count(*) FROM file WHERE status = 'degraded' AND detail LIKE 'missing header%' AND lang = 'cpp'"
    ).fetchone()[0]
    why = (
        f"{lost} C++ files miss a header, and their registrations are lost with it: get the submodules"
        if lost
        else "the registrations may have a form that this xref does not know, or their files are not in the index"
    )
    return [f"{dangling} of {uses} uses of keys dangle ({why})"]


def _complete_guards(db: sqlite3.Connection) -> None:
    """A key stands behind the build option of its file and the #if around it."""
    rows = db.execute(
        "SELECT k.rowid, f.guard, k.guard FROM key_def k JOIN file f ON f.id = k.file_id WHERE f.guard <> ''"
    ).fetchall()
    db.executemany(
        "UPDATE key_def SET guard = ? WHERE rowid = ?",
        ((" and ".join(g for g in (file_guard, guard) if g), row) for row, file_guard, guard in rows),
    )


def _link_keys(db: sqlite3.Connection) -> None:
    """Give each use its status, and a call edge to what each definition of its key runs."""
    targets: dict[tuple[str, str], list[Id]] = defaultdict(list)
    unguarded: set[tuple[str, str]] = set()
    defined: dict[str, set[str]] = defaultdict(set)
    for registry, name, symbol, guard in db.execute("SELECT registry, name, symbol_id, guard FROM key_def"):
        defined[registry].add(name)
        if symbol is not None and symbol not in targets[registry, name]:
            targets[registry, name].append(symbol)
        if not guard:
            unguarded.add((registry, name))
    uses = db.execute(
        "SELECT rowid, registry, name, file_id, line, col, in_symbol_id, calls, optional FROM key_use"
    ).fetchall()
    prefixes: dict[tuple[str, str], list[str]] = {}
    for row, registry, name, file_id, line, col, within, calls, optional in uses:
        if name.endswith("*"):
            if (registry, name) not in prefixes:
                below = sorted(n for n in defined[registry] if n.startswith(name[:-1]))
                prefixes[registry, name] = below
                db.executemany(
                    "INSERT INTO key_relation VALUES (?, ?, 'under_prefix', ?)", ((registry, n, name) for n in below)
                )
            names: Iterable[str] = prefixes[registry, name]
            status = UseStatus.WILDCARD
            if len(prefixes[registry, name]) > MAX_UNDER_PREFIX:
                db.execute(
                    "INSERT INTO unresolved_call VALUES (?, ?, ?, ?, ?, ?)",
                    (file_id, line, col, within, name, f"{len(prefixes[registry, name])} keys under the prefix"),
                )
                names = ()
        else:
            names = (name,)
            if name not in defined[registry]:
                status = UseStatus.OPTIONAL if optional else UseStatus.DANGLING
            else:
                status = UseStatus.RESOLVED if (registry, name) in unguarded else UseStatus.GUARDED
        db.execute("UPDATE key_use SET status = ? WHERE rowid = ?", (status, row))
        if calls and within is not None:
            db.executemany(
                "INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    (within, target, Evidence.REGISTRY, file_id, line, col, key)
                    for key in names
                    for target in targets.get((registry, key), ())
                ),
            )


def _link_virtual_calls(db: sqlite3.Connection) -> None:
    """A virtual call may run each overrider of its method that belongs to the receiver's static type or a class below.

    `via` of such a call is the static type's qualified name, as the extractor saw it. A key that runs a virtual method
    (`def_method("s_tir.schedule.ScheduleSplit", &ScheduleNode::Split)`) dispatches from the method's own class.
    """
    overriders: dict[Id, list[Id]] = defaultdict(list)
    derived: dict[Id, list[Id]] = defaultdict(list)
    for source, kind, target in db.execute(
        "SELECT from_id, kind, to_id FROM relation WHERE kind IN ('overrides', 'base')"
    ):
        (overriders if kind == "overrides" else derived)[target].append(source)
    classes: dict[str, list[Id]] = defaultdict(list)
    for id_, qualname in db.execute("SELECT id, qualname FROM symbol WHERE kind IN ('class', 'struct')"):
        classes[qualname].append(id_)
    parent = dict(db.execute("SELECT id, parent_id FROM symbol WHERE kind IN ('method', 'destructor', 'conversion')"))
    below: dict[str, set[Id]] = {}
    all_overriders: dict[Id, list[Id]] = {}
    calls = db.execute(
        "SELECT c.caller_id, c.callee_id, c.file_id, c.line, c.col, c.via FROM call c JOIN file f ON f.id = c.file_id"
        " WHERE c.evidence = 'direct' AND c.via <> '' AND f.lang = 'cpp'"
    ).fetchall()
    calls += db.execute(
        "SELECT c.caller_id, c.callee_id, c.file_id, c.line, c.col, o.qualname FROM call c"
        " JOIN symbol m ON m.id = c.callee_id JOIN symbol o ON o.id = m.parent_id"
        " WHERE c.evidence = 'registry' AND m.kind = 'method' AND m.lang = 'cpp'"
    ).fetchall()
    for caller, callee, file_id, line, col, via in calls:
        if callee not in all_overriders:
            all_overriders[callee] = _closure(overriders, [callee])[1:]
        candidates = all_overriders[callee]
        if not candidates:
            continue
        if via not in below:
            below[via] = set(_closure(derived, classes.get(via, [])))
        chosen = [m for m in candidates if parent.get(m) in below[via]] if below[via] else candidates
        if len(chosen) > MAX_OVERRIDERS:
            db.execute(
                "INSERT INTO unresolved_call VALUES (?, ?, ?, ?, ?, ?)",
                (file_id, line, col, caller, via, f"virtual call with {len(chosen)} overriders below {via}"),
            )
            continue
        db.executemany(
            "INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((caller, method, Evidence.VIRTUAL, file_id, line, col, via) for method in chosen),
        )


def _closure(edges: dict[Id, list[Id]], start: list[Id]) -> list[Id]:
    """`start` and everything that `edges` leads to, each once."""
    order, seen = list(start), set(start)
    for node in order:
        for target in edges.get(node, ()):
            if target not in seen:
                seen.add(target)
                order.append(target)
    return order
