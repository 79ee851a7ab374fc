"""The measuring tools: a sample that cannot be drawn again, or other units for the peer, make figures worthless."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from types import ModuleType

import pytest

from xref.index import IndexOptions, run_index


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The bench folder's modules, imported as its scripts import each other."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "bench"))
    import sample

    return sample


def test_a_seed_draws_the_same_rows_and_another_one_others(bench: ModuleType, db: sqlite3.Connection) -> None:
    first = bench.draw(db, "calls", 4, seed=3)
    assert first == bench.draw(db, "calls", 4, seed=3)
    assert len(first) == len(set(first)) == 4
    assert any(bench.draw(db, "calls", 4, seed=seed) != first for seed in range(4, 9))


def test_every_kind_can_be_drawn_and_more_than_there_is_gives_all(bench: ModuleType, db: sqlite3.Connection) -> None:
    for kind, description in bench.KINDS.items():
        rows = bench.draw(db, kind, 10_000, seed=1)
        assert all(len(row) == len(description.columns) + 2 for row in rows), kind
    assert len(bench.draw(db, "calls", 10_000, seed=1)) == db.execute("SELECT count(*) FROM calls").fetchone()[0]


def test_a_prefix_narrows_and_is_no_pattern(bench: ModuleType, db: sqlite3.Connection) -> None:
    rows = bench.draw(db, "calls", 10_000, 1, prefix="src/")
    assert rows
    assert all(row[-2].startswith("src/") for row in rows)
    assert bench.draw(db, "calls", 10_000, 1, prefix="s%") == []


def test_the_source_line_is_shown_and_a_missing_file_is_not_an_error(bench: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.cc").write_text("one\n  two \n")
    assert bench.source_line(tmp_path, "a.cc", 2) == "two"
    assert bench.source_line(tmp_path, "a.cc", 9) == bench.source_line(tmp_path, "b.cc", 1) == ""
    assert bench.source_line(tmp_path, None, 1) == ""


def test_clangd_sees_the_units_and_flags_that_xref_sees(bench: ModuleType, tmp_path: Path) -> None:
    import clangd_index

    clangd_index.write_compile_commands(tmp_path, Path("/tree"), ["src/a.cc"], ["-std=c++17", "-DX=<a b>"])
    (entry,) = json.loads((tmp_path / "compile_commands.json").read_text())
    assert entry["file"] == "/tree/src/a.cc"
    assert entry["arguments"] == ["clang++", "-x", "c++", "-std=c++17", "-DX=<a b>", "-c", "/tree/src/a.cc"]


def test_a_clangd_that_dies_is_an_error_not_a_figure(bench: ModuleType, tmp_path: Path) -> None:
    import clangd_index

    clangd_index.write_compile_commands(tmp_path, tmp_path, ["a.cc"], [])
    fake = tmp_path / "clangd"
    fake.write_text(f"#!{sys.executable}\nimport sys\nsys.stdin.buffer.read(10)\n")
    fake.chmod(0o755)
    with pytest.raises(RuntimeError, match="clangd ended"):
        clangd_index.index_with_clangd(str(fake), tmp_path, 1)


def test_edits_are_chosen_by_size_and_dependents_and_change_what_indexers_see(
    bench: ModuleType, tmp_path: Path
) -> None:
    import edits

    sources = {
        "src/a.cc": '#include "one.h"\n', "src/b.cc": '#include "one.h"\n#include "two.h"\n\n',
        "src/c.cc": '#include "two.h"\n\n\n', "src/one.h": '#pragma once\n#include "deep.h"\n',
        "src/two.h": "#pragma once\n", "src/deep.h": "#pragma once\n", "python/tvm/m.py": "x = 1\n",
    }  # fmt: skip
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    db = tmp_path / "x.db"
    run_index(IndexOptions(tmp_path, db, jobs=1))
    chosen = edits.choose(db)
    assert [(edit.name, edit.path, edit.units) for edit in chosen] == [
        ("a unit", "src/b.cc", 1), ("a private header", "src/one.h", 2), ("a Python module", "python/tvm/m.py", 0),
    ]  # fmt: skip
    for edit in chosen:
        edit.apply(tmp_path)
    run_index(IndexOptions(tmp_path, db, jobs=1))
    with sqlite3.connect(db) as connection:
        added = connection.execute("SELECT count(*) FROM calls c JOIN symbols s ON s.id = c.callee_id"
                                   " WHERE s.qualname LIKE 'xref_bench::added_%'").fetchone()  # fmt: skip
    assert added == (2,)
