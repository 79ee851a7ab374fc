"""The store keeps the best row of each symbol, swaps an index in whole or not at all, and lets one writer in."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from xref import claims
from xref.locking import exclusive
from xref.model import (
    Call,
    Evidence,
    ExitCode,
    FileFacts,
    Include,
    KeyDef,
    KeyUse,
    Lang,
    Ref,
    Relation,
    Role,
    Status,
    Symbol,
    Unresolved,
    XrefError,
    symbol_id,
)
from xref.store import SCHEMA_VERSION, IndexBuilder, open_index, read_meta

ROOT = Path(__file__).parents[1]
KEY = "cpp:c:@F@f#"


def _function(line: int, *, defines: bool, doc: str = "", **more: object) -> Symbol:
    return Symbol(KEY, "function", "f", "f", line, 1, line, "void f()", doc, is_definition=defines, **more)  # type: ignore[arg-type]


def _index(path: Path, *files: FileFacts, announced: tuple[str, ...] = ()) -> Path:
    with IndexBuilder(path) as builder:
        for name in sorted({*announced, *(f.path for f in files)}):
            builder.add_file(name, Lang.CPP, "", 0, 0)
        for facts in files:
            builder.add_facts(facts)
            builder.set_status(facts.path, facts.status, facts.detail, facts.lines)
        builder.flush_symbols()
        builder.publish()
    return path


def _one(path: Path, sql: str) -> tuple[object, ...]:
    db = open_index(path)
    try:
        rows = db.execute(sql).fetchall()
    finally:
        db.close()
    assert len(rows) == 1
    result: tuple[object, ...] = rows[0]
    return result


ROW = "SELECT path, line, is_definition, doc FROM symbols WHERE key = 'cpp:c:@F@f#'"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_definition_wins_with_the_documentation_of_the_declaration(tmp_path: Path, order: tuple[int, ...]) -> None:
    """Facts come in any order; the row must not depend on which worker was faster."""
    files = [
        FileFacts("b.h", Lang.CPP, symbols=[_function(5, defines=False, doc="What f does.")]),
        FileFacts("c.cc", Lang.CPP, symbols=[_function(9, defines=True)]),
        FileFacts("a.cc", Lang.CPP, externals=[_function(0, defines=True)]),
    ]
    path = _index(tmp_path / "x.db", *(files[i] for i in order))
    assert _one(path, ROW) == ("c.cc", 9, 1, "What f does.")
    assert _one(path, "SELECT count(*) FROM locations WHERE kind = 'declaration' AND path = 'b.h'") == (1,)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_definitions_the_first_in_path_order_wins(tmp_path: Path, order: tuple[int, ...]) -> None:
    files = [FileFacts(name, Lang.CPP, symbols=[_function(9, defines=True, doc=name)]) for name in ("a.cc", "b.cc")]
    path = _index(tmp_path / "x.db", *(files[i] for i in order))
    assert _one(path, ROW) == ("a.cc", 9, 1, "a.cc")
    assert _one(path, "SELECT count(*) FROM locations") == (2,)


def test_a_symbol_that_the_tree_only_uses_has_no_position_but_the_class_it_is_of(tmp_path: Path) -> None:
    """A constructor that nobody wrote stands in its class's file, also that of a union without a name in the class."""
    space = Symbol("cpp:n", "namespace", "n", "n", 1, 1, 9)
    own = Symbol("cpp:n::A", "class", "A", "n::A", 2, 1, 3, parent=symbol_id(space.key))
    implicit = Symbol("cpp:n::A::A", "constructor", "A", "n::A::A", 0, 0, 0, parent=symbol_id(own.key))
    union = Symbol("cpp:n::A::", "union", "(anonymous)", "n::A::(anonymous)", 0, 0, 0, parent=symbol_id(own.key))
    inner = Symbol("cpp:n::A::::x", "field", "x", "n::A::(anonymous)::x", 0, 0, 0, parent=symbol_id(union.key))
    outside = Symbol("cpp:n::move", "function", "move", "n::move", 0, 0, 0, parent=symbol_id(space.key))
    unused = Symbol("cpp:std::copy", "function", "copy", "std::copy", 0, 0, 0)
    facts = FileFacts("a.cc", Lang.CPP, externals=[outside, implicit, union, inner, unused])
    facts.refs = [Ref(symbol_id(s.key), 1, 1, Role.READ, None) for s in (outside, implicit, inner)]
    path = _index(tmp_path / "x.db", facts, FileFacts("a.h", Lang.CPP, symbols=[space, own]))
    assert _one(path, "SELECT count(*) FROM symbols WHERE name = 'copy'") == (0,)
    assert _one(path, "SELECT path, line, is_definition FROM symbols WHERE name = 'move'") == (None, 0, 0)
    for kind in ("constructor", "union", "field"):
        assert _one(path, f"SELECT path, line, is_definition FROM symbols WHERE kind = '{kind}'") == ("a.h", 0, 0)


