"""Why nobody calls it: an empty list without its reason is what makes users stop believing an index."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from conftest import FUSE_TIR_CC, build, cpp, id_of, py

from xref.model import Call, Evidence, FileFacts, KeyDef, KeyUse, Lang, Ref, Relation, Role, Status, Symbol, Unresolved
from xref.query.language import ask
from xref.store import open_index


def _why(tmp_path: Path, facts: FileFacts, name: str) -> str:
    build(tmp_path / "x.db", [facts])
    db = open_index(tmp_path / "x.db")
    (match,) = ask(db, f"who calls {name}").matches
    db.close()
    assert match.why_none is not None
    return match.why_none


def test_calls_that_spell_the_name_are_listed(db: sqlite3.Connection) -> None:
    (match,) = ask(db, "who calls CollectBuffers").matches
    assert match.why_none is not None
    assert match.why_none.endswith(f"1 unresolved call spells this name, at {FUSE_TIR_CC}:99")


def test_an_address_taken_is_a_reason(tmp_path: Path) -> None:
    f, g = cpp("function", "n::f", 1, "void f()"), cpp("function", "n::g", 5)
    facts = FileFacts("a.cc", Lang.CPP, symbols=[f, g], refs=[Ref(id_of(f), 6, 3, Role.ADDRESS, id_of(g))])
    assert _why(tmp_path, facts, "n::f") == (
        "no caller found: its address is taken at a.cc:6, so it may be called through that value"
    )


def test_an_override_of_another_library_is_a_reason(tmp_path: Path) -> None:
    f = cpp("method", "n::C::f", 1, "void f()")
    llvm = Symbol("usr:llvm::Pass::f", "method", "f", "llvm::Pass::f", 0, 0, 0, is_definition=False)
    relations = [Relation(id_of(f), "overrides", id_of(llvm))]
    facts = FileFacts("a.cc", Lang.CPP, symbols=[f], externals=[llvm], relations=relations)
    assert "it overrides llvm::Pass::f, which code outside the tree calls" in _why(tmp_path, facts, "C::f")


def test_a_guarded_key_that_nothing_uses_is_said_so(tmp_path: Path) -> None:
    f = cpp("function", "n::f", 1, "void f()")
    facts = FileFacts("a.cc", Lang.CPP, symbols=[f], key_defs=[KeyDef("ffi", "n.f", "cpp", 9, id_of(f), "USE_CUDA")])
    assert _why(tmp_path, facts, "n::f") == (
        "no caller found: it is reached only through the ffi key n.f registered at a.cc:9 (built under USE_CUDA),"
        " and no look-up of it was found: names computed at run time, and tests, are not followed"
    )


def test_a_key_whose_name_is_put_together_at_run_time_is_looked_up(tmp_path: Path) -> None:
    f = cpp("function", "n::f", 1, "void f()")
    facts = FileFacts(
        "a.cc", Lang.CPP, symbols=[f], key_defs=[KeyDef("ffi", "n.f", "cpp", 9, id_of(f))],
        key_uses=[KeyUse("ffi", "n.*", "cpp", 20, 3, None)],
    )  # fmt: skip
    why = _why(tmp_path, facts, "n::f")
    assert "by names put together at run time: n.* at a.cc:20" in why
    assert "no look-up" not in why


def test_a_call_of_a_call_s_result_is_not_a_call_of_the_name_in_it(tmp_path: Path) -> None:
    f, g = cpp("function", "n::f", 1, "void f()"), cpp("function", "n::g", 5, "void g()")
    outer = Unresolved(6, 3, id_of(g), "f(1)(2)", "through the result of a call")
    facts = FileFacts("a.cc", Lang.CPP, symbols=[f, g], unresolved=[outer])
    assert "1 unresolved call spells this name" in _why(tmp_path, facts, "n::f")
    facts.calls = [Call(id_of(g), id_of(g), Evidence.DIRECT, 6, 3)]
    (tmp_path / "resolved").mkdir()
    assert "spell" not in _why(tmp_path / "resolved", facts, "n::f")


def test_files_that_could_not_be_read_are_mentioned(tmp_path: Path) -> None:
    f = cpp("function", "n::f", 1, "void f()")
    facts = FileFacts("a.cc", Lang.CPP, Status.DEGRADED, "missing header", symbols=[f])
    assert _why(tmp_path, facts, "n::f").endswith("(its own file is degraded: missing header)")
    other = FileFacts("b.cc", Lang.CPP, symbols=[cpp("function", "n::g", 1, "void g()")])
    build(tmp_path / "y.db", [facts, other])
    db = open_index(tmp_path / "y.db")
    (match,) = ask(db, "who calls n::g").matches
    db.close()
    assert match.why_none is not None
    assert match.why_none.endswith("(1 file is degraded: `xref doctor` lists them)")


@pytest.mark.parametrize(
    ("symbol", "reason"),
    [
        (cpp("lambda", "n::f::{lambda: g}", 3), "it is a lambda, run by whatever the code at a.cc:3 hands it to"),
        (cpp("static_init", "n::{init: k}", 3), "it runs when its library is loaded"),
        (cpp("field", "n::C::x", 3), "it is a field, which is not called: see its 0 references"),
        (cpp("function", "n::f", 3, is_definition=False), "the tree declares it, but does not define it"),
    ],
)
def test_what_is_not_called_is_said_so(tmp_path: Path, symbol: Symbol, reason: str) -> None:
    facts = FileFacts("a.cc", Lang.CPP, symbols=[symbol])
    assert _why(tmp_path, facts, symbol.qualname) == f"no caller found: {reason}"


def test_special_methods_are_called_by_python(tmp_path: Path) -> None:
    facts = FileFacts("a.py", Lang.PYTHON, symbols=[py("method", "a.C.__add__", 3)])
    assert "Python itself calls this special method" in _why(tmp_path, facts, "C.__add__")
