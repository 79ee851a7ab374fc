"""A demangled name must find its symbol, or say why not: a wrong symbol would be a lie about what ran."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib import resources

import pytest

from xref.trace.cpp_symbols import AMBIGUOUS, GENERATED, NOT_INDEXED, STANDARD, CppSymbols, signature_types, split_name

# Names as callgrind wrote them for the TVM of tilelang 0.1.14.
SPLIT = {
    "tvm::relax::transform::FuseTIR()": (("tvm", "relax", "transform", "FuseTIR"), ()),
    "tvm::tirx::ExprFunctor<tvm::PrimExpr (tvm::PrimExpr const&)>::VisitExpr(tvm::PrimExpr const&)": (
        ("tvm", "tirx", "ExprFunctor", "VisitExpr"),
        ("PrimExpr",),
    ),
    "tvm::NodeFunctor<void (tvm::ObjectRef const&, tvm::S*)>::operator()(tvm::ObjectRef const&, tvm::S*) const": (
        ("tvm", "NodeFunctor", "operator()"),
        ("ObjectRef", "S*"),
    ),
    "tvm::tirx::BufferLoad tvm::Downcast<tvm::tirx::BufferLoad, tvm::PrimExpr, void>(tvm::PrimExpr)": (
        ("tvm", "Downcast"),
        ("PrimExpr",),
    ),
    "tvm::AutoPadder::RewriteBufferAccess(tvm::tirx::Stmt const&)::Rewriter::VisitExpr_(tvm::BufferLoadNode const*)": (
        ("tvm", "AutoPadder", "RewriteBufferAccess", "Rewriter", "VisitExpr_"),
        ("BufferLoadNode*",),
    ),
    "(anonymous namespace)::helper(unsigned long, std::__cxx11::basic_string<char> const&)": (
        ("helper",),
        ("long", "string"),
    ),
    "tvm::operator<<(std::ostream&, tvm::A const&)": (("tvm", "operator<<"), ("ostream", "A")),
    "tvm::operator->(int)": (("tvm", "operator->"), ("int",)),
}  # fmt: skip


@pytest.mark.parametrize("name", SPLIT)
def test_a_demangled_name_comes_apart(name: str) -> None:
    assert split_name(name) == SPLIT[name]


@pytest.mark.parametrize("name", ["tvm::f(", "f)", "a<b", "{", ">", ""])
def test_a_broken_name_breaks_nothing(name: str) -> None:
    split_name(name)
    assert CppSymbols(_empty()).find(name)[0] is None


def test_source_and_demangler_spell_types_alike() -> None:
    signature = "Call Make(const ffi::Array<Expr, void> &, int64_t, std::string &&, const char *, size_t) const"
    name = "tvm::Make(tvm::ffi::Array<tvm::Expr, void> const&, long, std::string&&, char const*, unsigned long)"
    parts = split_name(name)
    assert parts is not None
    assert signature_types(signature) == parts[1] == ("Array", "long", "string&&", "char*", "long")


def _empty() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.executescript(resources.files("xref").joinpath("schema.sql").read_text("utf-8"))
    return db


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """Overloads, a template, a class without written members, and two lambdas that one function holds."""
    db = _empty()
    symbols = [
        (1, "function", "tvm::f", "int f(int)", None), (2, "function", "tvm::f", "int f(const A &)", None),
        (3, "function", "tvm::Downcast", "T Downcast(const Any &)", None),
        (4, "function", "tvm::Downcast", "T Downcast(Base)", None), (5, "template_parameter", "Base", "", 4),
        (6, "class", "tvm::Plain", "", None), (7, "method", "tvm::V::Init", "F Init()", None),
        (8, "lambda", "tvm::V::Init::{lambda#1}", "", 7), (9, "lambda", "tvm::V::Init::{lambda#2}", "", 7),
        (10, "parameter", "n", "const ObjectRef & n", 8), (11, "parameter", "n", "const ObjectRef & n", 9),
        (12, "parameter", "self", "TSelf * self", 8), (13, "parameter", "self", "TSelf * self", 9),
        (14, "function", "tvm::one", "void one()", None), (15, "lambda", "tvm::one::{lambda: g}", "", 14),
        (16, "function", "tvm::any", "R any(const A &, Args...)", None), (17, "function", "tvm::any", "R any()", None),
    ]  # fmt: skip
    for number, kind, qualname, signature, parent in symbols:
        db.execute(
            "INSERT INTO symbol VALUES (?, ?, 'cpp', ?, ?, ?, NULL, ?, 1, 1, ?, '', ?, 1, '', '')",
            (number, f"k{number}", kind, qualname.rpartition("::")[2], qualname, number, signature, parent),
        )
    yield db
    db.close()


@pytest.mark.parametrize(
    ("name", "symbol", "reason"),
    [
        ("tvm::f(int)", 1, ""),
        ("tvm::f(tvm::A const&)", 2, ""),
        ("tvm::f(tvm::A const&) [clone .isra.0]", 2, ""),
        ("tvm::f(int, int)", None, AMBIGUOUS),
        ("tvm::f(tvm::Other)", None, AMBIGUOUS),
        ("tvm::X tvm::Downcast<tvm::X>(tvm::Any const&)", 3, ""),
        ("tvm::X tvm::Downcast<tvm::X, tvm::Y>(tvm::Y)", 4, ""),
        ("tvm::any<int, long>(tvm::A const&, int, long)", 16, ""),
        ("tvm::Plain::~Plain()", None, GENERATED),
        ("tvm::Plain::gone()", None, NOT_INDEXED),
        ("std::vector<int>::push_back(int&&)", None, STANDARD),
        ("tvm::V<int>::Init()::{lambda(tvm::ObjectRef const&, tvm::V<int>*)#2}::_FUN(tvm::ObjectRef const&)", 9, ""),
        (
            "tvm::V<int>::Init()::{lambda(tvm::ObjectRef const&, tvm::V<int>*)#1}::operator()(tvm::ObjectRef) const",
            8,
            "",
        ),
        ("tvm::one()::{lambda(int)#1}::operator()(int) const", 15, ""),
    ],
)
def test_a_name_finds_its_symbol_or_says_why_not(
    db: sqlite3.Connection, name: str, symbol: int | None, reason: str
) -> None:
    assert CppSymbols(db).find(name) == (symbol, reason)
