"""Recall of the Python call graph: a record that lacks edges, or a scorer that trusts the index, flatters it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from xref.index import IndexOptions, run_index
from xref.model import XrefError, symbol_id
from xref.store import open_index

BENCH = Path(__file__).parents[1] / "bench"
_SOURCE = """\
class Thing:
    def __init__(self):
        self.name = "run"

    def run(self):
        return [helper(one) for one in range(2)]

def mark(function):
    return function

@mark
def helper(one):
    return (lambda: one)()

def guess(thing, name):
    return getattr(thing, name)()

def made():
    exec("def gone(): helper(1)\\ngone()", globals())

BEGUN = helper(0)
"""


@pytest.fixture
def recall(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The scorer."""
    monkeypatch.syspath_prepend(str(BENCH))
    import python_recall

    return python_recall


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """What a program did, in the record of a run that fails at its end."""
    package = tmp_path / "tree" / "python" / "tvm"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "m.py").write_text(_SOURCE)
    (tmp_path / "run.py").write_text(
        "from tvm.m import Thing, guess, made\nguess(Thing(), ''.join(['r', 'un']))\nmade()\nraise SystemExit(3)\n"
    )
    out = tmp_path / "record.json"
    done = subprocess.run(
        [sys.executable, str(BENCH / "record_python_edges.py"), str(out), "tvm", str(tmp_path / "run.py")],
        env={**os.environ, "PYTHONPATH": str(package.parent)}, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 3
    return out


def test_a_record_has_the_calls_between_functions_of_the_package(record: Path) -> None:
    edges = [(caller, callee) for _, caller, _, _, callee, _ in json.loads(record.read_text())["edges"]]
    assert edges == [
        ("<module>", "helper"),
        ("<module>", "mark"),
        ("Thing.run", "helper"),
        ("guess", "Thing.run"),
        ("helper", "helper.<locals>.<lambda>"),
    ]


def test_what_exists_is_decided_by_the_tree_and_what_is_found_by_the_index(
    recall: ModuleType, record: Path, tmp_path: Path
) -> None:
    rows = [*json.loads(record.read_text())["edges"], ["tvm/m.py", "helper", 11, "tvm/m.py", "no_such", 1]]
    record.write_text(json.dumps({"edges": rows}))
    db = tmp_path / "xref.db"
    run_index(IndexOptions(path=tmp_path / "tree", db=db, jobs=1))
    with closing(open_index(db)) as index:
        result = recall.score(recall.read_records([record]), recall.Tree(tmp_path / "tree"), recall.Index(index))
        lines = list(recall.report(result, recall.Index(index), 5))
    assert result.outside == 1
    found = {(edge.caller.name, edge.callee.name): evidence for edge, evidence in result.found.items()}
    assert found[("Thing.run", "helper")] in ("direct", "value")
    assert found[("helper", "helper.<lambda>")] in ("direct", "value")
    assert found[("", "mark")] == "direct"
    assert found[("guess", "Thing.run")] == ""
    assert len(found) == 5
    assert lines[0].startswith("5 distinct edges between functions of the tree (1 more")
    assert any(line.endswith("python/tvm/m.py:guess -> python/tvm/m.py:Thing.run") for line in lines)
    assert result.share() == 0.8


def test_a_path_through_compiled_code_is_told_apart(recall: ModuleType, record: Path, tmp_path: Path) -> None:
    """`guess` runs a method through Cython, or through Cython and C++: no caller of the method by itself."""
    run_index(IndexOptions(path=tmp_path / "tree", db=tmp_path / "xref.db", jobs=1))
    edge = recall.Edge(recall.End("python/tvm/m.py", "guess", 0), recall.End("python/tvm/m.py", "Thing.run", 0))
    for through, word in ((["cython", "cython"], recall.BINDING), (["cython", "cpp"], recall.COMPILED)):
        with closing(sqlite3.connect(tmp_path / "xref.db")) as db:
            ids = dict(db.execute("SELECT name, id FROM symbol WHERE name IN ('guess', 'run')"))
            chain = [ids["guess"], *(symbol_id(f"{lang} {at}") for at, lang in enumerate(through)), ids["run"]]
            for id_, lang in zip(chain[1:], through, strict=False):
                db.execute(
                    "INSERT OR IGNORE INTO symbol SELECT ?, ?, ?, 'function', 'f', 'f', file_id, line, col, end_line,"
                    " '', '', NULL, 1, '', '' FROM symbol WHERE id = ?",
                    (id_, str(id_), lang, ids["run"]),
                )
            db.execute("DELETE FROM call WHERE caller_id IN (SELECT id FROM symbol WHERE lang <> 'python')")
            db.executemany(
                "INSERT INTO call(caller_id, callee_id, evidence, file_id, line, col, via, step)"
                " SELECT ?, ?, 'direct', file_id, 1, 1, '', '' FROM symbol WHERE id = ?",
                [(a, b, ids["run"]) for a, b in pairwise(chain)],
            )
            db.commit()
        with closing(open_index(tmp_path / "xref.db")) as index:
            assert recall.Index(index).evidence(edge) == word


def test_a_file_that_is_no_record_is_told(recall: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(XrefError, match="no record"):
        recall.read_records([tmp_path / "x.json"])
