"""Chooses the functions whose page has a drawing: all that a key or a pass leads to, and the best connected others.

Drawing takes a hundredth of a second and ten kilobytes each, so most functions get the lists only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xref.model import Id
from xref.site.callgraph import CallGraph
from xref.site.names import RUNNABLE, Name

MOST_CONNECTED = 2000
"""Drawings beside those of keyed functions."""
LEAST_EDGES = 2
HUB_CALLERS = 250
"""A function with more callers is a helper (`Array::size`): drawings put it behind "+N more"."""
_ENOUGH = 15
"""Beyond so many neighbours on a side a drawing does not become richer."""


def choose(
    names: Mapping[Id, Name],
    graph: CallGraph,
    callers: Mapping[Id, int],
    callees: Mapping[Id, int],
    keyed: Collection[Id],
    observed: Mapping[tuple[Id, Id], Mapping[str, int]],
) -> frozenset[Id]:
    """Symbols to draw. A pure function of the index: ties are broken by id."""
    chosen = {
        id_ for id_ in keyed if id_ in names and names[id_].kind in RUNNABLE and _edges(graph, id_) >= LEAST_EDGES
    }
    chosen |= {wrapper for id_ in chosen for wrapper in _wrappers(names, graph, id_)}
    ran = {id_ for pair in observed for id_ in pair}
    ranked = []
    for id_, name in names.items():
        if id_ in chosen or name.kind not in RUNNABLE or name.kind == "module" or not name.defined or name.file < 0:
            continue
        above, below = callers.get(id_, 0), callees.get(id_, 0)
        if above + below >= LEAST_EDGES and above <= HUB_CALLERS:
            ranked.append((id_ not in ran, -min(above, _ENOUGH) - min(below, _ENOUGH), id_))
    ranked.sort()
    return frozenset(chosen | {id_ for _, _, id_ in ranked[:MOST_CONNECTED]})


def _edges(graph: CallGraph, id_: Id) -> int:
    return sum(1 for _ in graph.callers(id_)) + sum(1 for _ in graph.callees(id_))


def _wrappers(names: Mapping[Id, Name], graph: CallGraph, id_: Id) -> list[Id]:
    """The functions that call a key's function through its key: the other language's side of it."""
    return [
        edge.caller
        for edge in graph.callers(id_)
        if edge.evidence == "registry" and edge.caller in names and names[edge.caller].kind in RUNNABLE
        and names[edge.caller].kind != "module"
    ]  # fmt: skip
