"""A run is laid over an index by names and content: if these fail, an answer shows counts at the wrong function, or a
run is lost when the index is made again.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from trace_case import FIXTURES, Traced, packages, script, traced, xref

from xref.index import IndexOptions, run_index
from xref.model import XrefError
from xref.trace.folder import import_run, runs_folder
from xref.trace.join import JoinReport, join_run
from xref.trace.runfile import RunFile, SourceFile, read_run, write_run
from xref.trace.store import open_for_runs

PROGRAM = """
import tvm, tvm_ffi
from tvm.more import *
from tvm.ir.transform import Pass, PassContext

def outside():
    return twice()

for _ in range(4):
    outside()
print(Shape().area, Shape().scaled(2), decorated(), list(map(double, (1,))))
tvm_ffi.get_global_func("transform.RunPass")
with PassContext():
    Pass("MyPass")()
    Pass("sequential")()
tvm_ffi.get_global_func("test.maker")()
tvm_ffi.Function(tvm_ffi.native().func, tvm_ffi.MADE, *tvm_ffi.native().args[1:])()
tvm_ffi.register_global_func("test.late", tvm_ffi.native())
tvm_ffi.get_global_func("test.late")()
exec(compile("def made(): pass\\nmade()", "<made>", "exec"))
"""

MORE = '''"""Definitions that are hard to tell apart."""

import functools


def note(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


def twice():
    return "first"


def twice():
    first = lambda: 1
    pair = (lambda: 2, lambda: 3)
    return [inner() for inner in (first, *pair)]


class Shape:
    @property
    def area(self):
        return 1

    @area.setter
    def area(self, value):
        pass

    def scaled(self, by):
        def step(one):
            return one * by

        return step(self.area)


@note
@note
def decorated():
    return any(one for one in (1,))


double = lambda one: one * 2
'''


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of Python sources; the stand-ins, and a module with definitions that are hard to tell apart."""
    root = tmp_path_factory.mktemp("tree")
    shutil.copytree(FIXTURES / "packages", root / "python")
    (root / "python" / "tvm" / "more.py").write_text(MORE)
    return root