def test_two_keys_with_one_id_are_reported_not_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "symbol_id", lambda key: 7)
    other = Symbol("cpp:c:@F@g#", "function", "g", "g", 1, 1, 1)
    with pytest.raises(XrefError, match=r"two symbols hash to one id .*f# and .*g#"):
        _index(tmp_path / "x.db", FileFacts("a.cc", Lang.CPP, symbols=[_function(1, defines=True), other]))
    assert os.listdir(tmp_path) == []


def test_a_file_without_facts_is_failed(tmp_path: Path) -> None:
    """A file whose worker vanished must not look as if it held nothing."""
    path = _index(tmp_path / "x.db", announced=("lost.cc",))
    assert _one(path, "SELECT path, status, detail FROM files") == ("lost.cc", "failed", "no facts arrived")


def test_an_unknown_status_is_refused(tmp_path: Path) -> None:
    with IndexBuilder(tmp_path / "x.db") as builder:
        builder.add_file("a.cc", Lang.CPP, "", 0, 0)
        with pytest.raises(sqlite3.IntegrityError):
            builder.set_status("a.cc", "fine", "", 0)  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []


# the views


def _everything(path: Path) -> Path:
    f = symbol_id(KEY)
    facts = FileFacts("a.cc", Lang.CPP, Status.DEGRADED, "guarded by X", 12)
    facts.symbols = [_function(3, defines=True, linkage="external", access="")]
    facts.refs = [Ref(f, 4, 2, Role.CALL, None)]
    facts.calls = [Call(f, f, Evidence.DIRECT, 4, 2, "via")]
    facts.unresolved = [Unresolved(5, 1, f, "g()", "why")]
    facts.relations = [Relation(f, "overrides", f), Relation(f, "overrides", f)]
    facts.includes = [Include(1, "b.h")]
    facts.key_defs = [KeyDef("ffi", "k", "cpp", 6, f, "USE_X", "def")]
    facts.key_uses = [KeyUse("ffi", "k", "cpp", 7, 1, f, True, False), KeyUse("ffi", "used.only", "cpp", 8, 1, None)]
    return _index(path, facts)


def test_the_views_show_what_was_stored(tmp_path: Path) -> None:
    path, f = _everything(tmp_path / "x.db"), symbol_id(KEY)
    assert _one(path, "SELECT path, lang, lines, status, detail FROM files") == (
        ("a.cc", "cpp", 12, "degraded", "guarded by X")
    )
    assert _one(path, "SELECT * FROM symbols") == (
        (f, KEY, "cpp", "function", "f", "f", "a.cc", 3, 1, 3, "void f()", "", None, 1, "external", "")
    )
    assert _one(path, "SELECT * FROM locations") == (f, "definition", "a.cc", 3, 1, 3)
    assert _one(path, "SELECT * FROM refs") == (f, "a.cc", 4, 2, "call", None)
    assert _one(path, "SELECT * FROM calls") == (f, f, "direct", "a.cc", 4, 2, "via")
    assert _one(path, "SELECT * FROM unresolved") == ("a.cc", 5, 1, f, "g()", "why")
    assert _one(path, "SELECT * FROM relations") == (f, "overrides", f)
    assert _one(path, "SELECT * FROM includes") == ("a.cc", 1, "b.h")
    assert _one(path, "SELECT * FROM key_defs") == ("ffi", "k", "cpp", "a.cc", 6, f, "USE_X", "def")
    assert _one(path, "SELECT * FROM key_uses WHERE line = 7") == (
        ("ffi", "k", "cpp", "a.cc", 7, f, "dangling", "direct")
    )
    assert _one(path, "SELECT group_concat(name) FROM keys") == ("k,used.only",)


# publishing


