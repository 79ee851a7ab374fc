"""Names: whatever form of a name a user types must lead to the symbols that are meant, and to no others."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from conftest import EMIT, FUSE_TIR_CC, KEY, WRAPPER, build, cpp, id_of
from hypothesis import given
from hypothesis import strategies as st

from xref.model import FileFacts, KeyDef, Lang, Relation
from xref.query.language import ask, run
from xref.query.names import components, find, is_suffix, parse_name
from xref.query.near import names_with_prefix, near_names
from xref.query.text import trouble_lines
from xref.store import open_index


def found(db: sqlite3.Connection, text: str, lang: str | None = None) -> list[str]:
    return [f"{symbol.qualname} {symbol.signature}".strip() for symbol in find(db, text, lang).symbols]


@pytest.mark.parametrize(
    ("text", "parts", "params"),
    [
        ("FuseTIR", ("FuseTIR",), None),
        ("FuseTIR()", ("FuseTIR",), ()),
        ("tvm::relax::transform::FuseTIR", ("tvm", "relax", "transform", "FuseTIR"), None),
        ("relax.transform::FuseTIR?", ("relax", "transform", "FuseTIR"), None),
        ("&FooNode::Bar", ("FooNode", "Bar"), None),
        ("A::VisitExpr_(const CallNode* op, int)", ("A", "VisitExpr_"), ("const CallNode* op", "int")),
        ("IRModule FuseTIR(IRModule mod)", ("FuseTIR",), ("IRModule mod",)),
        ("void A::f(Map<K, V> m) const override", ("A", "f"), ("Map<K, V> m",)),
        ("ffi::Array<Expr>::push_back", ("ffi", "Array", "push_back"), None),
        ("X::operator()", ("X", "operator()"), None),
        ("X::operator()(int)", ("X", "operator()"), ("int",)),
        ("X::operator<<", ("X", "operator<<"), None),
        ("X::operator bool", ("X", "operator bool"), None),
        ("tvm::(anonymous)::f", ("tvm", "(anonymous)", "f"), None),
        ("f::{lambda: relax.transform.FuseTIR}", ("f", "{lambda: relax.transform.FuseTIR}"), None),
        ("m.f.<lambda>", ("m", "f", "<lambda>"), None),
        ("…transform::FuseTIR", ("transform", "FuseTIR"), None),
        ("~Foo", ("~Foo",), None),
        ("", (), None),
    ],
)
def test_names_are_split_as_people_write_them(
    text: str, parts: tuple[str, ...], params: tuple[str, ...] | None
) -> None:
    assert parse_name(text)[1:] == (parts, params)


_part = st.text("abcXYZ_019", min_size=1, max_size=6).filter(lambda text: not text.startswith("operator"))


@given(st.lists(_part, min_size=1, max_size=5), st.data())
def test_any_end_of_a_name_matches_it_with_either_separator(parts: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(parts) - 1))
    typed = data.draw(st.sampled_from(["::", "."])).join(parts[start:])
    for joint in ("::", "."):
        assert components(joint.join(parts)) == parts
        assert is_suffix(parse_name(typed).parts, joint.join(parts))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "FuseTIR",
            [
                "tvm::relax::FuseTIR IRModule FuseTIR(IRModule)",
                "tvm::relax::transform::FuseTIR Pass FuseTIR()",
                "tvm.relax.transform.transform.FuseTIR FuseTIR() -> tvm.ir.transform.Pass",
            ],
        ),
        ("relax::FuseTIR", ["tvm::relax::FuseTIR IRModule FuseTIR(IRModule)"]),
        ("FuseTIR(tvm::IRModule mod)", ["tvm::relax::FuseTIR IRModule FuseTIR(IRModule)"]),
        ("tvm::relax::transform::FuseTIR", ["tvm::relax::transform::FuseTIR Pass FuseTIR()"]),
        ("tvm.relax.transform.FuseTIR", ["tvm.relax.transform.transform.FuseTIR FuseTIR() -> tvm.ir.transform.Pass"]),
        (
            "VisitExpr_(const CallNode*)",
            [
                "tvm::relax::ExprVisitor::VisitExpr_ void VisitExpr_(const CallNode *)",
                "tvm::relax::FusedTIRConstructor::VisitExpr_ void VisitExpr_(const CallNode *)",
            ],
        ),
        (
            "FusedTIRConstructor::VisitExpr_(TupleNode)",
            ["tvm::relax::FusedTIRConstructor::VisitExpr_ void VisitExpr_(const TupleNode *)"],
        ),
        (
            "relax::CollectBuffers(const ffi::Array<tirx::PrimExpr>& a, int)",
            ["tvm::relax::(anonymous)::CollectBuffers int CollectBuffers(const ffi::Array<PrimExpr> &, int)"],
        ),
        (f"{FUSE_TIR_CC}:1273:5", ["tvm::relax::transform::FuseTIR::{lambda: pass_func}"]),
        ("fuse_tir.cc:1265", ["tvm::relax::FuseTIR IRModule FuseTIR(IRModule)"]),
        ("TIRFuseMutator", ["tvm::relax::TIRFuseMutator TIRFuseMutator"]),
        ("TIRFuseMutator::TIRFuseMutator", ["tvm::relax::TIRFuseMutator::TIRFuseMutator TIRFuseMutator(IRModule)"]),
        ("std::move", ["std::move"]),
        ("mod", ["tvm::relax::FuseTIR::mod"]),
        ("nothing.of.this", []),
        ("VisitExpr_(const IfNode*)", []),
    ],
)
def test_what_a_name_means(db: sqlite3.Connection, text: str, names: list[str]) -> None:
    assert found(db, text) == names


def test_a_key_means_what_it_runs(db: sqlite3.Connection) -> None:
    assert "tvm::relax::transform::FuseTIR Pass FuseTIR()" in found(db, KEY)
    assert "tvm::relax::FuseTIR IRModule FuseTIR(IRModule)" not in found(db, KEY)
    assert find(db, KEY).keys == [("ffi", KEY)]
    assert found(db, "relax.ext.coreml") == [f"{EMIT.qualname} {EMIT.signature}"]


@pytest.mark.parametrize(
    "text", ["tvm.relax.transform._ffi_api.FuseTIR", "_ffi_api.FuseTIR", "_ffi_transform_api.FuseTIR"]
)
def test_the_python_spelling_of_a_key_means_what_it_runs(db: sqlite3.Connection, text: str) -> None:
    """The first thing people ask of TVM: which C++ is behind `_ffi_api.X`."""
    assert found(db, text) == ["tvm::relax::transform::FuseTIR Pass FuseTIR()"]


def test_a_member_is_found_through_the_alias_of_its_class(db: sqlite3.Connection) -> None:
    assert found(db, "tvm.relax.BlockBuilder.emit") == [f"{EMIT.qualname} {EMIT.signature}"]


def test_an_inherited_member_is_found_at_the_derived_class(tmp_path: Path) -> None:
    base, derived = cpp("class", "n::Base", 1), cpp("class", "n::Derived", 5)
    method = cpp("method", "n::Base::f", 2, "void f()", parent=id_of(base))
    relations = [Relation(id_of(derived), "base", id_of(base)), Relation(id_of(base), "base", id_of(derived))]
    build(tmp_path / "x.db", [FileFacts("a.cc", Lang.CPP, symbols=[base, derived, method], relations=relations)])
    db = open_index(tmp_path / "x.db")
    assert found(db, "Derived::f") == ["n::Base::f void f()"]
    assert found(db, "Derived::g") == []
    db.close()


def test_one_language_can_be_asked_for(db: sqlite3.Connection) -> None:
    assert found(db, "FuseTIR", "python") == [f"{WRAPPER.qualname} {WRAPPER.signature}"]


# near names


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("FuTIR", "FuseTIR"),
        ("fusetir", "FuseTIR"),
        ("FuesTIR", "FuseTIR"),
        ("FuseTRI", "FuseTIR"),
        ("FuseTIRs", "FuseTIR"),
        ("emti", "emit"),
    ],
)
def test_near_names_are_suggested(db: sqlite3.Connection, typed: str, meant: str) -> None:
    answer = ask(db, f"who calls {typed}")
    assert answer.exit_code == 1
    assert answer.near[0] == meant
    assert f"near: {meant}" in "\n".join(trouble_lines(answer))


@pytest.mark.parametrize("typed", ["zzqqxx", '"; DROP', "%", "a*", "[", "ü", "()", "::"])
def test_hopeless_names_suggest_nothing_and_break_nothing(db: sqlite3.Connection, typed: str) -> None:
    assert near_names(db, typed) == []
    assert not find(db, typed)


def test_near_keys_are_suggested(db: sqlite3.Connection) -> None:
    assert run(db, "key", ("relax.transform.FuseTiR",)).near == [KEY]


def test_completion_offers_names(db: sqlite3.Connection) -> None:
    assert names_with_prefix(db, "FuseT") == ["FuseTIR"]


OPERATORS = ("torch:conv2d", "torch:conv2d.default", "torch:conv2d_backward", "onnx:Conv", "pytorch:aten::conv2d")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aten.conv2d", ["pytorch:aten::conv2d", "torch:conv2d", "torch:conv2d.default"]),
        ("aten::conv2d", ["pytorch:aten::conv2d"]),
        ("torch.ops.aten.conv2d.default", ["torch:conv2d.default", "pytorch:aten::conv2d", "torch:conv2d"]),
        ("onnx Conv", ["onnx:Conv"]),
        ("onnx.Conv", ["onnx:Conv"]),
        ("Conv", ["onnx:Conv"]),
        ("aten.conv", []),
        ("my.conv2d", []),
    ],
)
def test_operators_are_found_as_their_frameworks_name_them(tmp_path: Path, text: str, expected: list[str]) -> None:
    """Which function converts aten.conv2d, or onnx Conv? is what somebody asks whose model fails to import."""
    table = FileFacts("python/tvm/relax/frontend/x.py", Lang.PYTHON, lines=9)
    table.key_defs = [KeyDef("frontend", name, "python", 1, id_of(EMIT)) for name in OPERATORS]
    build(tmp_path / "x.db", [table])
    with contextlib.closing(open_index(tmp_path / "x.db")) as db:
        assert [key.name for key in run(db, "key", (text,)).keys] == expected
        if expected:
            answer = ask(db, f"which function converts {text}?")
            assert (answer.verb, [key.name for key in answer.keys]) == ("key", expected)
