"""Indexing a small project as a whole: what a user gets, what changes after an edit, and what must not."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from pathlib import Path

import pytest
from small_tree import make_tree

from xref import extract as extract_module
from xref.index import IndexOptions, run_index
from xref.model import XrefError
from xref.store import open_index, read_meta
from xref.summary import IndexSummary, summarize

EDITED = (
    "src/passes.cc", "src/lambdas.cc", "src/macros.cc", "src/same_names/cpu/winograd.cc", "src/headers/src/claimed.h",
    "src/headers/src/nobody.h", "include/tvm/ffi/function.h", "include/tvm/ir/transform.h", "python/pkg/passes.py",
    "python/pkg/lookups.py",
)  # fmt: skip


def _index(root: Path, db: Path, **more: object) -> IndexSummary:
    return run_index(IndexOptions(root, db, **more))  # type: ignore[arg-type]


def _rows(path: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    db = open_index(path)
    try:
        return db.execute(sql, values).fetchall()
    finally:
        db.close()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tree(tmp_path_factory.mktemp("project") / "it")


@pytest.fixture(scope="module")
def index(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "xref.db"
    _index(tree, path)
    return path


@pytest.fixture
def own(index: Path, tree: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A tree and its index that a test may change: (tree, index). The index believes that it is of this tree."""
    root = make_tree(tmp_path / "it")
    copy = tmp_path / "xref.db"
    copy.write_bytes(index.read_bytes())
    db = sqlite3.connect(copy)
    db.execute("UPDATE meta SET value = ? WHERE key = 'tree'", (str(root),))
    db.execute("UPDATE meta SET value = 'of another tree' WHERE key = 'settings'")
    db.commit()
    db.close()
    return root, copy


def test_a_python_line_leads_to_the_cpp_function_behind_its_key(index: Path) -> None:
    calls = _rows(
        index,
        "SELECT a.qualname, b.qualname, c.via, c.path, c.line FROM calls c JOIN symbols a ON a.id = c.caller_id"
        " JOIN symbols b ON b.id = c.callee_id WHERE c.evidence = 'registry' ORDER BY a.qualname",
    )
    passes = "python/pkg/passes.py"
    assert calls == [
        ("pkg.lookups.known", "tvm::tirx::Fold", "tirx.Fold", "python/pkg/lookups.py", 5),
        ("pkg.passes.FuseTIR", "tvm::relax::transform::FuseTIR", "relax.transform.FuseTIR", passes, 6),
        ("pkg.passes.fold", "tvm::relax::transform::FoldConstant", "relax.transform.FoldConstant", passes, 10),
    ]


def test_every_file_of_the_tree_has_a_row(index: Path, tree: Path) -> None:
    found = dict(_rows(index, "SELECT path, status FROM files"))
    on_disk = {p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file()}
    assert set(found) == on_disk
    assert set(found.values()) == {"ok"}


def test_the_index_says_what_it_was_made_from(index: Path, tree: Path) -> None:
    db = open_index(index)
    meta = read_meta(db)
    db.close()
    assert meta["tree"] == str(tree)
    assert meta["era"] == "static_init_block"
    assert meta["clang"].startswith("clang version")
    assert "-std=" in meta["flags"]
    assert meta["pch"] == "ok"
    assert not any("dlpack" in warning for warning in json.loads(meta["warnings"])), "nothing includes it"


def test_the_summary_is_read_back_from_the_index(index: Path) -> None:
    summary = summarize(index, unchanged=False, seconds=1.0)
    assert summary.files == {"ok": len(_rows(index, "SELECT 1 FROM files"))}
    assert summary.symbols == len(_rows(index, "SELECT 1 FROM symbols"))
    assert summary.calls["registry"] == 3
    assert summary.keys_defined["pass"] == 5
    assert summary.key_uses == {"resolved": 3, "dangling": 1}
    assert summary.dangling == [("ffi", "nobody.defines.it", "python/pkg/lookups.py", 9)]
    assert summary.exit_code == 0


