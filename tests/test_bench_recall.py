"""The scorer of observed calls: names that do not meet, or a chain that may not count, make recall a fiction."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from xref.model import Call, Evidence, FileFacts, Lang, Symbol, Unresolved, symbol_id
from xref.store import IndexBuilder, open_index

CALLGRIND = """# callgrind format
version: 1
fn=(1) tvm::Caller(int)
12 3
cfn=(2) tvm::(anonymous namespace)::Helper<int>::Run() const'2
calls=4 0
13 50
fn=(2)
cfn=(3) tvm::Deep()::{lambda(int)#1}::operator()(int) const
calls=1 0
"""


@pytest.fixture
def recall(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "bench"))
    import native_recall

    return native_recall


@pytest.mark.parametrize(
    ("demangled", "spelled"),
    [
        ("tvm::ffi::Array<tvm::PrimExpr, void>::size() const", "tvm::ffi::Array::size"),
        ("tvm::(anonymous namespace)::F(std::function<void (int)>)", "tvm::(anonymous)::F"),
        ("void tvm::relax::Visit<int>(int const&) [clone .isra.0]", "tvm::relax::Visit"),
        ("tvm::StorageRewrite()::{lambda(int)#1}::operator()(int) const::{lambda()#2}::_FUN()", "tvm::StorageRewrite"),
        ("tvm::relax::transform::FuseTIR()::{lambda: FuseTIR}", "tvm::relax::transform::FuseTIR"),
        ("bool tvm::operator==<int>(tvm::A<int> const&, int)", "tvm::operator=="),
        ("tvm::Op::operator()(int) const'2", "tvm::Op::operator()"),
        ("tvm::A::operator->() const", "tvm::A::operator->"),
        ("tvm::ffi::Any::operator tvm::DataType() const", "tvm::ffi::Any::operator DataType"),
        ("tvm::A::operator std::__cxx11::basic_string<char>() const", "tvm::A::operator basic_string"),
    ],
)
def test_demangled_and_indexed_names_meet(recall: ModuleType, demangled: str, spelled: str) -> None:
    assert recall.spell(demangled) == spelled


def test_both_forms_of_a_record_give_the_same_calls(recall: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "cg.out").write_text(CALLGRIND)
    with gzip.open(tmp_path / "edges.tsv.gz", "wt") as out:
        out.write("tvm::Caller(int)\ttvm::(anonymous namespace)::Helper<int>::Run() const\t4\n")
        out.write("tvm::(anonymous namespace)::Helper<int>::Run() const\ttvm::Deep()::{lambda#1}::operator()()\t1\n")
    pairs = []
    for name in ("cg.out", "edges.tsv.gz"):
        observed = recall.Observed()
        observed.add(recall.record_pairs(tmp_path / name))
        pairs.append(observed.pairs)
    assert (
        pairs[0]
        == pairs[1]
        == {("tvm::Caller", "tvm::(anonymous)::Helper::Run"), ("tvm::(anonymous)::Helper::Run", "tvm::Deep")}
    )


@pytest.fixture
def index(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """a -> inner -> b; a -> seen -> c, and from another file, a -> far -> e; c has an unresolved call; d is declared
    only."""
    names = ("a", "inner", "b", "seen", "c", "d", "e")
    ids = {name: symbol_id(name) for name in names}
    symbols = [
        Symbol(name, "function", name, f"tvm::{name}", i, 1, i, is_definition=name != "d")
        for i, name in enumerate(names, 1)
    ]
    edges = (("a", "inner"), ("inner", "b"), ("a", "seen"), ("seen", "c"), ("a", "far"))
    ids["far"] = symbol_id("far")
    calls = [Call(ids[a], ids[b], Evidence.DIRECT, 1, 1) for a, b in edges]
    far = [Symbol("far", "function", "far", "tvm::far", 1, 1, 1)]
    unresolved = [Unresolved(5, 1, ids["c"], "x.b()", "dependent")]
    with IndexBuilder(tmp_path / "x.db") as builder:
        builder.add_file("a.cc", Lang.CPP, "", 0, 0)
        builder.add_facts(FileFacts("a.cc", Lang.CPP, symbols=symbols, calls=calls, unresolved=unresolved))
        builder.add_file("far.cc", Lang.CPP, "", 0, 0)
        away = [Call(ids["far"], ids["e"], Evidence.DIRECT, 1, 1)]
        builder.add_facts(FileFacts("far.cc", Lang.CPP, symbols=far, calls=away))
        builder.flush_symbols()
        builder.publish()
    with closing(open_index(tmp_path / "x.db")) as db:
        yield db


def test_a_chain_counts_only_through_functions_that_were_inlined(recall: ModuleType, index: sqlite3.Connection) -> None:
    observed = recall.Observed()
    calls = [("tvm::a()", "tvm::b()"), ("tvm::a()", "tvm::c()"), ("tvm::x()", "tvm::seen()"), ("tvm::c()", "tvm::b()")]
    calls += [("tvm::d()", "tvm::b()"), ("tvm::a()", "tvm::New::New(int)"), ("tvm::a()", "tvm::ffi::Object::DecRef()")]
    observed.add(calls)
    known = recall.Known(index)
    judged, missed = recall.judge(observed, known)
    assert ("tvm::a", "tvm::New::New") not in judged  # compilers make constructors that no source has
    assert not any("DecRef" in name for pair in judged for name in pair)
    assert recall.explain(missed, observed, known) == {
        ("tvm::a", "tvm::c"): recall.INLINED_HERE,
        ("tvm::c", "tvm::b"): "an unresolved call in the caller spells the callee's name",
        ("tvm::d", "tvm::b"): "the caller's body was not read",
        ("tvm::x", "tvm::seen"): "caller not in the index",
    }


def test_only_what_the_compiler_saw_was_inlined(recall: ModuleType, index: sqlite3.Connection) -> None:
    """Else any chain would excuse a miss. A function that its caller also calls is told apart."""
    observed = recall.Observed()
    observed.add([("tvm::a()", f"tvm::{name}()") for name in ("seen", "c", "far", "e")])
    observed.add([("tvm::other()", "tvm::inner()"), ("tvm::a()", "tvm::b()")])
    known = recall.Known(index)
    _, missed = recall.judge(observed, known)
    assert recall.explain(missed, observed, known) == {
        ("tvm::a", "tvm::b"): recall.INLINED_HERE,
        ("tvm::a", "tvm::c"): recall.INLINED_ONCE,
        ("tvm::a", "tvm::e"): "no call of it in the caller",
        ("tvm::other", "tvm::inner"): "caller not in the index",
    }


def test_a_record_without_names_is_an_error_not_a_figure(
    recall: ModuleType, index: sqlite3.Connection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "edges.tsv").write_text("0x0001\t0x0002\t3\n")
    assert recall.main([str(tmp_path / "edges.tsv"), "--db", str(tmp_path / "x.db")]) == 5
    assert "stripped" in capsys.readouterr().err
