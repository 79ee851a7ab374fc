"""`xref verify --runs` measures the index: a number that flatters it would hide what it lacks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib import resources

import pytest

from xref.model import XrefError
from xref.verify.recall import measure
from xref.verify.recall_report import recall_lines, recall_object


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """Functions 1 to 6, class 7 with __init__ 8, special method 9; a run that made some of the calls."""
    db = sqlite3.connect(":memory:")
    db.executescript(resources.files("xref").joinpath("schema.sql").read_text("utf-8"))
    db.execute("INSERT INTO file(id, path, lang, lines, sha256, size, mtime_ns, status, detail)"
               " VALUES (1, 'a.py', 'python', 9, '', 0, 0, 'ok', '')")  # fmt: skip
    names = {number: f"m.f{number}" for number in range(1, 7)} | {7: "m.C", 8: "m.C.__init__", 9: "m.C.__len__"}
    for number, name in names.items():
        db.execute(
            "INSERT INTO symbol VALUES (?, ?, 'python', ?, ?, ?, 1, ?, 1, 1, '', '', ?, 1, '', '')",
            (number, name, "class" if number == 7 else "function", name.rpartition(".")[2], name, number,
             7 if number in (8, 9) else None),
        )  # fmt: skip
    for caller, callee, evidence in ((1, 2, "direct"), (1, 2, "name"), (1, 7, "direct"), (2, 3, "virtual"),
                                     (3, 4, "direct")):  # fmt: skip
        db.execute("INSERT INTO call(caller_id, callee_id, evidence, file_id, line, col, via)"
                   " VALUES (?, ?, ?, 1, 1, 1, '')", (caller, callee, evidence))  # fmt: skip
    db.execute("INSERT INTO unresolved_call(file_id, line, col, in_symbol_id, text, reason)"
               " VALUES (1, 5, 1, 1, 'g()', 'the type is unknown')")  # fmt: skip
    db.execute("INSERT INTO run VALUES ('r', 'python x.py', '', '', '', '')")
    observed = [
        (1, 2, "python", 1), (1, 8, "python", 1), (1, 5, "python", 5), (1, 9, "python", 6), (None, 2, "python", 1),
        (2, 3, "native", 0), (1, 3, "native", 0), (1, 4, "native", 0), (4, 1, "native", 0),
    ]  # fmt: skip
    for caller, callee, kind, line in observed:
        db.execute("INSERT INTO observed_call VALUES ('r', ?, ?, ?, ?, ?, 0, 10, NULL)",
                   (caller, callee, kind, 1 if line else None, line))  # fmt: skip
    yield db
    db.close()


def test_what_ran_is_found_by_its_strongest_evidence_or_missing_with_a_reason(db: sqlite3.Connection) -> None:
    python = measure(db)["python"]
    assert (python.observed, python.found, python.outside) == (4, 2, 1)
    assert dict(python.evidence) == {"direct": 2}
    reasons = {(row.caller, row.callee): row.reason for row in python.missing}
    assert reasons["m.f1", "m.f5"] == "the type is unknown (g())"
    assert "special method" in reasons["m.f1", "m.C.__len__"]


def test_an_inlined_function_in_between_is_counted_apart(db: sqlite3.Connection) -> None:
    native = measure(db)["native"]
    assert (native.observed, native.found, native.inlined) == (4, 1, 2)
    assert [(row.caller, row.callee) for row in native.missing] == [("m.f4", "m.f1")]


def test_what_the_binding_converts_is_counted_apart(db: sqlite3.Connection) -> None:
    """Array is made in the binding for `f1`, which goes through it; `f3` does not; the binding makes no Other."""
    _add_symbols(db, {20: ("cython", "core.Function.__call__"), 21: ("cpp", "Array"), 22: ("cpp", "Other")})
    db.executemany("INSERT INTO call(caller_id, callee_id, evidence, file_id, line, col, via)"
                   " VALUES (?, ?, 'direct', 1, 1, 1, '')", ((1, 20), (3, 4)))  # fmt: skip
    db.executescript("""
INSERT INTO key_def(registry, name, side, file_id, line, symbol_id, guard, note)
 VALUES ('ffi', 'Array', 'cpp', 1, 1, 21, '', ''), ('ffi', 'Other', 'cpp', 1, 1, 22, '', '');
INSERT INTO key_use(registry, name, side, file_id, line, col, in_symbol_id, calls, optional, status)
 VALUES ('ffi', 'Array', 'python', 1, 1, 1, 20, 1, 0, 'resolved');
""")
    for caller, callee in ((1, 21), (3, 21), (1, 22)):
        db.execute("INSERT INTO observed_call VALUES ('r', ?, ?, 'ffi', NULL, 0, 0, 1, 1)", (caller, callee))
    ffi = measure(db)["ffi"]
    assert (ffi.observed, ffi.found, ffi.binding) == (3, 0, 1)
    assert "1 more lead there through the binding" in "\n".join(recall_lines(measure(db), 1))


def test_a_callback_is_known_by_who_gave_it_or_which_cxx_calls_it(db: sqlite3.Connection) -> None:
    """A run tells the FFI function that was open, not the C++ function inside it that entered Python."""
    _add_symbols(db, {20: ("cpp", "RunPass"), 21: ("cpp", "Legalize"), 22: ("cpp", "Other")})
    db.execute("INSERT INTO key_def(registry, name, side, file_id, line, symbol_id, guard, note)"
               " VALUES ('ffi', 'RunPass', 'cpp', 1, 1, 20, '', '')")  # fmt: skip
    db.executemany(
        "INSERT INTO call(caller_id, callee_id, evidence, file_id, line, col, via)"
        " VALUES (?, ?, 'registry', 1, 1, 1, ?)",
        ((1, 4, "RunPass"), (21, 5, "op:FLegalize"), (1, 6, "Other")),
    )
    for callee in (4, 5, 6, 2):
        db.execute("INSERT INTO observed_call VALUES ('r', 20, ?, 'callback', NULL, 0, 0, 1, NULL)", (callee,))
    callback = measure(db)["callback"]
    assert (callback.observed, dict(callback.evidence)) == (4, {"registry": 2})
    assert [row.callee for row in callback.missing] == ["m.f2", "m.f6"]


def _add_symbols(db: sqlite3.Connection, symbols: dict[int, tuple[str, str]]) -> None:
    for number, (lang, name) in symbols.items():
        db.execute("INSERT INTO symbol VALUES (?, ?, ?, 'function', ?, ?, 1, 1, 1, 1, '', '', NULL, 1, '', '')",
                   (number, name, lang, name, name))  # fmt: skip


def test_the_report_names_the_number_and_the_missing(db: sqlite3.Connection) -> None:
    text = "\n".join(recall_lines(measure(db), 1))
    assert "2 of 4 (50.0 %): direct 2" in text
    assert "m.f1 -> m.C.__len__  a.py:6" in text
    assert "1 more (--limit 0 shows all)" in text
    assert recall_object(measure(db))["kinds"]["python"]["share"] == 0.5


def test_without_a_run_there_is_nothing_to_measure(db: sqlite3.Connection) -> None:
    with pytest.raises(XrefError, match="does not know other"):
        measure(db, ("other",))
    db.execute("DELETE FROM run")
    with pytest.raises(XrefError, match="xref trace"):
        measure(db)
