"""Chooses the functions whose page has a drawing made at build: those that most roads lead through.

A drawing costs a hundredth of a second and ten kilobytes, so the other pages draw in the browser (templates/graph.js).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xref.model import Evidence, Id
from xref.site.callgraph import CallGraph
from xref.site.names import RUNNABLE, Name

DRAWN = 2000
"""Drawings made at build."""
LEAST_EDGES = 2
HUB_CALLERS = 250
"""A function with more callers is a helper (`Array::size`): drawings put it behind "+N more"."""
HUB_CALLEES = 100
"""A function with more callees that runs what it is given (`unpack_call`), or a template with as many candidates, says
little about each of them: drawings leave it out, or show it last."""
GIVEN = (Evidence.VALUE, Evidence.TEMPLATE)
"""Calls of what a function was given, by its caller or as a template's argument."""
_TESTS = frozenset(("test", "tests", "testing", "unittest"))
_ENOUGH = 15
"""Beyond so many neighbours on a side a drawing does not become richer."""


def in_tests(path: str) -> bool:
    """Whether a file is for tests: drawings show its functions after the others."""
    return not _TESTS.isdisjoint(path.split("/"))


def choose(
    names: Mapping[Id, Name],
    graph: CallGraph,
    callers: Mapping[Id, int],
    callees: Mapping[Id, int],
    keyed: Collection[Id],
    passes: Collection[Id],
    observed: Mapping[tuple[Id, Id], Mapping[str, int]],
) -> frozenset[Id]:
    """Symbols to draw: passes, what runs took, functions behind keys that the other language uses, the best connected.

    Wrappers count with what they wrap. A pure function of the index: ties are broken by id.
    """
    ran = {id_ for pair in observed for id_ in pair}
    first = _with_wrappers(names, graph, passes)
    crossed = {id_ for id_ in keyed if _wrappers(names, graph, id_)}
    keyed = _with_wrappers(names, graph, crossed) | set(keyed)
    ranked = []
    for id_, name in names.items():
        if name.kind not in RUNNABLE or name.kind == "module" or not name.defined or name.file < 0:
            continue
        above, below = callers.get(id_, 0), callees.get(id_, 0)
        if id_ in keyed or id_ in first:
            if _edges(graph, id_) < LEAST_EDGES:
                continue
        elif above + below < LEAST_EDGES or above > HUB_CALLERS:
            continue
        rank = 0 if id_ in first else 1 if id_ in ran else 2 if id_ in keyed else 3
        ranked.append((rank, -min(above, _ENOUGH) - min(below, _ENOUGH), id_))
    ranked.sort()
    return frozenset(id_ for _, _, id_ in ranked[:DRAWN])


def _edges(graph: CallGraph, id_: Id) -> int:
    return sum(1 for _ in graph.callers(id_)) + sum(1 for _ in graph.callees(id_))


def _with_wrappers(names: Mapping[Id, Name], graph: CallGraph, ids: Collection[Id]) -> set[Id]:
    return {*ids, *(wrapper for id_ in ids for wrapper in _wrappers(names, graph, id_))}


def _wrappers(names: Mapping[Id, Name], graph: CallGraph, id_: Id) -> list[Id]:
    """The functions that call a key's function through its key: the other language's side of it."""
    return [
        edge.caller
        for edge in graph.callers(id_)
        if edge.evidence == "registry" and edge.caller in names and names[edge.caller].kind in RUNNABLE
        and names[edge.caller].kind != "module"
    ]  # fmt: skip