def test_an_index_appears_whole_and_alone(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "x.db"
    with IndexBuilder(path) as builder:
        builder.add_file("a.cc", Lang.CPP, "", 0, 0)
        builder.flush_symbols()
        assert not path.exists()
        builder.set_meta([("tree", "/first"), ("tree", "/second")])
        builder.publish()
        assert path.exists()
    assert os.listdir(path.parent) == ["x.db"]
    db = open_index(path)
    assert read_meta(db) == {"tree": "/second"}
    assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    db.close()


def test_a_failure_leaves_the_old_index_and_nothing_else(tmp_path: Path) -> None:
    path = _everything(tmp_path / "x.db")
    before = path.read_bytes()
    builder = IndexBuilder(path)
    builder.__enter__()
    builder.add_file("b.cc", Lang.CPP, "", 0, 0)
    builder.__exit__(RuntimeError, RuntimeError(), None)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.db"]


def test_a_reader_keeps_the_old_index_while_a_new_one_is_put_in_place(tmp_path: Path) -> None:
    path = _everything(tmp_path / "x.db")
    db = open_index(path)
    _index(path, announced=("new.cc",))
    assert db.execute("SELECT path FROM files").fetchall() == [("a.cc",)]
    db.close()
    assert _one(path, "SELECT path FROM files") == ("new.cc",)


def test_what_a_killed_indexer_left_is_removed(tmp_path: Path) -> None:
    for name in ("x.db.999999.partial", "x.db.999999.partial-journal"):
        (tmp_path / name).write_text("half")
    (tmp_path / "other.db.1.partial").write_text("not ours")
    _everything(tmp_path / "x.db")
    assert sorted(os.listdir(tmp_path)) == ["other.db.1.partial", "x.db"]


def test_a_name_with_the_signs_of_a_pattern_is_only_a_name(tmp_path: Path) -> None:
    (tmp_path / "xa.db.1.partial").write_text("not ours")
    _everything(tmp_path / "x[a].db")
    assert sorted(os.listdir(tmp_path)) == ["x[a].db", "xa.db.1.partial"]
    assert _one(tmp_path / "x[a].db", "SELECT count(*) FROM files") == (1,)


@pytest.mark.parametrize("name", ['with space\'s "quotes".db', "question?mark#hash%41.db", "ünïcode.db"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    assert _one(_everything(tmp_path / name), "SELECT count(*) FROM files") == (1,)


# the lock


def test_two_writers_exclude_each_other(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with exclusive(path):
        with pytest.raises(XrefError, match=rf"another indexer \(pid {os.getpid()}\) is writing .*x\.db") as error:
            IndexBuilder(path).__enter__()
        assert error.value.exit_code == ExitCode.UNUSABLE_INPUT
        assert (tmp_path / "x.db.lock").exists()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("content", ["1", "999999999", "", "not a number"])
def test_a_lock_file_that_nobody_holds_is_taken_over(tmp_path: Path, content: str) -> None:
    """Left by a killed indexer. Its pid may since be another program's (1 is always somebody's), or never written."""
    lock = tmp_path / "x.db.lock"
    lock.write_text(content)
    with exclusive(tmp_path / "x.db"):
        assert lock.read_text() == str(os.getpid())
    assert not lock.exists()


def test_a_writer_in_another_process_counts_too(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from xref.locking import exclusive\n"
        "with exclusive(pathlib.Path(sys.argv[1])): print('in', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "x.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"in\n"
        with pytest.raises(XrefError, match=rf"another indexer \(pid {other.pid}\)"), exclusive(tmp_path / "x.db"):
            pass
        other.kill()
        other.wait()
        assert (tmp_path / "x.db.lock").exists()
        with exclusive(tmp_path / "x.db"):
            pass


def test_many_at_once_let_one_in(tmp_path: Path) -> None:
    path, inside, most = tmp_path / "x.db", [], []
    refused = 0

    def enter() -> None:
        nonlocal refused
        try:
            with exclusive(path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()
        except XrefError:
            refused += 1

    threads = [threading.Thread(target=enter) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1}
    assert len(most) + refused == 20


# reading


def test_nothing_but_an_index_of_this_schema_is_opened(tmp_path: Path) -> None:
    missing, text, other, old, new = (tmp_path / name for name in ("none", "text", "other", "old", "new"))
    text.write_text("not a database, but long enough to have a header of one" * 10)
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine(x)")
    for path, version in ((old, SCHEMA_VERSION - 1), (new, SCHEMA_VERSION + 1)):
        _everything(path)
        with sqlite3.connect(path) as db:
            db.execute(f"PRAGMA user_version = {version}")
    for path, words in (
        (missing, "no index at .*: run `xref index PATH --db"),
        (text, "is not an xref index"),
        (other, "is a database, but not an xref index"),
        (old, f"has the older schema {SCHEMA_VERSION - 1}, this xref reads {SCHEMA_VERSION}: run `xref index` again"),
        (new, f"has the newer schema {SCHEMA_VERSION + 1}, this xref reads {SCHEMA_VERSION}: upgrade xref"),
    ):
        with pytest.raises(XrefError, match=words) as error:
            open_index(path)
        assert error.value.exit_code == ExitCode.NO_INDEX


def test_a_question_cannot_write(tmp_path: Path) -> None:
    db = open_index(_everything(tmp_path / "x.db"))
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("DELETE FROM symbol")
    db.close()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_cython_and_python_both_use_is_python_whichever_comes_first(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    outside = Symbol("py:builtins:max", "function", "max", "builtins.max", 0, 0, 0)
    files = [
        FileFacts(path, lang, refs=[Ref(symbol_id(outside.key), 1, 1, Role.CALL, None)], externals=[outside])
        for path, lang in (("a.pyx", Lang.CYTHON), ("a.py", Lang.PYTHON))
    ]
    path = _index(tmp_path / "x.db", *(files[number] for number in order))
    rows = open_index(path).execute("SELECT lang FROM symbols WHERE qualname = 'builtins.max'").fetchall()
    assert rows == [("python",)]