@pytest.fixture(scope="module")
def made(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """The run of PROGRAM on the tree's own sources."""
    folder = tmp_path_factory.mktemp("made")
    library = folder / "lib"
    shutil.copytree(packages(), library)
    shutil.copy(tree / "python" / "tvm" / "more.py", library / "tvm" / "more.py")
    done = traced(folder, "python", script(folder, PROGRAM), PYTHONPATH=str(library))
    assert (done.code, done.err) == (0, "")
    return done


@pytest.fixture(scope="module")
def indexed(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of the tree, without runs."""
    db = tmp_path_factory.mktemp("index") / "xref.db"
    run_index(IndexOptions(tree, db, jobs=1))
    return db


@pytest.fixture
def db_path(indexed: Path, tmp_path: Path) -> Path:
    """A copy of the index."""
    return Path(shutil.copy(indexed, tmp_path / "xref.db"))


@pytest.fixture
def db(db_path: Path) -> Iterator[sqlite3.Connection]:
    """The copy, open for writing runs."""
    with open_for_runs(db_path) as connection:
        yield connection


def observed(db: sqlite3.Connection, kind: str = "python") -> dict[tuple[str | None, str], tuple[str | None, int, int]]:
    """(caller, callee) by key -> path, line, calls."""
    rows = db.execute(
        "SELECT a.key, b.key, o.path, o.line, o.count FROM observed_calls o LEFT JOIN symbols a ON a.id = o.caller_id"
        " JOIN symbols b ON b.id = o.callee_id WHERE o.kind = ?",
        (kind,),
    )
    return {(caller, callee): (path, line, count) for caller, callee, path, line, count in rows}


def unmatched(db: sqlite3.Connection) -> dict[tuple[str, str], tuple[int, str]]:
    """(kind, name) -> calls, reason."""
    return {(kind, name): (count, reason) for kind, name, count, reason in db.execute(
        "SELECT kind, name, count, reason FROM unmatched"
    )}  # fmt: skip


MODULE = "py:tvm.more"


def test_calls_join_by_name_and_the_line_chooses_among_namesakes(db: sqlite3.Connection, made: Traced) -> None:
    report = join_run(db, made.path)
    calls = observed(db)
    assert report.skew == ""
    assert calls[None, f"{MODULE}:twice#2"][2] == 4
    assert (None, f"{MODULE}:twice") not in calls
    assert calls[f"{MODULE}:twice#2", f"{MODULE}:twice#2.<lambda>"][2] == 4
    assert unmatched(db)["python", "tvm.more.twice.<lambda>"] == (8, "one of several lambdas in one line")
    assert calls[f"{MODULE}:Shape.scaled", f"{MODULE}:Shape.scaled.step"][2] == 1
    assert calls[f"{MODULE}:Shape.scaled", f"{MODULE}:Shape.area"][2] == 1
    assert calls[f"{MODULE}:note.wrapper", f"{MODULE}:decorated"][2] == 1
    assert calls[None, f"{MODULE}:<lambda>"][2] == 1
    path, line, _ = calls[f"{MODULE}:Shape.scaled", f"{MODULE}:Shape.scaled.step"]
    assert path == "python/tvm/more.py"
    assert MORE.splitlines()[line - 1].strip() == "return step(self.area)"


def test_every_recorded_call_is_joined_or_has_a_reason(db: sqlite3.Connection, made: Traced) -> None:
    report = join_run(db, made.path)
    run = made.run
    recorded = sum(row.calls for table in (run.python, run.ffi, run.callbacks) for row in table) + len(run.passes)
    kept = db.execute("SELECT sum(count) FROM observed_calls").fetchone()[0]
    kept += db.execute("SELECT count(*) FROM passes_run WHERE symbol_id IS NOT NULL").fetchone()[0]
    missed = db.execute("SELECT sum(count) FROM unmatched").fetchone()[0]
    assert kept + missed == recorded
    assert sum(report.joined.values()) + sum(report.unmatched.values()) == sum(
        len(table) for table in (run.python, run.ffi, run.callbacks, run.passes)
    )


def test_the_reasons_say_what_it_was(db: sqlite3.Connection, made: Traced) -> None:
    join_run(db, made.path)
    missed = unmatched(db)
    assert missed["python", "script.py"][1] == "outside the tree"
    assert missed["python", "functools.py"][1] == "outside the tree"
    assert missed["python", "<made>"] == (2, "code made at run time, in no file")
    assert "body of a module or class" in missed["python", "bodies and comprehensions"][1]
    assert "returned by this one" in missed["ffi", "test.maker"][1]
    assert missed["ffi", "test.late"] == (1, "no such key in the index (registry ffi)")
    assert missed["pass", "MyPass"] == (1, "no such key in the index (registry pass)")


def test_ffi_calls_join_through_their_key(db: sqlite3.Connection, made: Traced) -> None:
    target = db.execute("SELECT s.key FROM key_defs k JOIN symbols s ON s.id = k.symbol_id WHERE k.name = ?",
                        ("transform.RunPass",)).fetchone()[0]  # fmt: skip
    join_run(db, made.path)
    path, line, calls = observed(db, "ffi")["py:tvm_ffi:call", target]
    assert (path is not None, line > 0, calls) == (True, True, 2)
    assert db.execute("SELECT min(total_ns) > 0 FROM observed_calls WHERE kind = 'ffi'").fetchone()[0] == 1
    callback = observed(db, "callback")
    assert any(callee == "py:tvm_ffi:from_python.run" for _, callee in callback)


def test_a_second_join_of_a_run_changes_nothing(db: sqlite3.Connection, made: Traced) -> None:
    join_run(db, made.path)
    before = [db.execute(f"SELECT * FROM {view} ORDER BY 1, 2, 3, 4, 5").fetchall()
              for view in ("runs", "observed_calls", "passes_run", "unmatched")]  # fmt: skip
    join_run(db, made.path)
    after = [db.execute(f"SELECT * FROM {view} ORDER BY 1, 2, 3, 4, 5").fetchall()
             for view in ("runs", "observed_calls", "passes_run", "unmatched")]  # fmt: skip
    assert before == after


def _with_other_content(run: RunFile, name: str) -> RunFile:
    files = [row._replace(sha256="0" * 64) if row.path.endswith(name) else row for row in run.files]
    run.files = [SourceFile(*row) for row in files]
    return run


def test_lines_of_a_file_with_other_content_are_not_used(db: sqlite3.Connection, made: Traced, tmp_path: Path) -> None:
    write_run(_with_other_content(made.run, "more.py"), tmp_path / "skewed")
    report = join_run(db, tmp_path / "skewed")
    assert "1 of " in report.skew
    assert "their lines are not used" in report.skew
    calls = observed(db)
    assert calls[f"{MODULE}:Shape.scaled", f"{MODULE}:Shape.scaled.step"] == (None, 0, 1)
    note = db.execute("SELECT note FROM runs").fetchone()[0]
    assert note.startswith("TVM 0.99.0 ran, and the index is of")


def test_namesakes_are_told_apart_in_another_version_of_the_file(
    db: sqlite3.Connection, made: Traced, tmp_path: Path
) -> None:
    run = _with_other_content(made.run, "more.py")
    file = next(row.number for row in run.files if row.path.endswith("more.py"))
    run.codes = [row._replace(line=row.line + 40) if row.file == file else row for row in run.codes]
    write_run(run, tmp_path / "moved")
    join_run(db, tmp_path / "moved")
    calls = observed(db)
    assert calls[None, f"{MODULE}:twice#2"][2] == 4
    assert calls[f"{MODULE}:Shape.scaled", f"{MODULE}:Shape.area"][2] == 1
    assert "no line to choose by" in unmatched(db)["python", "tvm.more.twice.<lambda>"][1]


def test_a_run_of_something_else_joins_by_keys_only(db: sqlite3.Connection, made: Traced, tmp_path: Path) -> None:
    run = made.run
    run.files = [row._replace(relative=None) for row in run.files]
    write_run(run, tmp_path / "other")
    report: JoinReport = join_run(db, tmp_path / "other")
    assert "no Python file that ran is in the index" in report.skew
    assert report.joined["python"] == 0
    assert report.joined["ffi"] > 0


def test_before_python_3_11_the_line_finds_the_function(db: sqlite3.Connection, made: Traced, tmp_path: Path) -> None:
    run = made.run
    run.codes = [row._replace(qualname=None) for row in run.codes]
    write_run(run, tmp_path / "old")
    join_run(db, tmp_path / "old")
    calls = observed(db)
    assert calls[f"{MODULE}:Shape.scaled", f"{MODULE}:Shape.scaled.step"][2] == 1
    assert calls[None, f"{MODULE}:twice#2"][2] == 4
    assert calls[f"{MODULE}:note.wrapper", f"{MODULE}:decorated"][2] == 1


@pytest.mark.parametrize("damage", ["cut", "version"])
def test_a_bad_file_leaves_the_index_as_it_was(
    db: sqlite3.Connection, made: Traced, tmp_path: Path, damage: str
) -> None:
    join_run(db, made.path)
    before = db.execute("SELECT count(*), sum(count) FROM observed_calls").fetchone()
    bad = tmp_path / "bad"
    if damage == "cut":
        bad.write_bytes(made.path.read_bytes()[:-100])
    else:
        bad.write_bytes(gzip.compress(b'{"xref_run": 99}\n'))
    with pytest.raises(XrefError):
        join_run(db, bad)
    assert db.execute("SELECT count(*), sum(count) FROM observed_calls").fetchone() == before
    assert not db.in_transaction


def test_hostile_names_reach_no_terminal_and_no_error(db_path: Path, made: Traced, tmp_path: Path) -> None:
    run = made.run
    hostile = "\x1b[31m\udcff</script>\u2028"
    run.files = [row._replace(path=f"/{hostile}", relative=f"{hostile}/x.py") for row in run.files]
    run.keys = [row._replace(name=hostile) for row in run.keys]
    run.header["notes"] = [hostile]
    run.header["command"] = [hostile]
    write_run(run, tmp_path / "hostile")
    done = xref("run", "--import", tmp_path / "hostile", "--limit", "0", "--db", db_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "\\x1b[31m" in done.stdout
    listed = json.loads(xref("runs", "--json", "--db", db_path).stdout)
    assert listed["runs"][0]["command"] == [hostile]


# runs and indexes come and go


def test_a_run_from_before_the_index_joins_to_it(tree: Path, made: Traced, tmp_path: Path) -> None:
    db_path = tmp_path / "xref.db"
    import_run(db_path, made.path)
    run_index(IndexOptions(tree, db_path, jobs=1))
    with closing(sqlite3.connect(db_path)) as db:
        assert observed(db)[None, f"{MODULE}:twice#2"][2] == 4


def test_a_new_index_keeps_the_runs_and_warns_of_bad_files(tree: Path, db_path: Path, made: Traced) -> None:
    import_run(db_path, made.path)
    folder = runs_folder(db_path)
    (folder / "broken").write_bytes(made.path.read_bytes()[:200])
    for _ in range(2):
        summary = run_index(IndexOptions(tree, db_path, jobs=1, force=True))
        warnings = [warning for warning in summary.warnings if "run file" in warning]
        assert len(warnings) == 1
        assert "broken is a damaged run file (it is cut off)" in warnings[0]
        with closing(sqlite3.connect(db_path)) as db:
            assert db.execute("SELECT count(*) FROM runs").fetchone()[0] == 1
            assert observed(db)[None, f"{MODULE}:twice#2"][2] == 4


# the verbs


def test_import_show_list_and_delete(db_path: Path, made: Traced) -> None:
    name = made.run.id
    assert xref("runs", "--db", db_path).returncode == 1
    shown = xref("run", "--import", made.path, "--db", db_path)
    assert shown.returncode == 0
    assert "joined to the index" in shown.stdout
    assert "MyPass" in shown.stdout
    again = xref("run", "--import", made.path, "--db", db_path)
    assert again.returncode == 0
    listed = xref("runs", "--db", db_path).stdout
    assert listed.startswith(name)
    assert "not in the index" not in listed
    value = json.loads(xref("run", "--json", "--db", db_path).stdout)
    assert [one["name"] for one in value["passes"]] == ["MyPass", "sequential"]
    assert value["joined"]["edges"]["python"]["edges"] > 0
    assert {one["reason"] for one in value["joined"]["unmatched"]} >= {"outside the tree"}
    assert xref("runs", "--delete", name, "--db", db_path).returncode == 0
    assert xref("run", name, "--db", db_path).returncode == 1
    with closing(sqlite3.connect(db_path)) as db:
        assert [db.execute(f"SELECT count(*) FROM {view}").fetchone()[0]
                for view in ("runs", "observed_calls", "passes_run", "unmatched")] == [0, 0, 0, 0]  # fmt: skip


@pytest.mark.parametrize("name", ["none", "../xref.db", "a/b", "", ".hidden"])
def test_a_run_that_is_not_there(db_path: Path, name: str) -> None:
    for words in (("run", name), ("runs", "--delete", name)):
        done = xref(*words, "--db", db_path)
        assert done.returncode == 1
        assert "no run" in done.stderr
    assert db_path.exists()


def test_another_run_of_the_same_id_is_not_overwritten(db_path: Path, made: Traced, tmp_path: Path) -> None:
    import_run(db_path, made.path)
    run = made.run
    run.header["seconds"] = 99
    write_run(run, tmp_path / "other")
    with pytest.raises(XrefError, match="another run is called"):
        import_run(db_path, tmp_path / "other")
    assert read_run(runs_folder(db_path) / run.id).header["seconds"] != 99


def test_tracing_joins_at_once_and_answers_show_the_count(db_path: Path, tmp_path: Path, tree: Path) -> None:
    library = tmp_path / "lib"
    shutil.copytree(packages(), library)
    shutil.copy(tree / "python" / "tvm" / "more.py", library / "tvm" / "more.py")
    program = script(tmp_path, PROGRAM)
    done = xref("trace", "--db", db_path, "--", sys.executable, program, PYTHONPATH=str(library))
    assert done.returncode == 0
    assert "xref: joined " in done.stderr
    answer = json.loads(xref("callers", "tvm.more.Shape.scaled.step", "--json", "--db", db_path).stdout)
    runs = [call["runs"] for call in answer["matches"][0]["callers"]]
    assert [sum(counts.values()) for counts in runs] == [1]
    text = xref("callers", "tvm.more.Shape.scaled.step", "--db", db_path).stdout
    assert ": 1x" in text
    assert "\\n" not in text, "a line that was broken to fit is two lines"
