"""Functions whose calls in a run may have run inside one another: the sum of their times counts some time twice.

A run adds up how long each call of a function took, with all inside. Where the function called itself, directly or
through others (`transform.RunPass` calls back into Python, which runs a pass), the inner call's time is part of the
outer one's: the sum is no less than the time that passed in the function, and may be more.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from xref.model import Id

_Ends = Iterable[tuple[Id | None, Id]]


def nested_calls(db: sqlite3.Connection) -> dict[str, frozenset[Id]]:
    """Run -> such functions."""
    edges: dict[str, list[tuple[Id | None, Id]]] = {}
    for run, caller, callee in db.execute("SELECT DISTINCT run_id, caller_id, callee_id FROM observed_calls"):
        edges.setdefault(run, []).append((caller, callee))
    return {run: nested(its) for run, its in edges.items()}


def nested(edges: _Ends) -> frozenset[Id]:
    """The functions that lead back to themselves along calls, (caller, callee); None is outside the index, and nothing
    leads through it."""
    below: dict[Id, list[Id]] = {}
    above: dict[Id, list[Id]] = {}
    found = set()
    for caller, callee in edges:
        if caller is None:
            continue
        below.setdefault(caller, []).append(callee)
        above.setdefault(callee, []).append(caller)
        if caller == callee:
            found.add(callee)
    component: dict[Id, Id] = {}
    for root in reversed(_finished(below)):
        pending = [root]
        while pending:
            at = pending.pop()
            if at not in component:
                component[at] = root
                pending += above.get(at, ())
    sizes: dict[Id, int] = {}
    for root in component.values():
        sizes[root] = sizes.get(root, 0) + 1
    return frozenset(found | {id_ for id_, root in component.items() if sizes[root] > 1})


def _finished(below: Mapping[Id, list[Id]]) -> list[Id]:
    """The functions in the order in which a search from callers to callees leaves them."""
    order: list[Id] = []
    seen: set[Id] = set()
    for start in below:
        stack = [(start, iter(below.get(start, ())))] if start not in seen else []
        seen.add(start)
        while stack:
            at, rest = stack[-1]
            further = next((id_ for id_ in rest if id_ not in seen), None)
            if further is None:
                order.append(at)
                stack.pop()
            else:
                seen.add(further)
                stack.append((further, iter(below.get(further, ()))))
    return order
