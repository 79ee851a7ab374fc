"""What C++ says of a value's class decides which Python operator runs on it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from python_case import index
from test_python_flow import linked

from xref.link import flow
from xref.link.step import Derived
from xref.model import symbol_id
from xref.python.declarations import member_key

_SOURCE = """
class Object: ...

class Expr(Object): ...

class Prim(Expr):
    def __add__(self, other): ...

class Var(Expr):
    def __add__(self, other): ...

class Shape(Expr):
    def __add__(self, other): ...

class Text(Expr):
    def __add__(self, other): ...

class Range(Object):
    def both(self):
        return self.extent + 1, self.any + 1
"""
_TYPES = {"ir.Expr": "Expr", "ir.Prim": "Prim", "ir.Var": "Var", "ir.Shape": "Shape", "ir.Text": "Text",
          "ir.Range": "Range"}  # fmt: skip
_CONSTRUCTORS = {"PrimVar": "PrimVar(::tvm::ffi::ObjectPtr<VarNode>)", "PrimExpr": "PrimExpr(PrimExpr &&)"}
_BASES = [("PrimExpr", "Expr"), ("Prim", "PrimExpr"), ("Text", "PrimExpr"), ("PrimVar", "PrimExpr"), ("Shape", "Expr")]
_FIELDS = {"ir.Range.extent": "PrimExpr extent", "ir.Range.any": "Expr any", "ir.Text.value": "ffi::String value"}


def _symbol(db: sqlite3.Connection, kind: str, qualname: str, signature: str = "") -> int:
    id_ = symbol_id(f"cpp {kind} {qualname} {signature}")
    db.execute(
        "INSERT OR IGNORE INTO symbol VALUES(?, ?, 'cpp', ?, ?, ?, NULL, 1, 1, 1, ?, '', NULL, 1, '', '')",
        (id_, f"{kind} {qualname} {signature}", kind, qualname.rpartition("::")[2], qualname, signature),
    )
    return id_


def _define(db: sqlite3.Connection, registry: str, name: str, side: str, id_: int) -> None:
    db.execute("INSERT INTO key_def VALUES(?, ?, ?, 1, 1, ?, '', '', '')", (registry, name, side, id_))


@pytest.fixture
def tree(tmp_path: Path) -> sqlite3.Connection:
    (tmp_path / "tree" / "python").mkdir(parents=True)
    (tmp_path / "tree" / "python" / "m.py").write_text(_SOURCE)
    facts = index(tmp_path / "tree", tmp_path / "scratch")
    linked(facts, tmp_path / "xref.db").close()
    db = sqlite3.connect(tmp_path / "xref.db")
    for key, name in _TYPES.items():
        _define(db, "type", key, "python", symbol_id(member_key("m", name)))
        _define(db, "type", key, "cpp", _symbol(db, "class", f"tvm::{name}Node"))
    for name, signature in _CONSTRUCTORS.items():
        _symbol(db, "constructor", f"tvm::{name}::{name}", signature)
    for name, base in _BASES:
        pair = (_symbol(db, "class", f"tvm::{name}"), _symbol(db, "class", f"tvm::{base}"))
        db.execute("INSERT INTO relation VALUES(?, 'base', ?, 1, '')", pair)
    for key, signature in _FIELDS.items():
        _define(db, "field", key, "cpp", _symbol(db, "field", f"tvm::{key}::{key.rpartition('.')[2]}", signature))
    derived = Derived(db, "flow")
    derived.clear()
    flow.STEP.derive(derived, None)
    return db


def test_an_operator_on_a_value_runs_what_the_classes_of_its_cpp_reference_have(tree: sqlite3.Connection) -> None:
    """A `PrimExpr` is one of the classes derived from it, or a variable; never a shape, and no text is added."""
    rows = tree.execute(
        "SELECT c.col, b.qualname, c.evidence, c.via FROM call c JOIN symbol b ON b.id = c.callee_id"
        " WHERE b.name = '__add__' ORDER BY 1, 2"
    ).fetchall()
    assert rows == [
        (16, "m.Prim.__add__", "virtual", "m.Expr"),
        (16, "m.Var.__add__", "virtual", "m.Expr"),
        (33, "m.Prim.__add__", "name", "m.Expr"),
        (33, "m.Shape.__add__", "name", "m.Expr"),
        (33, "m.Text.__add__", "name", "m.Expr"),
        (33, "m.Var.__add__", "name", "m.Expr"),
    ]
