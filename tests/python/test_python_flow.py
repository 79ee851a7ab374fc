"""Value flow over small sources, each with the edges that it must add beside it: calls that no name spells out.

`XREF_WRITE_EXPECTATIONS=1 pytest tests/python/test_python_flow.py` rewrites them; review the difference.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from python_case import CASES, copy_case, index

from xref.link import link
from xref.link.step import Touched
from xref.model import FileFacts, Lang, Status
from xref.python import extract_cython
from xref.python.flow.classes import MAX_BASES
from xref.python.flow.graph import FUNCTION, MAX_LARGE, MAX_OBJECTS, USUAL_OBJECTS, Graph
from xref.python.flow.summary import Summary, dump_summary, load_summary
from xref.store import IndexBuilder, open_index
from xref.update import IndexUpdater

CASE = CASES / "flow"
NAMES = sorted(path.stem for path in (CASE / "python" / "flow").glob("*.py") if path.stem != "__init__")


def linked(facts: dict[str, FileFacts], db: Path) -> sqlite3.Connection:
    """An index of the facts."""
    with IndexBuilder(db) as builder:
        for path, file in facts.items():
            builder.add_file(path, file.lang, "", 0, 0)
            builder.add_facts(file)
            builder.set_status(path, file.status, file.detail, file.lines)
        builder.flush_symbols()
        with builder.writing() as connection:
            link(connection)
        builder.publish()
    return open_index(db)


def derived_calls(db: sqlite3.Connection, path: str) -> list[str]:
    """The edges in one file that value flow adds, as lines to review."""
    rows = db.execute(
        "SELECT c.line, c.col, a.qualname, b.qualname, c.evidence, c.via FROM call c JOIN file f ON f.id = c.file_id"
        " JOIN symbol a ON a.id = c.caller_id JOIN symbol b ON b.id = c.callee_id"
        " WHERE c.step = 'flow' AND f.path = ? ORDER BY 1, 2, 3, 4, 5",
        (path,),
    )
    return [
        f"{line}:{col} {a} -> {b} {evidence}{f' via {via}' if via else ''}" for line, col, a, b, evidence, via in rows
    ]


@pytest.fixture(scope="module")
def flow_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    folder = tmp_path_factory.mktemp("flow")
    db = linked(index(copy_case("flow", folder / "tree"), folder / "scratch"), folder / "xref.db")
    yield db
    db.close()


@pytest.mark.parametrize("name", NAMES)
def test_value_flow_adds_the_edges_beside_the_source(name: str, flow_index: sqlite3.Connection) -> None:
    expectation = CASE / "expected" / f"{name}.txt"
    found = derived_calls(flow_index, f"python/flow/{name}.py")
    if os.environ.get("XREF_WRITE_EXPECTATIONS"):
        expectation.parent.mkdir(exist_ok=True)
        expectation.write_text("".join(f"{line}\n" for line in found), "utf-8")
    assert found == expectation.read_text("utf-8").splitlines()


def test_more_callees_than_the_cap_are_said_and_not_silently_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xref.link.flow.MAX_CALLEES", 1)
    db = linked(index(copy_case("flow", tmp_path / "tree"), tmp_path / "scratch", types=False), tmp_path / "xref.db")
    reasons = [row[0] for row in db.execute("SELECT reason FROM unresolved_call WHERE step = 'flow'")]
    assert "a call of 2 functions that may be stored here" in reasons
    db.close()


def test_an_edit_elsewhere_does_not_cost_the_whole_analysis_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = linked(index(copy_case("flow", tmp_path / "tree"), tmp_path / "scratch", types=False), tmp_path / "xref.db")
    db.close()
    writable = sqlite3.connect(tmp_path / "xref.db")
    before = derived_calls(writable, "python/flow/tables.py")
    monkeypatch.setattr("xref.link.flow.Solver.solve", lambda _: pytest.fail("solved again"))
    link(writable, Touched(frozenset()))
    assert derived_calls(writable, "python/flow/tables.py") == before
    monkeypatch.undo()
    writable.execute("DELETE FROM call WHERE step = 'flow'")
    python = frozenset(id_ for (id_,) in writable.execute("SELECT id FROM file WHERE lang = 'python'"))
    link(writable, Touched(python))
    assert derived_calls(writable, "python/flow/tables.py") == before
    writable.close()


def test_a_class_made_for_each_row_of_a_table_derives_from_few_of_them(tmp_path: Path) -> None:
    """tvm/contrib/msc of v0.16 to v0.22: a factory whose base class comes out of a table that it fills itself. Without
    a limit the linker worked for more than ten minutes, since every class would derive from every other."""
    rows = "".join(f"@register\nclass C{i}:\n    def name_{i}(self): ...\n" for i in range(40))
    code = (
        "TABLE = {}\n"
        "def register(cls):\n    TABLE[cls.__name__] = cls\n    return cls\n"
        f"{rows}"
        "def make(name):\n"
        "    base = TABLE[name]\n"
        "    @register\n"
        "    class Made(base):\n"
        "        def run(self):\n"
        + "".join(f"            self.name_{i}()\n" for i in range(40))
    )  # fmt: skip
    (tmp_path / "tree/python").mkdir(parents=True)
    (tmp_path / "tree/python/m.py").write_text(code, "utf-8")
    db = linked(index(tmp_path / "tree", tmp_path / "scratch", types=False), tmp_path / "xref.db")
    found = [line for line in derived_calls(db, "python/m.py") if "-> m.C" in line and not line.endswith(" name")]
    said = db.execute("SELECT line, reason FROM unresolved WHERE reason LIKE 'a base class may be%'").fetchall()
    db.close()
    assert 0 < len(found) <= MAX_BASES
    made = next(number for number, line in enumerate(code.split("\n"), 1) if "class Made" in line)
    assert said == [(made, f"a base class may be more than {MAX_BASES} classes; so many are followed")]


def test_of_a_table_of_all_classes_few_are_followed_and_the_site_says_so(tmp_path: Path) -> None:
    """tvm/_ffi/_ctypes/object.py before v0.20: what an FFI function returns is any of TVM's 670 classes. Without a
    limit each call of one held them all, and v0.18 took the linker longer than a quarter of an hour."""
    rows = "".join(
        f"class C{i}:\n    def __init__(self): ...\nTABLE[{i}] = C{i}\n" for i in range(MAX_OBJECTS[1] + 100)
    )
    code = f"TABLE = {{}}\n{rows}def make(index):\n    cls = TABLE[index]\n    return cls()\n"
    (tmp_path / "tree/python").mkdir(parents=True)
    (tmp_path / "tree/python/m.py").write_text(code, "utf-8")
    db = linked(index(tmp_path / "tree", tmp_path / "scratch", types=False), tmp_path / "xref.db")
    made = [line for line in derived_calls(db, "python/m.py") if "m.make -> m.C" in line]
    said = db.execute("SELECT reason FROM unresolved WHERE reason LIKE 'the callee may be more%'").fetchall()
    db.close()
    assert 0 < len(made) <= max(MAX_OBJECTS[1:])
    assert len(said) == 1


def test_equal_summaries_are_equal_bytes() -> None:
    """Else an updated index differs from a new one, and is solved again for nothing."""
    name = "tvm.some_module"
    apart = [name[:4] + name[4:], name[:5] + name[5:], sys.intern(name[:6] + name[6:])]
    one = Summary(name, False, False, (), (name, name), None, (), {})
    other = Summary(apart[0], False, False, (), (apart[1], apart[2]), None, (), {})
    assert one == other
    assert dump_summary(one) == dump_summary(other)
    assert load_summary(dump_summary(one)) == one


def test_a_function_that_python_puts_into_a_cython_module_is_what_cython_calls(tmp_path: Path) -> None:
    """tvm_ffi/error.py: `core._WITH_APPEND_BACKTRACE = _with_append_backtrace`, which error.pxi calls. Otherwise nobody
    calls the function, as far as a user can see."""
    package = tmp_path / "tree/python/pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", "utf-8")
    (package / "core.pyx").write_text("_HOOK = None\n\ndef convert(error):\n    return _HOOK(error)\n", "utf-8")
    code = "from . import core\n\ndef hook(error):\n    return error\n\ncore._HOOK = hook\n"
    (package / "error.py").write_text(code, "utf-8")
    facts = index(tmp_path / "tree", tmp_path / "scratch", types=False)
    facts |= {file.path: file for file in extract_cython(tmp_path / "tree", ["python/pkg/core.pyx"])}
    db = linked(facts, tmp_path / "xref.db")
    found = derived_calls(db, "python/pkg/core.pyx")
    db.close()
    assert [line for line in found if "-> pkg.error.hook" in line] == ["4:12 pkg.core.convert -> pkg.error.hook value"]
    with IndexUpdater(tmp_path / "xref.db") as updater:  # a comment behind the last line
        updater.add_file("python/pkg/core.pyx", Lang.CYTHON, "", 1, 1)
        updater.add_facts(facts["python/pkg/core.pyx"])
        updater.set_status("python/pkg/core.pyx", Status.OK, "", 5)
        updater.flush_symbols()
        with updater.writing() as connection:
            link(connection, Touched(frozenset(updater.touched)))
        updater.publish()
    with closing(open_index(tmp_path / "xref.db")) as db:
        assert derived_calls(db, "python/pkg/core.pyx") == found


def test_only_so_many_places_hold_all_functions_of_a_large_tree() -> None:
    """With TVM's tests in the index, thousands of places held each of 1,500 decorated functions: 9 GB, and no index."""
    graph = Graph()
    functions = [graph.object(FUNCTION, number) for number in range(USUAL_OBJECTS[0] + 20)]
    tables = [graph.node() for _ in range(MAX_LARGE + 1)]
    for node in tables:
        for item in functions:
            graph.put(node, item)
    assert len(graph.held(tables[0])) == len(functions)
    assert len(graph.held(tables[-1])) == USUAL_OBJECTS[0]
    assert graph.cut() == {tables[-1]}  # calls through it are said to be more
