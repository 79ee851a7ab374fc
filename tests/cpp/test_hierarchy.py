"""`xref hierarchy`: who changes a virtual method must see every override of it, and every class that inherits it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from cpp_cases import all_cases, build, extract, plan_case

from xref.query.json import answer_object
from xref.query.language import ask, run
from xref.query.text import answer_lines
from xref.store import open_index


@pytest.fixture(scope="module")
def visitors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    case = next(case for case in all_cases() if case.name == "hierarchy")
    plan = plan_case(case)
    with closing(open_index(build(extract(plan), tmp_path_factory.mktemp("db") / "x.db", plan.known))) as db:
        yield db


def _relatives(db: sqlite3.Connection, name: str) -> list[tuple[str, int, str]]:
    (match,) = run(db, "hierarchy", (name,)).matches
    return [(relative.word, relative.depth, relative.symbol.qualname) for relative in match.relatives]


def test_a_class_shows_bases_and_derived_classes_at_any_distance(visitors: sqlite3.Connection) -> None:
    assert _relatives(visitors, "tvm::ExprMutator") == [
        ("bases", 1, "tvm::ExprVisitor"),
        ("bases", 2, "tvm::Functor"),
        ("derived", 1, "tvm::Fuser"),
        ("derived", 2, "tvm::GpuFuser"),
    ]


def test_a_base_reached_twice_is_shown_once(visitors: sqlite3.Connection) -> None:
    names = [name for word, _, name in _relatives(visitors, "tvm::Both") if word == "bases"]
    assert sorted(names) == sorted(set(names))
    assert "tvm::Functor" in names


def test_a_method_shows_what_it_overrides_and_what_overrides_it(visitors: sqlite3.Connection) -> None:
    assert _relatives(visitors, "ExprMutator::Visit") == [
        ("overrides", 1, "tvm::ExprVisitor::Visit"),
        ("overrides", 2, "tvm::Functor::Visit"),
        ("overridden by", 1, "tvm::GpuFuser::Visit"),
    ]


def test_a_specialisation_and_its_template_know_each_other(visitors: sqlite3.Connection) -> None:
    matches = run(visitors, "hierarchy", ("tvm::Traits",)).matches
    relations = {(match.symbol.signature, relative.word) for match in matches for relative in match.relatives}
    assert relations == {("Traits<T>", "specialized by"), ("Traits<int>", "specializes")}


@pytest.mark.parametrize("question", ["what derives from ExprMutator", "bases of ExprMutator", "hierarchy ExprMutator"])
def test_the_question_can_be_asked_in_words(visitors: sqlite3.Connection, question: str) -> None:
    answer = ask(visitors, question)
    assert answer.verb == "hierarchy"
    lines = list(answer_lines(answer))
    assert "  derived: 2" in lines
    (match,) = answer_object(answer, limit=1)["matches"]
    assert [entry["relation"] for entry in match["relatives"]] == ["bases", "derived"]
    assert match["total"] == 4
    assert match["relatives"][0]["path"] == "hierarchy.cc"


def test_a_class_without_relatives_says_so(visitors: sqlite3.Connection) -> None:
    assert "nothing above it" in list(answer_lines(run(visitors, "hierarchy", ("tvm::Alone",))))[-1]