def test_a_comment_at_the_top_of_ten_files_changes_no_id(index: Path, own: tuple[Path, Path]) -> None:
    """Links to a symbol, recorded runs and bookmarks survive an edit elsewhere in the file."""
    root, db = own
    before = dict(_rows(index, "SELECT id, key FROM symbols"))
    lines = dict(_rows(index, "SELECT qualname, line FROM symbols WHERE path = 'src/passes.cc' AND line > 0"))
    for name in EDITED:
        mark = "#" if name.endswith(".py") else "//"
        (root / name).write_text(f"{mark} one more line\n" + (root / name).read_text("utf-8"), "utf-8")
    assert not _index(root, db).unchanged
    assert dict(_rows(db, "SELECT id, key FROM symbols")) == before
    after = dict(_rows(db, "SELECT qualname, line FROM symbols WHERE path = 'src/passes.cc' AND line > 0"))
    assert after == {name: line + 1 for name, line in lines.items()}


def test_an_unchanged_tree_is_left_alone(index: Path, tree: Path) -> None:
    before = index.read_bytes()
    summary = _index(tree, index)
    assert summary.unchanged
    assert summary.seconds < 3
    assert index.read_bytes() == before


def test_a_touched_file_is_not_a_changed_one(index: Path, tree: Path) -> None:
    """A git checkout of another branch and back must not cost minutes."""
    os.utime(tree / "src/passes.cc", ns=(1, 1))
    assert _index(tree, index).unchanged


def test_force_indexes_again(index: Path, tree: Path, tmp_path: Path) -> None:
    copy = tmp_path / "xref.db"
    copy.write_bytes(index.read_bytes())
    assert not _index(tree, copy, force=True).unchanged


def test_a_selection_holds_the_same_facts(index: Path, tree: Path, tmp_path: Path) -> None:
    """`--only` reads fewer files, not each file differently: what the rest of the tree declares is still known."""
    part = tmp_path / "part.db"
    summary = _index(tree, part, only=("src/passes.cc",))
    assert summary.files == {"ok": 1}
    sql = (
        "SELECT a.qualname, b.qualname, b.kind, c.evidence, c.line, c.col FROM calls c JOIN symbols a"
        " ON a.id = c.caller_id JOIN symbols b ON b.id = c.callee_id WHERE c.path = 'src/passes.cc' ORDER BY 5, 6, 2"
    )
    assert _rows(part, sql) == _rows(index, sql)
    with pytest.raises(XrefError) as error:
        _index(tree, tmp_path / "none.db", only=("src/nothing*",))
    assert error.value.exit_code == 2
    assert not (tmp_path / "none.db").exists()


def test_a_selection_is_not_the_whole_index(index: Path, tree: Path, tmp_path: Path) -> None:
    copy = tmp_path / "xref.db"
    copy.write_bytes(index.read_bytes())
    assert not _index(tree, copy, only=("src/*",)).unchanged


def _die(*_folders: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_without_the_precompiled_header_it_takes_longer_and_finds_the_same(
    index: Path, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract_module, "_pch_task", _die)
    monkeypatch.setenv("XREF_PCH_CACHE", str(tmp_path / "pch"))
    summary = _index(tree, tmp_path / "x.db")
    assert "the worker process died (SIGKILL)" in next(w for w in summary.warnings if "precompiled" in w)
    sql = "SELECT path, line, col, caller_id, callee_id, evidence FROM calls ORDER BY 1, 2, 3, 4, 5"
    assert _rows(tmp_path / "x.db", sql) == _rows(index, sql)
    assert summary.files.keys() == {"ok"}


def test_progress_counts_up_to_all(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XREF_PCH_CACHE", str(tmp_path / "pch"))
    seen: list[tuple[int, int, str]] = []
    run_index(IndexOptions(tree, tmp_path / "x.db", only=("src/same_names/*",)), lambda *state: seen.append(state))
    parsed = [state for state in seen if state[2] != "linking"]
    assert [done for done, _, _ in parsed] == list(range(1, len(parsed) + 1))
    assert parsed[-1][0] == parsed[-1][1]
    assert {label for _, _, label in parsed} == {
        "common headers",
        "src/same_names/cpu/winograd.cc",
        "src/same_names/cuda/winograd.cc",
    }
