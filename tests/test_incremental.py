"""After every kind of edit, the index that was brought up to date equals one made anew, view by view; and it is made of
no more than what the edit may have changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from same_index import differences

from xref.index import IndexOptions, run_index
from xref.summary import IndexSummary

PUBLIC = (
    "#pragma once\n/*! \\brief The base. */\nstruct Base {\n  virtual int run() { return 0; }\n};\nint shared(int x);\n"
)
PRIVATE = "#pragma once\n#include <lib/base.h>\nextern int declared();\ninline int inner() { return declared(); }\n"
UNIT = (
    '#include <lib/base.h>\n#include "../common/inner.h"\n'
    "struct Sub{n} : Base {{\n  int run() override {{ return inner(); }}\n}};\n"
    "int use{n}(Base* b) {{ return b->run() + shared({n}); }}\n"
)


def make_tree(root: Path) -> Path:
    """A library of four units, a public header that becomes the precompiled one, a private header, two Python files."""
    files = {
        "include/lib/base.h": PUBLIC,
        "src/common/inner.h": PRIVATE,
        **{f"src/units/u{n}.cc": UNIT.format(n=n) for n in range(4)},
        "src/units/other.cc": '#include "not_there.h"\nint declared() { return 1; }\nint shared(int x) { return x; }\n',
        "src/units/plain.cc": "#include <cstddef>\nint plain() { return 3; }\n",
        "python/pkg/__init__.py": "",
        "python/pkg/a.py": "def f():\n    return 1\n",
        "python/pkg/b.py": "from .a import f\n\n\ndef g():\n    return f()\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tree `it` and its index."""
    folder = tmp_path_factory.mktemp("incremental")
    run_index(IndexOptions(make_tree(folder / "it"), folder / "x.db"))
    return folder


def _append(text: str) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        path.write_text(path.read_text() + text)

    return edit


def _write(text: str) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return edit


Edit = tuple[str, Callable[[Path], None]]
EDITS: dict[str, tuple[list[Edit], int, int]] = {
    "a unit": ([("src/units/u1.cc", _append("int more() { return use1(nullptr); }\n"))], 1, 0),
    "a unit loses a definition that others call": ([("src/units/other.cc", _write("int other;\n"))], 1, 0),
    "a unit overrides no more": (
        [("src/units/u2.cc", _write("#include <lib/base.h>\nint use2(Base*) { return 0; }\n"))],
        1,
        0,
    ),
    "a private header": ([("src/common/inner.h", _append("inline int second() { return inner(); }\n"))], 4, 0),
    "a public header": ([("include/lib/base.h", _append("inline int third() { return shared(3); }\n"))], 7, 0),
    "a header that was looked for appears": (
        [("src/units/not_there.h", _write("inline int there() { return 1; }\n"))],
        1,
        0,
    ),
    "a header in front of another appears": ([("src/units/lib/base.h", _write(PUBLIC + "int in_front();\n"))], 6, 0),
    "a unit goes": ([("src/units/u3.cc", os.unlink)], 0, 0),
    "the unit that read a header goes": ([("src/units/u0.cc", os.unlink)], 1, 0),
    "a unit comes, first of all": (
        [("src/a.cc", _write('#include "common/inner.h"\nint a() { return inner(); }\n'))],
        2,
        0,
    ),
    "a unit gets another name": ([("src/units/u3.cc", lambda path: path.rename(path.with_name("v.cc")))], 1, 0),
    "a header goes": ([("src/common/inner.h", os.unlink)], 4, 0),
    "a Python file": ([("python/pkg/a.py", _append("\n\ndef h():\n    return f()\n"))], 0, 3),
    "a Python file that no longer parses": ([("python/pkg/a.py", _write("def f(:\n"))], 0, 3),
    "a Python file goes": ([("python/pkg/b.py", os.unlink)], 0, 2),
    "both": ([("src/units/plain.cc", _append("int z;\n")), ("python/pkg/b.py", _append("X = g()\n"))], 1, 3),
}
"""Edit -> what to do to which file, and the numbers of units and of Python files that it has read again."""


@pytest.mark.parametrize("name", EDITS)
def test_after_an_edit_the_index_is_as_a_new_one(first: Path, tmp_path: Path, name: str) -> None:
    edits, units, python = EDITS[name]
    root, db = _own_copy(first)
    try:
        for path, edit in edits:
            edit(root / path)
        summary = run_index(IndexOptions(root, db))
        run_index(IndexOptions(root, tmp_path / "fresh.db"))
        assert differences(db, tmp_path / "fresh.db") == {}
        assert summary.is_update
        assert (summary.reread["units"], summary.reread["python"]) == (units, python), summary.reasons
        assert run_index(IndexOptions(root, db)).unchanged
    finally:
        _restore(first)


def _own_copy(first: Path) -> tuple[Path, Path]:
    """The tree and its index. Both are put back after the test, so that the tree's path stays the index's."""
    saved = first / "saved"
    if not saved.exists():
        shutil.copytree(first / "it", saved)
        shutil.copy2(first / "x.db", first / "saved.db")
    return first / "it", first / "x.db"


def _restore(first: Path) -> None:
    shutil.rmtree(first / "it")
    shutil.copytree(first / "saved", first / "it")
    shutil.copy2(first / "saved.db", first / "x.db")


def test_the_summary_says_why(first: Path) -> None:
    root, db = _own_copy(first)
    try:
        _append("// more\n")(root / "src/common/inner.h")
        summary: IndexSummary = run_index(IndexOptions(root, db))
        assert summary.reasons == {"src/common/inner.h changed": 4}
    finally:
        _restore(first)


def test_without_the_kept_precompiled_header_the_facts_are_the_same(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache may be emptied, be read-only or hold rubbish at any time."""
    root, db = _own_copy(first)
    cache = tmp_path / "pch"
    monkeypatch.setenv("XREF_PCH_CACHE", str(cache))
    try:
        for state in ("empty", "kept", "rubbish", "no folder"):
            if state == "rubbish":
                for path in cache.rglob("manifest.json"):
                    path.write_text("{}")
            elif state == "no folder":
                shutil.rmtree(cache)
                cache.write_text("")
            _append(f"int {state.replace(' ', '_')};\n")(root / "src/units/u1.cc")
            assert run_index(IndexOptions(root, db)).reread["units"] == 1
        run_index(IndexOptions(root, tmp_path / "fresh.db"))
        assert differences(db, tmp_path / "fresh.db") == {}
    finally:
        _restore(first)


def test_missing_submodules_are_told_while_a_header_is_missing(first: Path) -> None:
    """And no longer than that: a warning that stays after its remedy, or that has none, is not read again."""
    root, db = _own_copy(first)
    try:
        (root / ".gitmodules").write_text("[submodule]\n\tpath = 3rdparty/absent\n")
        assert any("3rdparty/absent" in warning and "not_there.h" in warning for warning in _warnings(root, db))
        (root / "src/units/not_there.h").write_text("int there;\n")
        assert not any("3rdparty/absent" in warning for warning in _warnings(root, db))
        (root / "src/units/not_there.h").unlink()
        assert any("3rdparty/absent" in warning for warning in _warnings(root, db))
        _write("int other;\n")(root / "3rdparty/absent/x.c")
        assert not any("3rdparty/absent;" in warning for warning in _warnings(root, db))
    finally:
        _restore(first)


def _warnings(root: Path, db: Path) -> list[str]:
    return run_index(IndexOptions(root, db)).warnings
