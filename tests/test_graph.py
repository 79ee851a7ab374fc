"""Neighbours and paths: without them a user cannot follow a call from Python into C++, or waits for ever at a hub."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from conftest import (
    CONSTRUCTOR,
    CREATOR,
    DISPATCHER,
    INNER,
    KEY,
    LAMBDA,
    TRANSFORM,
    VISIT_TUPLE,
    WRAPPER,
    build,
    cpp,
    id_of,
)

from xref import graph
from xref.model import Call, Evidence, FileFacts, Lang
from xref.store import open_index


def test_a_path_crosses_the_key_and_the_pass_lambda(db: sqlite3.Connection) -> None:
    search = graph.shortest_path(db, [id_of(WRAPPER)], [id_of(CONSTRUCTOR)], max_hops=12)
    assert [(hop.callee, hop.evidence, hop.line) for hop in search.hops] == [
        (id_of(CREATOR), "registry", 823),
        (id_of(LAMBDA), "encloses", 1273),
        (id_of(INNER), "direct", 1273),
        (id_of(TRANSFORM), "direct", 1265),
        (id_of(CONSTRUCTOR), "direct", 1062),
    ]
    assert search.hops[0].via == KEY


def test_guesses_by_name_are_taken_only_when_nothing_else_leads_there(db: sqlite3.Connection) -> None:
    search = graph.shortest_path(db, [id_of(TRANSFORM)], [id_of(VISIT_TUPLE)], max_hops=5)
    assert [hop.evidence for hop in search.hops] == ["name"]


def test_a_longer_sure_chain_beats_a_short_guess(tmp_path: Path) -> None:
    a, b, c = (cpp("function", f"n::{name}", line) for line, name in enumerate("abc", 1))
    calls = [
        Call(id_of(a), id_of(c), Evidence.NAME, 10, 1),
        Call(id_of(a), id_of(b), Evidence.DIRECT, 11, 1),
        Call(id_of(b), id_of(c), Evidence.VIRTUAL, 12, 1),
    ]
    build(tmp_path / "x.db", [FileFacts("src/a.cc", Lang.CPP, symbols=[a, b, c], calls=calls)])
    db = open_index(tmp_path / "x.db")
    assert [hop.line for hop in graph.shortest_path(db, [id_of(a)], [id_of(c)], max_hops=5).hops] == [11, 12]
    db.close()


def test_no_path_says_how_far_each_side_was_explored(db: sqlite3.Connection) -> None:
    search = graph.shortest_path(db, [id_of(CONSTRUCTOR)], [id_of(WRAPPER)], max_hops=12)
    assert search.hops == []
    assert search.start_exhausted
    assert list(search.reached) == [id_of(CONSTRUCTOR)]


def test_the_hop_limit_is_kept(db: sqlite3.Connection) -> None:
    assert graph.shortest_path(db, [id_of(WRAPPER)], [id_of(CONSTRUCTOR)], max_hops=4).hops == []
    assert graph.shortest_path(db, [id_of(WRAPPER)], [id_of(CONSTRUCTOR)], max_hops=5).hops != []


def test_neighbours_say_what_a_cap_left_out(db: sqlite3.Connection) -> None:
    near = graph.neighbours(db, [id_of(CREATOR)], "callers", 3, cap=3)
    assert near.distance[id_of(WRAPPER)] == 1
    assert sum(distance == 2 for distance in near.distance.values()) == 7
    assert near.cut == {2: 4}


def test_recursion_ends(tmp_path: Path) -> None:
    a, b = cpp("function", "n::a", 1), cpp("function", "n::b", 2)
    calls = [
        Call(id_of(a), id_of(a), Evidence.DIRECT, 3, 1),
        Call(id_of(a), id_of(b), Evidence.DIRECT, 4, 1),
        Call(id_of(b), id_of(a), Evidence.DIRECT, 5, 1),
    ]
    build(tmp_path / "x.db", [FileFacts("src/a.cc", Lang.CPP, symbols=[a, b], calls=calls)])
    db = open_index(tmp_path / "x.db")
    near = graph.neighbours(db, [id_of(a)], "callees", 20)
    assert near.distance == {id_of(a): 0, id_of(b): 1}
    db.close()


@pytest.mark.parametrize("direction", ["callers", "callees"])
def test_a_level_costs_one_indexed_query(index_that_looks_large: Path, direction: graph.Direction) -> None:
    """On 400,000 calls a scan takes longer than the half second that a whole answer may take."""
    db = open_index(index_that_looks_large)
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    graph.neighbours(db, [id_of(DISPATCHER)], direction, 1)
    db.set_trace_callback(None)
    assert len(statements) == 2  # the calls, and the lambdas
    for statement in statements:
        plan = [row[3] for row in db.execute("EXPLAIN QUERY PLAN " + statement)]
        assert not [step for step in plan if step.startswith("SCAN") and "json_each" not in step], plan
    db.close()
