"""What the linker makes of keys and virtual calls: an edge too few hides a caller, one too many sends people astray."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from xref.link import keys as key_step
from xref.link import link, overriders
from xref.link.doubts import EXPECTED, TVM_HEADER, WHOLE_TREE
from xref.model import (
    AttributeRead,
    Call,
    Evidence,
    FileFacts,
    KeyDef,
    KeyUse,
    Lang,
    Ref,
    Relation,
    Role,
    Status,
    Symbol,
    symbol_id,
)
from xref.registry.types import RESERVED_BELOW_OBJECT
from xref.store import IndexBuilder, open_index


def _symbol(name: str, kind: str = "function", parent: str = "") -> Symbol:
    return Symbol(f"cpp:{name}", kind, name.rsplit("::", 1)[-1], name, 1, 1, 1, parent=_id(parent) if parent else None)


def _id(name: str) -> int:
    return symbol_id(f"cpp:{name}")


def _linked(path: Path, facts: FileFacts, guard: str = "") -> sqlite3.Connection:
    with IndexBuilder(path) as builder:
        builder.add_file(facts.path, facts.lang, "", 0, 0, guard)
        builder.add_facts(facts)
        builder.flush_symbols()
        with builder.writing() as db:
            link(db)
        builder.publish()
    return open_index(path)


def _use(name: str, line: int, *, calls: bool = True, optional: bool = False, within: str = "user") -> KeyUse:
    return KeyUse("ffi", name, "cpp", line, 1, _id(within), calls, optional)


def _key(name: str, runs: str = "", guard: str = "", line: int = 1) -> KeyDef:
    return KeyDef("ffi", name, "cpp", line, _id(runs) if runs else None, guard)


def _keys(path: Path, keys: Sequence[KeyDef], uses: Sequence[KeyUse], guard: str = "") -> sqlite3.Connection:
    facts = FileFacts("a.cc", Lang.CPP, key_defs=list(keys), key_uses=list(uses))
    facts.symbols = [_symbol(name) for name in ("user", "f", "g", "h")]
    return _linked(path, facts, guard)


def _edges(db: sqlite3.Connection, evidence: Evidence) -> list[tuple[str, str, int, str]]:
    return db.execute(
        "SELECT a.qualname, b.qualname, c.line, c.via FROM calls c JOIN symbols a ON a.id = c.caller_id"
        " JOIN symbols b ON b.id = c.callee_id WHERE c.evidence = ? ORDER BY c.line, b.qualname",
        (evidence,),
    ).fetchall()


def _statuses(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, status FROM key_uses"))


def test_each_use_of_a_key_gets_its_status(tmp_path: Path) -> None:
    keys = [_key("known", "f"), _key("behind", "f", "USE_X"), _key("both", "f", "USE_X"), _key("both", "g")]
    uses = [_use("known", 1), _use("behind", 2), _use("both", 3), _use("gone", 4), _use("hook", 5, optional=True),
            _use("prefix.*", 7)]  # fmt: skip
    assert _statuses(_keys(tmp_path / "x.db", keys, uses)) == {
        "known": "resolved",
        "behind": "guarded",
        "both": "resolved",
        "gone": "dangling",
        "hook": "optional",
        "prefix.*": "wildcard",
    }


def test_an_operator_is_registered_by_its_first_attribute(tmp_path: Path) -> None:
    """TVM's PTX operators have no registration but register_op_attr: without this, each use of them would dangle."""
    keys = [KeyDef("op_attr", f"tirx.ptx.fns:{key}", "python", line) for line, key in ((8, "Second"), (7, "First"))]
    keys += [KeyDef("op", "relax.add", "cpp", 1), KeyDef("op_attr", "relax.add:FLegalize", "python", 9)]
    db = _keys(tmp_path / "x.db", keys, [KeyUse("op", "tirx.ptx.fns", "cpp", 3, 1, _id("user"))])
    assert db.execute("SELECT name, side, line FROM key_defs WHERE registry = 'op' ORDER BY name").fetchall() == [
        ("relax.add", "cpp", 1),
        ("tirx.ptx.fns", "python", 7),
    ]
    assert _statuses(db) == {"tirx.ptx.fns": "resolved"}


