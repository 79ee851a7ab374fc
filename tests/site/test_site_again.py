"""Building again: what has not changed is taken over, and the result is the one that a whole build gives."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from small_tree import make_tree

from xref.index import IndexOptions, run_index
from xref.site.build import SiteOptions, SiteSummary, build_site
from xref.site.changes import Changes, find_changes
from xref.site.check import check_site
from xref.site.state import FILE


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def index(tree: Path, db: Path) -> None:
    run_index(IndexOptions(path=tree, db=db, jobs=2, only=(), force=True), lambda *_: None)


def build(db: Path, out: Path, **options: object) -> SiteSummary:
    return build_site(db, out, 2, lambda *_: None, SiteOptions(**options))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tree, its index and its site. A file is read in part, as some are in every real tree."""
    folder = tmp_path_factory.mktemp("first")
    tree = make_tree(folder / "tree")
    for path in (tree / "src").iterdir():
        if path.name not in ("passes.cc", "visitors.cc"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (tree / "src" / "part.cc").write_text("#include <nobody/has/that.h>\n\nint Part() { return 1; }\n")
    (tree / "python" / "pkg" / "marks.py").write_text(MARKS)
    (tree / "python" / "pkg" / "marked.py").write_text(
        "from .marks import marked\n\n\n@marked\nclass Marked:\n    pass\n"
    )
    (tree / "python" / "pkg" / "levels.py").write_text(LEVELS)
    (tree / "python" / "pkg" / "below.py").write_text(BELOW)
    index(tree, folder / "xref.db")
    build(folder / "xref.db", folder / "site")
    return folder


MARKS = (
    "import tvm_ffi\n\n\ndef marked(cls):\n    return cls\n\n\n"
    "def user():\n    return tvm_ffi.get_global_func('tirx.Fold')(1)\n"
)


LEVELS = (
    "class Top:\n    def run(self):\n        return 0\n\n\nclass Middle(Top):\n    def run(self):\n        return 1\n"
)
BELOW = "from .levels import Middle\n\n\nclass Low(Middle):\n    def run(self):\n        return 2\n"


def insert_lines(tree: Path) -> None:
    path = tree / "src" / "visitors.cc"
    path.write_text("// one\n// more\n" + path.read_text())


def new_caller(tree: Path) -> None:
    path = tree / "python" / "pkg" / "lookups.py"
    path.write_text(path.read_text() + "\n\ndef late():\n    return known(), missing()\n")


def call_gone(tree: Path) -> None:
    path = tree / "python" / "pkg" / "passes.py"
    path.write_text(path.read_text().replace("(FuseTIR, fold)", "(fold,)"))


def renamed(tree: Path) -> None:
    path = tree / "python" / "pkg" / "passes.py"
    path.write_text(
        path.read_text().replace("def fold(", "def fold_all(").replace("FuseTIR, fold)", "FuseTIR, fold_all)")
    )


def new_file(tree: Path) -> None:
    (tree / "python" / "pkg" / "more.py").write_text("from .passes import fold\n\n\ndef again():\n    return fold()\n")


def file_gone(tree: Path) -> None:
    (tree / "python" / "pkg" / "lookups.py").unlink()


def header(tree: Path) -> None:
    path = min((tree / "include").rglob("*.h"))
    path.write_text("// changed\n" + path.read_text())


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def call_in_a_body(tree: Path) -> None:
    replace(tree / "src" / "passes.cc", "  auto inner_pass =", "  FoldConstant();\n  auto inner_pass =")


def keys_swapped(tree: Path) -> None:
    """What both keys run changes, with no line, no name and no count."""
    old = '.def("relax.transform.FuseTIR", FuseTIR).def("relax.transform.FoldConstant", FoldConstant)'
    new = '.def("relax.transform.FuseTIR", FoldConstant).def("relax.transform.FoldConstant", FuseTIR)'
    replace(tree / "src" / "passes.cc", old, new)


def key_gone(tree: Path) -> None:
    """Python's look-up, in another file, dangles."""
    replace(tree / "src" / "passes.cc", '.def("relax.transform.FoldConstant", FoldConstant)', "")


def another_way(tree: Path) -> None:
    """A callee two calls from Python, on the other side of a key, is another one."""
    replace(tree / "src" / "passes.cc", "return relax::FuseTIR(m); };", "return m.Copy(); };")


def not_virtual(tree: Path) -> None:
    """An override in the same file, whose own lines stay, overrides nothing any more."""
    replace(tree / "src" / "visitors.cc", "virtual void VisitSpan(int span) {}", "void VisitSpan(int span) {}")


def comment_left_open(tree: Path) -> None:
    """All that follows has other colours."""
    replace(tree / "python" / "pkg" / "lookups.py", "return tvm_ffi.get_global_func('nobody.defines.it')()", '"""')


def declaration_gone(tree: Path) -> None:
    replace(tree / "src" / "passes.cc", "  static Function Fold(Function func, IRModule mod);\n", "\n")


def member_gone(tree: Path) -> None:
    """The namespace, which also stands in another file, has one fewer."""
    replace(tree / "src" / "passes.cc", "IRModule FuseTIR(IRModule mod) { return mod.Copy(); }", "")
    replace(tree / "src" / "passes.cc", "return relax::FuseTIR(m); };", "return m; };")


def last_member_gone(tree: Path) -> None:
    """As `member_gone`, in whichever of the two files the namespace has its page."""
    replace(tree / "src" / "visitors.cc", "class VarNode : public ffi::Object {};", "class VarNode;")


def unit_gone(tree: Path) -> None:
    """Python's wrappers stay, and what they run is no more."""
    (tree / "src" / "passes.cc").unlink()


def key_added(tree: Path) -> None:
    replace(tree / "src" / "passes.cc", 'GlobalDef().def("relax', 'GlobalDef().def("a.key", FuseTIR).def("relax')


def key_of_another_registered(tree: Path) -> None:
    """A look-up in a file that stays as it is finds something now."""
    replace(tree / "src" / "passes.cc", 'GlobalDef().def("relax', 'GlobalDef().def("tirx.Fold", Unnamed).def("relax')


def degraded(tree: Path) -> None:
    """The file is read in part now; how many are stands on the pages about the whole alone."""
    replace(tree / "src" / "visitors.cc", "\n", "\n#include <nobody/has/this.h>\n")


def file_renamed(tree: Path) -> None:
    """As many calls and references as before, of the same, from another file."""
    (tree / "python" / "pkg" / "lookups.py").rename(tree / "python" / "pkg" / "found.py")


def call_moved(tree: Path) -> None:
    """A file is gone, and what it called has as many callers as before."""
    file_gone(tree)
    path = tree / "python" / "pkg" / "passes.py"
    path.write_text(path.read_text() + "\n\nknown = tvm_ffi.get_global_func('pkg.known')\n")


def below_renamed(tree: Path) -> None:
    """The class and the method two levels above, in a file that stays as it is, list it."""
    replace(tree / "python" / "pkg" / "below.py", "class Low", "class Lower")


def below_gone(tree: Path) -> None:
    (tree / "python" / "pkg" / "below.py").unlink()


def below_added(tree: Path) -> None:
    path = tree / "python" / "pkg" / "below.py"
    path.write_text(path.read_text() + "\n\nclass Deep(Low):\n    def run(self):\n        return 3\n")


EDITS = [
    insert_lines, new_caller, call_gone, renamed, new_file, file_gone, header, call_in_a_body, keys_swapped, key_gone,
    another_way, not_virtual, comment_left_open, declaration_gone, member_gone, last_member_gone, unit_gone, key_added,
    key_of_another_registered, degraded, file_renamed, call_moved, below_renamed,
    below_gone, below_added,
]  # fmt: skip


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_building_again_gives_what_a_whole_build_gives(
    tmp_path: Path, first: Path, edit: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, whatever was edited: a page left over from before would tell of code that is no more."""
    monkeypatch.setattr("xref.site.changes._TOO_MANY", 2)  # the tree is small: most of it would be made again
    decided: list[bool] = []

    def found(*arguments: Any) -> Changes | None:
        changes = find_changes(*arguments)
        decided.append(changes is not None)
        return changes

    monkeypatch.setattr("xref.site.build.find_changes", found)
    shutil.copytree(first / "site", tmp_path / "site")
    tree = first / "tree"
    kept = tmp_path / "tree"
    shutil.copytree(tree, kept)
    try:
        edit(tree)
        index(tree, tmp_path / "xref.db")
        taken_over = build(tmp_path / "xref.db", tmp_path / "site").kept
        build(tmp_path / "xref.db", tmp_path / "whole", full=True)
    finally:
        shutil.rmtree(tree)
        shutil.copytree(kept, tree)
    assert taken_over > 0
    assert decided == [True], "all pages were made"
    again, whole = content(tmp_path / "site"), content(tmp_path / "whole")
    assert again.keys() == whole.keys()
    assert [name for name in whole if again[name] != whole[name]] == []
    assert check_site(tmp_path / "site").problems == []


def id_of(connection: sqlite3.Connection, name: str) -> int:
    [(found,)] = connection.execute("SELECT id FROM symbol WHERE qualname = ? AND kind <> 'alias'", (name,))
    return int(found)


def add_run(db: Path, run: str, count: int) -> None:
    """A run in which Python reached the pass `count` times, through the key."""
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("DELETE FROM run WHERE id = ?", (run,))
        connection.execute("DELETE FROM observed_call WHERE run_id = ?", (run,))
        connection.execute(
            "INSERT INTO run VALUES (?, 'python x.py', '2026-01-02T03:04:05Z', '0.27', '3.11', '')", (run,)
        )
        ends = (id_of(connection, "pkg.passes.FuseTIR"), id_of(connection, "tvm::relax::transform::FuseTIR"))
        connection.execute("INSERT INTO observed_call VALUES (?, ?, ?, 'ffi', NULL, 0, 1, ?, 100)", (run, *ends, count))
        connection.execute(
            "INSERT OR REPLACE INTO pass_run VALUES (?, 0, 0, 'FuseTIR', ?, 0, ?, 1)", (run, ends[1], 1000 * count)
        )


def test_a_run_that_is_added_or_joined_again(tmp_path: Path, first: Path) -> None:
    """Nothing of the tree changes, and yet margins, drawings and the pages of runs do."""
    shutil.copytree(first / "site", tmp_path / "site")
    shutil.copy(first / "xref.db", tmp_path / "xref.db")
    for run, count in (("one", 3), ("two", 5), ("one", 4)):
        add_run(tmp_path / "xref.db", run, count)
        summary = build(tmp_path / "xref.db", tmp_path / "site")
        assert 0 < summary.pages < summary.kept
        build(tmp_path / "xref.db", tmp_path / "whole", full=True)
        assert content(tmp_path / "site") == content(tmp_path / "whole")
    assert build(tmp_path / "xref.db", tmp_path / "site").pages == 0


def test_what_a_run_moves_to_a_page_of_its_own(tmp_path: Path, first: Path) -> None:
    """Who shows a line with its name (a decorator stands outside what it decorates), or what else uses its key, leads
    there."""
    shutil.copytree(first / "site", tmp_path / "site")
    shutil.copy(first / "xref.db", tmp_path / "xref.db")
    add_run(tmp_path / "xref.db", "one", 3)
    with closing(sqlite3.connect(tmp_path / "xref.db")) as connection, connection:
        ends = (id_of(connection, "pkg.marks.user"), id_of(connection, "pkg.marks.marked"))
        connection.execute("INSERT INTO observed_call VALUES ('one', ?, ?, 'python', NULL, 0, 1, 3, 100)", ends)
    summary = build(tmp_path / "xref.db", tmp_path / "site")
    assert 0 < summary.pages < summary.kept
    build(tmp_path / "xref.db", tmp_path / "whole", full=True)
    again, whole = content(tmp_path / "site"), content(tmp_path / "whole")
    assert [name for name in whole if again[name] != whole[name]] == []
    assert check_site(tmp_path / "site").problems == []


def test_a_note_of_a_run_costs_only_the_pages_of_runs(tmp_path: Path, first: Path) -> None:
    """It counts the files that differ from what ran: an edit of one would have had every page made again."""
    shutil.copytree(first / "site", tmp_path / "site")
    shutil.copy(first / "xref.db", tmp_path / "xref.db")
    add_run(tmp_path / "xref.db", "one", 3)
    build(tmp_path / "xref.db", tmp_path / "site")
    with closing(sqlite3.connect(tmp_path / "xref.db")) as connection, connection:
        connection.execute("UPDATE run SET note = 'of 441 files, 53 differ'")
    summary = build(tmp_path / "xref.db", tmp_path / "site")
    assert 0 < summary.pages < 5
    build(tmp_path / "xref.db", tmp_path / "whole", full=True)
    assert content(tmp_path / "site") == content(tmp_path / "whole")


def test_a_file_that_changes_without_being_indexed_again(tmp_path: Path, first: Path) -> None:
    """Its page shows what stands there, though the index knows only that it is another text, and has as many lines."""
    shutil.copytree(first / "site", tmp_path / "site")
    path = first / "tree" / "python" / "pkg" / "lookups.py"
    text = path.read_text()
    try:
        for new in ("known()", "other()"):
            path.write_text(text.replace("missing()", new))
            build(first / "xref.db", tmp_path / "site")
            build(first / "xref.db", tmp_path / "whole", full=True)
            assert content(tmp_path / "site") == content(tmp_path / "whole")
    finally:
        path.write_text(text)


@pytest.mark.parametrize("damage", [Path.unlink, lambda page: page.write_text("mine")], ids=["gone", "edited"])
def test_a_site_that_somebody_changed_is_made_anew(
    tmp_path: Path, first: Path, damage: Callable[[Path], object]
) -> None:
    shutil.copytree(first / "site", tmp_path / "site")
    before = content(tmp_path / "site")
    damage(min((tmp_path / "site" / "s").rglob("*.html")))
    assert build(first / "xref.db", tmp_path / "site").kept == 0
    assert content(tmp_path / "site") == before


def test_what_has_not_changed_is_taken_over(tmp_path: Path, first: Path) -> None:
    shutil.copytree(first / "site", tmp_path / "site")
    before = content(tmp_path / "site")
    summary = build(first / "xref.db", tmp_path / "site")
    assert content(tmp_path / "site") == before
    assert summary.kept > 50
    assert summary.pages < summary.kept
    assert build(first / "xref.db", tmp_path / "site", full=True).kept == 0


def test_another_address_or_a_broken_state_makes_everything_again(tmp_path: Path, first: Path) -> None:
    shutil.copytree(first / "site", tmp_path / "site")
    (tmp_path / "site" / FILE).write_bytes(b"nothing of ours")
    assert build(first / "xref.db", tmp_path / "site").kept == 0
    summary = build(first / "xref.db", tmp_path / "site", base_url="https://example.org/tvm/")
    assert summary.kept == 0
    page = (tmp_path / "site" / "keys" / "index.html").read_text()
    assert "<link rel=canonical href=https://example.org/tvm/keys/index.html>" in page
    assert "<loc>https://example.org/tvm/keys/index.html</loc>" in (tmp_path / "site" / "sitemap.xml").read_text()
    assert check_site(tmp_path / "site").problems == []


def test_only_some_files(tmp_path: Path, first: Path) -> None:
    """A site of a part: its pages, its links, and no link to what is not there."""
    build(first / "xref.db", tmp_path / "site", only=("python/*",))
    assert check_site(tmp_path / "site").problems == []
    pages = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.html")}
    assert "source/python/pkg/passes.py.html" in pages
    assert not any(page.startswith("source/src") for page in pages)
    assert "passes.cc" not in (tmp_path / "site" / "source/index.html").read_text()
