"""Leads a virtual call to what it may run: each overrider that belongs to the static type or a class below it."""

from __future__ import annotations

from collections import defaultdict

from xref.closure import closure
from xref.link.step import Derived, Step, Touched
from xref.model import METHOD_POINTER, QUALIFIED, Evidence, Id

MAX_OVERRIDERS = 256
"""A virtual call that may reach more overriders than this makes no edges: a row in `unresolved` says so."""

_OVERRIDDEN = "c.callee_id IN (SELECT to_id FROM relation WHERE kind = 'overrides')"
"""Of 42,000 calls 4,000 are of methods that something overrides; asked first, the others need not be read."""


def _derive(derived: Derived, _touched: Touched | None) -> None:
    """`via` of such a call is the static type's qualified name, as the extractor saw it; behind `->*` it is that of
    `(object->*method)(..)`, where the function around the call says which method that is.

    A key that runs a virtual method (`def_method("s_tir.schedule.ScheduleSplit", &ScheduleNode::Split)`) dispatches
    from the method's own class; so do a candidate in a template and a method that is called through a pointer to it.
    Of a candidate `via` is the receiver's class where that is known. One that is qualified (`Base::run(t)`: `via` is
    the class, with `::`) is what runs.
    """
    db = derived.db
    overriders: dict[Id, list[Id]] = defaultdict(list)
    below_class: dict[Id, list[Id]] = defaultdict(list)
    for source, kind, target in db.execute(
        "SELECT from_id, kind, to_id FROM relations WHERE kind IN ('overrides', 'base')"
    ):
        (overriders if kind == "overrides" else below_class)[target].append(source)
    classes: dict[str, list[Id]] = defaultdict(list)
    for id_, qualname in db.execute("SELECT id, qualname FROM symbol WHERE kind IN ('class', 'struct')"):
        classes[qualname].append(id_)
    parent = dict(db.execute("SELECT id, parent_id FROM symbol WHERE kind IN ('method', 'destructor', 'conversion')"))
    below: dict[str, set[Id]] = {}
    all_overriders: dict[Id, list[Id]] = {}
    calls = db.execute(
        "SELECT c.caller_id, c.callee_id, c.file_id, c.line, c.col, c.via FROM call c JOIN file f ON f.id = c.file_id"
        f" WHERE {_OVERRIDDEN} AND f.lang = 'cpp' AND"
        f" ((c.evidence = 'direct' AND c.via <> '') OR (c.evidence = 'value' AND c.via LIKE '{METHOD_POINTER}%'))"
    ).fetchall()
    calls += [
        (*site, via if via in classes and evidence == Evidence.TEMPLATE else owner)
        for *site, evidence, via, owner in db.execute(
            "SELECT c.caller_id, c.callee_id, c.file_id, c.line, c.col, c.evidence, c.via, o.qualname FROM call c"
            " JOIN symbol m ON m.id = c.callee_id JOIN symbol o ON o.id = m.parent_id"
            f" WHERE {_OVERRIDDEN} AND m.kind = 'method' AND m.lang = 'cpp'"
            " AND (c.evidence IN ('registry', 'template') OR (c.evidence = 'value' AND c.step = 'dependents'))"
            f" AND c.via NOT LIKE '%{QUALIFIED}'"
        )
    ]
    for caller, callee, file_id, line, col, written in calls:
        via = written.removeprefix(METHOD_POINTER)
        if callee not in all_overriders:
            all_overriders[callee] = closure(overriders, [callee])[1:]
        candidates = all_overriders[callee]
        if not candidates:
            continue
        if via not in below:
            below[via] = set(closure(below_class, classes.get(via, [])))
        chosen = [m for m in candidates if parent.get(m) in below[via]] if below[via] else candidates
        if len(chosen) > MAX_OVERRIDERS:
            reason = f"virtual call with {len(chosen)} overriders below {via}"
            derived.unresolved([(file_id, line, col, caller, via, reason)])
            continue
        derived.calls((caller, method, Evidence.VIRTUAL, file_id, line, col, via) for method in chosen)


STEP = Step("overriders", _derive, compared=True)
