"""The calls of small sources, compared with those that are seen when the sources run: every call that ran is in the
index, and every call that the index is sure of ran.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from python_case import CASES, copy_case, index
from test_python_flow import linked

SOURCES = CASES / "ran" / "python"
NAMES = sorted(path.stem for path in (SOURCES / "ran").glob("*.py") if "def main(" in path.read_text("utf-8"))

RECORD = """
import importlib, json, sys
folder, name = sys.argv[1:]
sys.path.insert(0, folder)
seen = []
def note(frame, event, _):
    code, caller = frame.f_code, frame.f_back
    if event != "call" or not code.co_filename.startswith(folder) or not code.co_flags & 2:
        return  # a module's or a class's body has no locals of its own
    while caller is not None and not caller.f_code.co_filename.startswith(folder):
        caller = caller.f_back  # code of the standard library runs for whoever called it
    if caller is None or code.co_name.startswith("<"):
        return
    seen.append((caller.f_code.co_filename, caller.f_lineno, code.co_filename, code.co_qualname, code.co_firstlineno))
sys.setprofile(note)
importlib.import_module(f"ran.{name}").main()
sys.setprofile(None)
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def ran_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    folder = tmp_path_factory.mktemp("ran")
    db = linked(index(copy_case("ran", folder / "tree"), folder / "scratch"), folder / "xref.db")
    yield db
    db.close()


def seen(name: str) -> set[str]:
    """The calls between functions of the sources while one of them is imported and its `main` runs."""
    folder = str(SOURCES)
    done = subprocess.run([sys.executable, "-c", RECORD, folder, name], capture_output=True, text=True, check=True)
    found: set[str] = set()
    for caller, line, path, qualname, first in json.loads(done.stdout):
        source = Path(path).read_text("utf-8").splitlines()
        at = next(n for n in range(first, len(source) + 1) if source[n - 1].lstrip().startswith("def "))
        place = Path(caller).relative_to(SOURCES.parent).as_posix()
        module = Path(path).relative_to(folder).with_suffix("").as_posix().replace("/", ".")
        found.add(f"{place}:{line} -> {module}.{qualname.replace('<locals>.', '')}:{at}")
    return found


def claimed(db: sqlite3.Connection, path: str, *, is_sure: bool) -> set[str]:
    """The calls in the index that start in a file, less the guesses if `is_sure`."""
    rows = db.execute(
        "SELECT f.path, c.line, s.qualname, s.line FROM call c JOIN file f ON f.id = c.file_id"
        " JOIN symbol s ON s.id = c.callee_id JOIN file g ON g.id = s.file_id"
        " WHERE f.path = ? AND s.kind IN ('function', 'method', 'property') AND (NOT ? OR c.evidence <> 'name')",
        (path, is_sure),
    )
    return {f"{path}:{line} -> {callee}:{at}" for path, line, callee, at in rows}


@pytest.mark.parametrize("name", NAMES)
def test_what_runs_is_known_and_what_is_known_runs(name: str, ran_index: sqlite3.Connection) -> None:
    path = f"python/ran/{name}.py"
    ran = {row for row in seen(name) if row.startswith(f"{path}:")}
    assert claimed(ran_index, path, is_sure=True) <= ran
    assert ran <= claimed(ran_index, path, is_sure=False)
