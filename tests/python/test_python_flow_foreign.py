"""What C++ says of a value's class decides which Python operator runs on it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from python_case import index
from test_python_flow import linked

from xref.link import flow
from xref.link.flow_types import read_foreign_types
from xref.link.step import Derived, Touched
from xref.model import symbol_id
from xref.python.declarations import member_key
from xref.python.flow.foreign import refuses_function

_SOURCE = """
import _ffi_api

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

def same(one):
    return one

class Map(Object):
    def get(self, key): ...

class Dict(Object):
    def get(self, key): ...

class Range(Object):
    table: Dict[str, int]
    fields: dict[str, "Range"]

    def tables(self):
        return same(self).table.get("a"), same(self).fields.get("a")

    def both(self):
        return self.extent + 1, self.any + 1

    def sums(self):
        sum = _ffi_api.sum(self.extent, 1)
        return sum + 1, (self.extent * 2) + 2

class Sum(Prim):
    def __mul__(self, other):
        return _ffi_api.sum(self, other)

class Name(Var):
    def __mul__(self, other):
        return self

def callback(): ...

def handed():
    _ffi_api.sum(callback, 1)
    _ffi_api.run(callback)
    held = _ffi_api.hold(callback)
    _ffi_api.pair(held)
    kept = _ffi_api.keep(callback)
    _ffi_api.pair(kept)

def store(value):
    _ffi_api.store(value)

def store_function(value):
    _ffi_api.store_one(value)

def stored():
    store(callback)
    store(Sum())
    store_function(callback)
"""
_FUNCTIONS = {"m.run": "void (ffi::Optional<ffi::Function>)", "m.pair": "void (ffi::ObjectRef)",
              "m.hold": "Expr (ffi::Any)", "m.keep": "Range (ffi::TypedFunction<void ()>)",
              "m.store": "void (ffi::Any)", "m.store_one": "void (ffi::Any)"}  # fmt: skip
_TYPES = {"ir.Expr": "Expr", "ir.Prim": "Prim", "ir.Var": "Var", "ir.Shape": "Shape", "ir.Text": "Text",
          "ir.Range": "Range", "ir.Sum": "Sum", "ir.Name": "Name", "ffi.Map": "Map"}  # fmt: skip
_CONSTRUCTORS = {"PrimVar": "PrimVar(::tvm::ffi::ObjectPtr<VarNode>)", "PrimExpr": "PrimExpr(PrimExpr &&)"}
_BASES = [
    ("PrimExpr", "Expr"),
    ("Prim", "PrimExpr"),
    ("Text", "PrimExpr"),
    ("PrimVar", "PrimExpr"),
    ("Shape", "Expr"),
    ("Sum", "PrimExpr"),
    ("Name", "PrimExpr"),
]
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
    (tmp_path / "tree" / "python" / "_ffi_api.py").write_text('import tvm_ffi\ntvm_ffi.init_ffi_api("m", __name__)\n')
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
    made = _symbol(db, "lambda", "tvm::{init}::{lambda: sum}", "PrimExpr (PrimExpr, PrimExpr)")
    _define(db, "ffi", "m.sum", "cpp", made)
    for key, signature in _FUNCTIONS.items():
        _define(db, "ffi", key, "cpp", _symbol(db, "lambda", f"tvm::{{init}}::{{lambda: {key}}}", signature))
    _symbol(db, "field", "tvm::RangeNode::on_change", "ffi::Function on_change")
    add = _symbol(db, "function", "tvm::add", "PrimExpr add(PrimExpr, PrimExpr)")
    db.executemany(
        "INSERT INTO call(caller_id, callee_id, evidence, file_id, line, col, via, step)"
        " VALUES (?, ?, 'direct', 1, 1, 1, '', '')",
        [(made, add), (add, _symbol(db, "constructor", "tvm::Sum::Sum", "Sum(PrimExpr, PrimExpr)"))],
    )
    derived = Derived(db, "flow")
    derived.clear()
    flow.STEP.derive(derived, None)
    return db


def _operators(db: sqlite3.Connection, name: str) -> list[tuple[str, int, str, str]]:
    """What is returned in the line, column, method and evidence of each call of a method."""
    lines = _SOURCE.splitlines()
    rows = db.execute(
        "SELECT c.line, c.col, b.qualname, c.evidence FROM call c JOIN symbol b ON b.id = c.callee_id"
        " WHERE b.name = ? ORDER BY 1, 2, 3",
        (name,),
    )
    return [(lines[row[0] - 1].strip().removeprefix("return "), *row[1:]) for row in rows]


def test_an_operator_on_a_value_runs_what_the_classes_of_its_cpp_reference_have(tree: sqlite3.Connection) -> None:
    """A `PrimExpr` is one of the classes derived from it, or a variable; never a shape, and no text is added."""
    assert [row for row in _operators(tree, "__add__") if row[0] == "self.extent + 1, self.any + 1"] == [
        ("self.extent + 1, self.any + 1", 16, "m.Prim.__add__", "virtual"),
        ("self.extent + 1, self.any + 1", 16, "m.Var.__add__", "virtual"),
        ("self.extent + 1, self.any + 1", 33, "m.Prim.__add__", "name"),
        ("self.extent + 1, self.any + 1", 33, "m.Shape.__add__", "name"),
        ("self.extent + 1, self.any + 1", 33, "m.Text.__add__", "name"),
        ("self.extent + 1, self.any + 1", 33, "m.Var.__add__", "name"),
    ]


def test_what_a_function_of_cpp_constructs_says_which_operator_runs_on_its_result(tree: sqlite3.Connection) -> None:
    """`sum` is declared to return a `PrimExpr`, but makes a `Sum`: that another class's operator runs is a guess. What
    an operator makes that calls it is a `Sum` too, whichever class's operator it was."""
    assert [row for row in _operators(tree, "__add__") if row[0] == "sum + 1, (self.extent * 2) + 2"] == [
        ("sum + 1, (self.extent * 2) + 2", 16, "m.Prim.__add__", "virtual"),
        ("sum + 1, (self.extent * 2) + 2", 16, "m.Var.__add__", "name"),
        ("sum + 1, (self.extent * 2) + 2", 25, "m.Prim.__add__", "virtual"),
        ("sum + 1, (self.extent * 2) + 2", 25, "m.Var.__add__", "name"),
    ]
    assert _operators(tree, "__mul__") == [
        ("sum + 1, (self.extent * 2) + 2", 26, "m.Name.__mul__", "virtual"),
        ("sum + 1, (self.extent * 2) + 2", 26, "m.Sum.__mul__", "virtual"),
    ]


