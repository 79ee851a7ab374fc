"""Neighbours and shortest paths over the call edges, as frontier searches in SQL: one indexed query a level.

Nothing here loads the whole graph. A search that is cut by a cap says what it cut. Besides the stored calls, a function
leads to the lambdas and functions written in it (evidence `encloses`): TVM's passes are lambdas, in Python decorated
inner functions, that a factory hands on, and the call of such a function is seldom resolved.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from xref.model import Evidence, Id

Direction = Literal["callers", "callees"]

ENCLOSES = "encloses"
"""Evidence of the step from a function to one written in it; no row of `calls` has it."""

INNER_FUNCTIONS = (
    "s.kind IN ('lambda', 'function') AND s.path IS NOT NULL"
    " AND p.kind IN ('function', 'method', 'constructor', 'destructor', 'conversion', 'lambda', 'static_init')"
)
"""SQL: the symbol `s` is a function written in the function `p`, its parent."""

STRENGTH: dict[str, int] = {
    word: rank
    for rank, word in enumerate(
        (
            Evidence.DIRECT,
            Evidence.REGISTRY,
            Evidence.VIRTUAL,
            Evidence.VALUE,
            Evidence.DISPATCH,
            Evidence.TEMPLATE,
            ENCLOSES,
            Evidence.NAME,
        )
    )
}
"""Evidence from the surest to the weakest: which of several edges between two functions a path shows."""


class Edge(NamedTuple):
    """A call at path:line:col."""

    caller: Id
    callee: Id
    evidence: str
    path: str
    line: int
    col: int
    via: str


@dataclass(slots=True)
class Neighbourhood:
    """The edges within `depth` calls of the start, the distance of each symbol reached, and what the caps left out.

    `cut` maps a distance to the number of symbols at it that were reached but not followed further.
    """

    edges: list[Edge] = field(default_factory=list)
    distance: dict[Id, int] = field(default_factory=dict)
    cut: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Search:
    """The outcome of a path search: the hops (empty when there is none), and what each side explored.

    A side is exhausted when it ran out of edges before the hop limit: then no longer path exists either.
    """

    hops: list[Edge] = field(default_factory=list)
    reached: Collection[Id] = ()
    reaching: Collection[Id] = ()
    start_exhausted: bool = False
    goal_exhausted: bool = False


def edges_of(
    db: sqlite3.Connection, ids: Collection[Id], direction: Direction, evidence: Collection[str] | None = None
) -> list[Edge]:
    """All edges that enter (`callers`) or leave (`callees`) the symbols `ids`; `evidence` keeps some kinds."""
    near, far = ("callee_id", "caller_id") if direction == "callers" else ("caller_id", "callee_id")
    wanted = json.dumps(list(ids))
    rows = db.execute(
        f"SELECT caller_id, callee_id, evidence, path, line, col, via FROM calls"
        f" WHERE {near} IN (SELECT value FROM json_each(?)) AND {far} <> {near}",
        (wanted,),
    )
    edges = [Edge._make(row) for row in rows if evidence is None or row[2] in evidence]
    if evidence is None or ENCLOSES in evidence:
        edges += _enclosing_edges(db, wanted, direction)
    return edges


def _enclosing_edges(db: sqlite3.Connection, wanted: str, direction: Direction) -> Iterable[Edge]:
    near = "s.id" if direction == "callers" else "s.parent_id"
    rows = db.execute(
        f"SELECT s.parent_id, s.id, '{ENCLOSES}', s.path, s.line, s.col, '' FROM symbols s"
        f" JOIN symbol p ON p.id = s.parent_id WHERE {near} IN (SELECT value FROM json_each(?)) AND {INNER_FUNCTIONS}",
        (wanted,),
    )
    return map(Edge._make, rows)


def neighbours(
    db: sqlite3.Connection,
    start: Collection[Id],
    direction: Direction,
    depth: int,
    *,
    evidence: Collection[str] | None = None,
    cap: int = 500,
) -> Neighbourhood:
    """The callers or callees of `start` up to `depth` calls away; at most `cap` symbols of a distance are followed."""
    result = Neighbourhood(distance=dict.fromkeys(start, 0))
    frontier = list(start)
    for distance in range(1, depth + 1):
        edges = edges_of(db, frontier, direction, evidence)
        result.edges += edges
        reached = [edge.caller if direction == "callers" else edge.callee for edge in edges]
        fresh = [node for node in dict.fromkeys(reached) if node not in result.distance]
        result.distance.update(dict.fromkeys(fresh, distance))
        if len(fresh) > cap and distance < depth:
            result.cut[distance] = len(fresh) - cap
            fresh = fresh[:cap]
        frontier = fresh
        if not frontier:
            break
    return result


def shortest_path(
    db: sqlite3.Connection,
    start: Collection[Id],
    goal: Collection[Id],
    *,
    max_hops: int,
    evidence: Collection[str] | None = None,
) -> Search:
    """A shortest call chain from one of `start` to one of `goal`, of at most `max_hops` calls.

    Chains without `name` edges are preferred whatever their length: those edges are guesses. Between two functions the
    edge with the strongest evidence is shown, then the first in path order.
    """
    kinds = set(STRENGTH if evidence is None else evidence)
    search = _bidirectional(db, start, goal, max_hops, kinds - {Evidence.NAME})
    if not search.hops and Evidence.NAME in kinds and not set(start) & set(goal):
        search = _bidirectional(db, start, goal, max_hops, kinds)
    return search


def _bidirectional(
    db: sqlite3.Connection, start: Collection[Id], goal: Collection[Id], max_hops: int, kinds: Collection[str]
) -> Search:
    """Breadth first from both ends, always from the smaller frontier; each side keeps the edge it came by."""
    forward: dict[Id, Edge | None] = dict.fromkeys(start)
    backward: dict[Id, Edge | None] = dict.fromkeys(goal)
    ahead, behind = list(forward), list(backward)
    meeting = [node for node in forward if node in backward]
    hops = 0
    while not meeting and ahead and behind and hops < max_hops:
        hops += 1
        if len(ahead) <= len(behind):
            ahead = _advance(edges_of(db, ahead, "callees", kinds), forward, "callees")
            meeting = [node for node in ahead if node in backward]
        else:
            behind = _advance(edges_of(db, behind, "callers", kinds), backward, "callers")
            meeting = [node for node in behind if node in forward]
    search = Search([], forward, backward, start_exhausted=not ahead, goal_exhausted=not behind)
    if meeting:
        search.hops = min((_join(node, forward, backward) for node in meeting), key=_weakness)
    return search


def _advance(edges: list[Edge], seen: dict[Id, Edge | None], direction: Direction) -> list[Id]:
    """Note the best edge to each symbol not seen before; those symbols are the next frontier."""
    fresh: dict[Id, Edge] = {}
    for edge in edges:
        node = edge.callee if direction == "callees" else edge.caller
        if node not in seen and (node not in fresh or _rank(edge) < _rank(fresh[node])):
            fresh[node] = edge
    seen.update(fresh)
    return list(fresh)


def _join(node: Id, forward: dict[Id, Edge | None], backward: dict[Id, Edge | None]) -> list[Edge]:
    hops: list[Edge] = []
    edge = forward[node]
    while edge is not None:
        hops.append(edge)
        edge = forward[edge.caller]
    hops.reverse()
    edge = backward[node]
    while edge is not None:
        hops.append(edge)
        edge = backward[edge.callee]
    return hops


def _rank(edge: Edge) -> tuple[int, str, int, int]:
    return STRENGTH.get(edge.evidence, len(STRENGTH)), edge.path, edge.line, edge.col


def _weakness(hops: list[Edge]) -> tuple[int, list[tuple[int, str, int, int]]]:
    return sum(_rank(edge)[0] for edge in hops), [_rank(edge) for edge in hops]
