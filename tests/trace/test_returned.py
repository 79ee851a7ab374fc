"""A function without a key joins to the one that its producer can have handed out; to none where that is a guess."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from trace_case import ROOT

from xref.index import IndexOptions, run_index
from xref.trace.returned import NO_KEY, Returned
from xref.trace.symbols import Keys

SOURCE = """
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/registry.h>
namespace tvm {
struct Step { Step(int size) {} int operator()(int at) { return at; } };
struct Order { Order() {} bool operator()(int a, int b) { return a < b; } };
void Sort(Order by) {}
ffi::Function Other();

static ffi::TypedFunction<ffi::Function(int)> Factory(int self) {
  return ffi::TypedFunction<ffi::Function(int)>([self](int name) -> ffi::Function {
    if (name == self) return ffi::Function::FromTyped([](int x) { return x; }, "");
    return ffi::Function::FromTyped([](int x) { return x + 1; }, "");
  });
}

static ffi::Function MakeInit(int type) {
  return ffi::Function::FromPacked([type](ffi::PackedArgs args) { return type; });
}
static int RegisterInit(int type) {
  ffi::Function init = MakeInit(type);
  return type;
}

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef()
      .def("test.Iterator", [](int size) { return ffi::Function::FromTyped(Step(size), ""); })
      .def("test.List", [](int size) {
        auto item = [size](int at) { return at + size; };
        return ffi::Function::FromTyped(item, "");
      })
      .def("test.Factory", [](int self) { return Factory(self); })
      .def("ffi._RegisterFFIInit", RegisterInit)
      .def("test.Sorted", [](int self) { Sort(Order()); return Other(); });
}
}  // namespace tvm
"""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """An index of the source above."""
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "tests" / "cases" / "cpp" / "include", tree / "include")
    (tree / "python" / "tvm").mkdir(parents=True)
    (tree / "python" / "tvm" / "__init__.py").touch()
    (tree / "src" / "ir").mkdir(parents=True)
    (tree / "src" / "ir" / "returned.cc").write_text(SOURCE)
    path = tree.parent / f"{tree.name}.db"
    run_index(IndexOptions(tree, path, jobs=1))
    with closing(sqlite3.connect(path)) as connection:
        yield connection


def _name(db: sqlite3.Connection, symbol: int | None) -> str:
    row = db.execute("SELECT qualname FROM symbols WHERE id = ?", (symbol,)).fetchone()
    return str(row[0]) if row else ""


@pytest.mark.parametrize(
    ("name", "is_named", "expected"),
    [
        ("test.Iterator", False, "tvm::Step::operator()"),
        ("test.List", False, "tvm::{init: test.Iterator}::{lambda: test.List}::{lambda: item}"),
        ("test.Factory", False, "tvm::Factory::{lambda#1}"),
        ("ffi._RegisterFFIInit", False, "tvm::MakeInit::{lambda#1}"),
    ],
)
def test_the_only_function_that_is_handed_out_is_meant(
    db: sqlite3.Connection, name: str, is_named: bool, expected: str
) -> None:
    symbol, reason = Returned(db, Keys(db).find).find(name, is_named=is_named)
    assert (_name(db, symbol), reason) == (expected, "")


@pytest.mark.parametrize(
    ("name", "is_named", "reason"),
    [
        ('test.Factory()("step")', True, "one of 2 functions that are written where it is returned"),
        ("test.Factory()", False, "one of 2 functions that are written where it is returned"),
        ("test.Sorted", False, NO_KEY),
        ('test.Iterator("x")("y")', True, NO_KEY),
        ("test.unknown", False, "no such key in the index (registry ffi)"),
        ('"', True, NO_KEY),
    ],
)
def test_what_would_be_a_guess_is_none(db: sqlite3.Connection, name: str, is_named: bool, reason: str) -> None:
    assert Returned(db, Keys(db).find).find(name, is_named=is_named) == (None, reason)