def test_a_constant_that_an_attribute_holds_is_not_called(tmp_path: Path) -> None:
    """`register_op_attr(op, "TCallEffectKind", OPAQUE)`: the key names the constant, and nothing runs it."""
    facts = FileFacts("a.cc", Lang.CPP, key_defs=[KeyDef("op_attr", "op:K", "python", 1, _id("OPAQUE"))])
    facts.symbols = [_symbol("user"), _symbol("OPAQUE", "variable")]
    facts.key_uses = [KeyUse("op_attr", "*:K", "cpp", 2, 1, _id("user"), calls=True)]
    assert _edges(_linked(tmp_path / "x.db", facts), Evidence.REGISTRY) == []


def test_an_optional_use_of_a_known_key_is_resolved(tmp_path: Path) -> None:
    assert _statuses(_keys(tmp_path / "x.db", [_key("known", "f")], [_use("known", 1, optional=True)])) == {
        "known": "resolved"
    }


def test_a_key_of_one_registry_does_not_answer_for_another(tmp_path: Path) -> None:
    other = KeyDef("pass", "name", "cpp", 1, _id("f"))
    db = _keys(tmp_path / "x.db", [other], [_use("name", 1)])
    assert _statuses(db) == {"name": "dangling"}
    assert _edges(db, Evidence.REGISTRY) == []


def test_the_build_option_of_the_file_guards_its_keys(tmp_path: Path) -> None:
    db = _keys(tmp_path / "x.db", [_key("k", "f"), _key("l", "f", "USE_X")], [_use("k", 1)], guard="USE_CUDA")
    assert dict(db.execute("SELECT name, guard FROM key_defs")) == {"k": "USE_CUDA", "l": "USE_CUDA and USE_X"}
    assert _statuses(db) == {"k": "guarded"}


def test_using_a_key_calls_what_every_definition_runs(tmp_path: Path) -> None:
    """Two files may register one key under different options: both are what may run."""
    keys = [_key("k", "f", "USE_X", 1), _key("k", "g", "USE_Y", 2), _key("k", "f", "USE_Z", 3), _key("nothing")]
    uses = [
        _use("k", 10),
        _use("nothing", 11),
        _use("k", 12, calls=False),
        KeyUse("ffi", "k", "cpp", 13, 1, None, True),
    ]
    db = _keys(tmp_path / "x.db", keys, uses)
    assert _edges(db, Evidence.REGISTRY) == [("user", "f", 10, "k"), ("user", "g", 10, "k")]


def test_a_key_of_a_virtual_method_reaches_its_overriders(tmp_path: Path) -> None:
    facts = FileFacts(
        "a.cc", Lang.CPP, key_defs=[_key("ScheduleSplit", "Node::Split")], key_uses=[_use("ScheduleSplit", 3)]
    )
    facts.symbols = [
        _symbol("user"),
        _symbol("Node", "class"),
        _symbol("Concrete", "class"),
        _symbol("Node::Split", "method", "Node"),
        _symbol("Concrete::Split", "method", "Concrete"),
    ]
    facts.relations = [
        Relation(_id("Concrete"), "base", _id("Node")),
        Relation(_id("Concrete::Split"), "overrides", _id("Node::Split")),
    ]
    db = _linked(tmp_path / "x.db", facts)
    assert _edges(db, Evidence.VIRTUAL) == [("user", "Concrete::Split", 3, "Node")]


def test_a_prefix_reaches_every_key_below_it(tmp_path: Path) -> None:
    keys = [_key("build.c", "f"), _key("build.llvm", "g"), _key("builder", "h"), _key("build.")]
    db = _keys(tmp_path / "x.db", keys, [_use("build.*", 5), _use("build.*", 6)])
    assert _edges(db, Evidence.REGISTRY) == [
        ("user", "f", 5, "build.c"),
        ("user", "g", 5, "build.llvm"),
        ("user", "f", 6, "build.c"),
        ("user", "g", 6, "build.llvm"),
    ]
    relations = db.execute("SELECT name, kind, other FROM key_relations ORDER BY name").fetchall()
    assert relations == [
        ("build.", "under_prefix", "build.*"),
        ("build.c", "under_prefix", "build.*"),
        ("build.llvm", "under_prefix", "build.*"),
    ]
    assert ("ffi", "build.*") not in db.execute("SELECT registry, name FROM keys").fetchall()