def test_calls_are_not_read_again_for_each_function_of_cpp(tree: sqlite3.Connection) -> None:
    """Before a new index has its indexes, each look at the calls of a function reads those of the whole tree."""

    def statements() -> int:
        asked: list[str] = []
        tree.set_trace_callback(asked.append)
        read_foreign_types(tree, {})
        tree.set_trace_callback(None)
        return sum("FROM call" in sql for sql in asked)

    before = statements()
    assert before > 0
    for number in range(20):
        one = _symbol(tree, "lambda", f"tvm::{{init}}::{{lambda: more{number}}}", "PrimExpr (PrimExpr)")
        _define(tree, "ffi", f"m.more{number}", "cpp", one)
    assert statements() == before


def test_a_container_of_the_tree_is_not_taken_for_that_of_typing_with_its_name(tree: sqlite3.Connection) -> None:
    """A field annotated `dict` of a registered class holds the FFI's map; one annotated `Dict` holds that class."""
    assert [row[2:] for row in _operators(tree, "get")] == [("m.Dict.get", "value"), ("m.Map.get", "value")]


def test_cpp_runs_what_its_types_let_it_be_given(tree: sqlite3.Connection) -> None:
    """Not a function where it declares a `PrimExpr`; nor one of an object whose class has no such field. Where it takes
    anything, and is given other things at that place too, a function is a guess."""
    lines = _SOURCE.splitlines()
    rows = tree.execute(
        "SELECT c.line, c.via, c.evidence FROM call c JOIN symbol b ON b.id = c.callee_id"
        " WHERE b.name = 'callback' AND c.via <> '' ORDER BY 1"
    )
    assert [(lines[line - 1].strip(), key, evidence) for line, key, evidence in rows] == [
        ("_ffi_api.run(callback)", "m.run", "registry"),
        ("held = _ffi_api.hold(callback)", "m.hold", "registry"),
        ("kept = _ffi_api.keep(callback)", "m.keep", "registry"),
        ("_ffi_api.pair(kept)", "m.pair", "registry"),
        ("_ffi_api.store(value)", "m.store", "name"),
        ("_ffi_api.store_one(value)", "m.store_one", "registry"),
    ]


def test_a_field_that_cpp_gets_makes_the_flow_be_solved_again(tree: sqlite3.Connection) -> None:
    """No file of Python was read again, and no key, type or result has changed: a class may hold functions now."""

    def given() -> int:
        return int(
            tree.execute("SELECT count(*) FROM call WHERE via = 'm.pair' AND evidence = 'registry'").fetchone()[0]
        )

    before = given()
    _symbol(tree, "field", "tvm::ExprNode::on_visit", "ffi::Function on_visit")
    flow.STEP.derive(Derived(tree, "flow"), Touched(frozenset()))
    assert given() == before + 1


@pytest.mark.parametrize(("written", "refuses"), [
    ("const ffi::Array<PrimExpr> &", True), ("ffi::Map<ffi::String, ffi::Any>", False), ("int", True),
    ("ffi::Optional<ffi::Function>", False), ("Function", True), ("ffi::Function", False), ("FPredict", False),
])  # fmt: skip
def test_which_types_of_cpp_no_function_is_converted_to(written: str, refuses: bool) -> None:
    """`Function` is Relax's where the code is in its namespace."""
    classes = {"tvm::PrimExpr": 1, "tvm::relax::Function": 2, "tvm::ffi::Function": 3}
    assert refuses_function(classes, "tvm::relax", written) == refuses