def test_a_prefix_of_too_many_keys_is_said_not_drawn(tmp_path: Path) -> None:
    count = key_step.MAX_UNDER_PREFIX + 1
    db = _keys(tmp_path / "x.db", [_key(f"all.{i:03}", "f") for i in range(count)], [_use("all.*", 5)])
    assert _edges(db, Evidence.REGISTRY) == []
    assert db.execute("SELECT path, line, in_symbol_id, text, reason FROM unresolved").fetchall() == [
        ("a.cc", 5, _id("user"), "all.*", f"{count} keys under the prefix")
    ]
    assert db.execute("SELECT count(*) FROM key_relations").fetchone() == (count,)


@pytest.mark.parametrize(
    ("resolved", "status", "detail", "said"),
    [
        (10, "ok", "", []),
        (9, "ok", "", []),
        (8, "ok", "", ["1 of 9 uses of keys dangle (the registrations may have a form that this xref does not know"]),
        (1, "degraded", "missing header dlpack.h", ["1 of 2 uses of keys dangle (1 C++ files miss a header"]),
    ],
)
def test_uses_that_mostly_dangle_are_doubted(
    tmp_path: Path, resolved: int, status: str, detail: str, said: list[str]
) -> None:
    """A macro that upstream renamed must not pass for a tree in which nobody registers anything."""
    facts = FileFacts("a.cc", Lang.CPP, symbols=[_symbol("user"), _symbol("f")], key_defs=[_key("known", "f")])
    facts.key_uses = [_use("known", line) for line in range(resolved)] + [_use("gone", 99)]
    with IndexBuilder(tmp_path / "x.db") as builder:
        builder.add_file("a.cc", Lang.CPP, "", 0, 0)
        builder.add_facts(facts)
        builder.set_status("a.cc", Status(status), detail, 1)
        builder.flush_symbols()
        with builder.writing() as db:
            warnings = link(db)
    assert [warning.startswith(start) for warning, start in zip(warnings, said, strict=True)] == [True] * len(said)


CLASSES = {"Base": "", "Left": "Base", "LeftLeaf": "Left", "Right": "Base"}
"""Class -> its base; each but LeftLeaf's parent Left has a method run, see `_virtual`."""


def _virtual(path: Path, calls: Sequence[Call], more: Sequence[Symbol] = ()) -> sqlite3.Connection:
    facts = FileFacts("a.cc", Lang.CPP, calls=list(calls))
    facts.symbols = [_symbol("user"), *more]
    for name, base in CLASSES.items():
        facts.symbols.append(_symbol(name, "class"))
        facts.symbols.append(_symbol(f"{name}::run", "method", name))
        if base:
            facts.relations.append(Relation(_id(name), "base", _id(base)))
            facts.relations.append(Relation(_id(f"{name}::run"), "overrides", _id(f"{base}::run")))
    return _linked(path, facts)


def _call(callee: str, via: str, evidence: Evidence = Evidence.DIRECT) -> Call:
    return Call(_id("user"), _id(callee), evidence, 7, 3, via)


@pytest.mark.parametrize(
    ("callee", "static_type", "reached"),
    [
        ("Base::run", "Base", ["Left::run", "LeftLeaf::run", "Right::run"]),
        ("Left::run", "Left", ["LeftLeaf::run"]),
        ("Base::run", "Left", ["Left::run", "LeftLeaf::run"]),
        ("LeftLeaf::run", "LeftLeaf", []),
        ("Base::run", "Unknown", ["Left::run", "LeftLeaf::run", "Right::run"]),
        ("Base::run", "", []),
    ],
    ids=["of the base", "of a class between", "method of the base, object of a class below", "of a leaf",
         "of a type that is not in the index", "not virtual"],
)  # fmt: skip
def test_a_virtual_call_reaches_the_overriders_at_and_below_the_static_type(
    tmp_path: Path, callee: str, static_type: str, reached: list[str]
) -> None:
    db = _virtual(tmp_path / "x.db", [_call(callee, static_type)])
    assert _edges(db, Evidence.VIRTUAL) == [("user", name, 7, static_type) for name in reached]
    assert _edges(db, Evidence.DIRECT) == [("user", callee, 7, static_type)]


def test_only_resolved_calls_are_dispatched(tmp_path: Path) -> None:
    """`via` of other evidence names a variable or a key, which must not be taken for a class of that name."""
    db = _virtual(tmp_path / "x.db", [_call("Base::run", "Base", Evidence.VALUE)])
    assert _edges(db, Evidence.VIRTUAL) == []


def test_a_virtual_call_of_too_many_overriders_is_said_not_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overriders, "MAX_OVERRIDERS", 2)
    db = _virtual(tmp_path / "x.db", [_call("Base::run", "Base"), _call("Left::run", "Left")])
    assert _edges(db, Evidence.VIRTUAL) == [("user", "LeftLeaf::run", 7, "Left")]
    assert db.execute("SELECT path, line, col, in_symbol_id, text, reason FROM unresolved").fetchall() == [
        ("a.cc", 7, 3, _id("user"), "Base", "virtual call with 3 overriders below Base")
    ]


def test_classes_that_inherit_in_a_circle_end(tmp_path: Path) -> None:
    """No C++ does, but a broken file read in part may say so."""
    facts = FileFacts("a.cc", Lang.CPP, calls=[_call("A::run", "A")])
    facts.symbols = [_symbol("user")]
    for name, other in (("A", "B"), ("B", "A")):
        facts.symbols += [_symbol(name, "class"), _symbol(f"{name}::run", "method", name)]
        facts.relations.append(Relation(_id(name), "base", _id(other)))
        facts.relations.append(Relation(_id(f"{name}::run"), "overrides", _id(f"{other}::run")))
    assert _edges(_linked(tmp_path / "x.db", facts), Evidence.VIRTUAL) == [("user", "B::run", 7, "A")]


def test_a_type_s_parent_is_the_nearest_class_with_a_key(tmp_path: Path) -> None:
    """`tirx.Add` < BinaryOpNode<T>, which has no key, < `ir.Expr`: an inherited field is looked up along this chain."""
    facts = FileFacts("a.h", Lang.CPP)
    facts.symbols = [_symbol(name, "class") for name in ("Add", "BinaryOp", "Expr", "Object")]
    facts.relations = [
        Relation(_id(derived), "base", _id(base))
        for derived, base in (("Add", "BinaryOp"), ("BinaryOp", "Expr"), ("Expr", "Object"))
    ]
    types = (("tirx.Add", "Add"), ("ir.Expr", "Expr"), ("ffi.Object", "Object"))
    facts.key_defs = [KeyDef("type", key, "cpp", 1, _id(class_)) for key, class_ in types]
    facts.key_defs.append(KeyDef("type", "ffi.OpaquePyObject", "cpp", 2, note=RESERVED_BELOW_OBJECT))
    facts.key_defs.append(KeyDef("type", "int", "cpp", 3, note="reserved for a value that is no object"))
    db = _linked(tmp_path / "x.db", facts)
    assert db.execute("SELECT name, kind, other FROM key_relations ORDER BY name").fetchall() == [
        ("ffi.OpaquePyObject", "parent", "ffi.Object"),
        ("ir.Expr", "parent", "ffi.Object"),
        ("tirx.Add", "parent", "ir.Expr"),
    ]


def test_a_use_through_a_module_of_two_namespaces_is_of_the_one_that_has_the_key(tmp_path: Path) -> None:
    """To v0.18 python/tvm/relay/backend/contrib/ethosu/_ffi_api.py is filled from two: half of its uses dangled."""
    uses = [_use("a.f", 1)._replace(candidates="a.f|b.f"), _use("a.g", 2)._replace(candidates="a.g|b.g")]
    db = _keys(tmp_path / "x.db", [_key("b.f", "f")], uses)
    assert _statuses(db) == {"b.f": "resolved", "a.g": "dangling"}
    assert _edges(db, Evidence.REGISTRY) == [("user", "f", 1, "b.f")]


def _whole(path: Path, keys: Sequence[KeyDef], uses: Sequence[KeyUse]) -> list[str]:
    """The doubts about a tree of as many C++ files as a whole TVM has at least."""
    with IndexBuilder(path) as builder:
        for name in (TVM_HEADER, *(f"{number}.cc" for number in range(WHOLE_TREE))):
            builder.add_file(name, Lang.CPP, "", 0, 0)
            builder.set_status(name, Status.OK, "", 1)
        builder.add_facts(FileFacts("0.cc", Lang.CPP, key_defs=list(keys), key_uses=list(uses)))
        builder.flush_symbols()
        with builder.writing() as db:
            return link(db)


def _everything() -> list[KeyDef]:
    return [KeyDef(r, f"{r}.{n}", "cpp", 1) for r, least in EXPECTED.items() for n in range(least)]


def test_a_whole_tree_with_an_empty_registry_is_doubted(tmp_path: Path) -> None:
    """A declaring macro that is renamed upstream must not pass for a TVM without object types."""
    assert _whole(tmp_path / "x.db", _everything(), []) == []
    keys = [key for key in _everything() if key.registry != "type"]
    (doubt,) = _whole(tmp_path / "y.db", keys, [])
    assert doubt.startswith("0 type keys are defined in C++, where a TVM has more than 250 (the registrations may")


def test_uses_that_dangle_more_than_in_any_tvm_are_doubted(tmp_path: Path) -> None:
    uses = [_use(f"ffi.{n}", n) for n in range(990)] + [_use(f"gone.{n}", n) for n in range(5)]
    assert _whole(tmp_path / "x.db", _everything(), uses) == []
    uses += [_use(f"gone.{n}", n) for n in range(35)]
    (doubt,) = _whole(tmp_path / "y.db", _everything(), uses)
    assert doubt.startswith("40 of 1030 uses of ffi keys in cpp dangle")


def test_cpp_that_calls_a_method_of_python_back_is_its_caller(tmp_path: Path) -> None:
    """`MeasureCallback::Apply` runs `apply` of each class that `derived_object` wraps: else it has no caller."""
    node, field = Symbol("cpp:Node", "class", "Node", "Node", 1, 1, 1), _symbol("Node::f_apply", "field", "Node")
    facts = FileFacts("a.cc", Lang.CPP, symbols=[node, field, _symbol("Node::Apply", "method", "Node")])
    facts.refs = [Ref(_id("Node::f_apply"), line, 5, Role.READ, _id("Node::Apply")) for line in (8, 9)]
    facts.key_defs = [KeyDef("type", "ms.PyCallback", "cpp", 1, _id("Node"))]
    python = FileFacts("a.py", Lang.PYTHON)
    classes = [("_PyCallback", ""), ("PyCallback", ""), ("Log", "PyCallback")]
    for name, base in classes:
        python.symbols.append(_python("class", f"m.{name}"))
        python.symbols.append(_python("method", f"m.{name}.apply", f"m.{name}"))
        if base:
            python.relations.append(Relation(_python_id(f"m.{name}"), "base", _python_id(f"m.{base}")))
    python.key_defs = [
        KeyDef("type", "ms.PyCallback", "python", 1, _python_id("m._PyCallback")),
        KeyDef("callback", "m._PyCallback:f_apply", "python", 4, None, "", "apply of m.PyCallback"),
    ]
    path = tmp_path / "x.db"
    with IndexBuilder(path) as builder:
        for file in (facts, python):
            builder.add_file(file.path, file.lang, "", 0, 0)
            builder.add_facts(file)
        builder.flush_symbols()
        with builder.writing() as db:
            link(db)
        builder.publish()
    assert _edges(open_index(path), Evidence.VALUE) == [("Node::Apply", "m.Log.apply", 9, "Node::f_apply")]


def _python(kind: str, name: str, parent: str = "") -> Symbol:
    return Symbol(
        f"py:{name}", kind, name.rsplit(".", 1)[-1], name, 1, 1, 1, parent=_python_id(parent) if parent else None
    )


def _python_id(name: str) -> int:
    return symbol_id(f"py:{name}")


def test_a_field_known_by_its_name_alone_may_be_another_library_s(tmp_path: Path) -> None:
    """`node.op_type` of an ONNX node is not `AllReduceAttrs.op_type`, though no other type has such a field."""
    facts = FileFacts("a.py", Lang.PYTHON, key_defs=[KeyDef("field", "relax.attrs.AllReduceAttrs.op_type", "cpp", 1)])
    facts.attribute_reads = [AttributeRead("op_type", None, 5, 1, _id("user"))]
    db = _linked(tmp_path / "x.db", facts)
    assert db.execute("SELECT line, status FROM key_uses WHERE registry = 'field'").fetchall() == [(5, "optional")]
