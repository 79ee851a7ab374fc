"""Building again: what has not changed is taken over, and the result is the one that a whole build gives."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from small_tree import make_tree

from xref.index import IndexOptions, run_index
from xref.site.build import SiteOptions, SiteSummary, build_site
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
    """A folder with a tree, its index and its site."""
    folder = tmp_path_factory.mktemp("first")
    tree = make_tree(folder / "tree")
    for path in (tree / "src").iterdir():
        if path.name not in ("passes.cc", "visitors.cc"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    index(tree, folder / "xref.db")
    build(folder / "xref.db", folder / "site")
    return folder


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


EDITS = [insert_lines, new_caller, call_gone, renamed, new_file, file_gone, header]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_building_again_gives_what_a_whole_build_gives(
    tmp_path: Path, first: Path, edit: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, whatever was edited: a page left over from before would tell of code that is no more."""
    monkeypatch.setattr("xref.site.changes._TOO_MANY", 2)  # the tree is small: most of it would be made again
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
    assert (taken_over > 0) == (edit is not file_gone), "after a file has gone, everything is made again"
    again, whole = content(tmp_path / "site"), content(tmp_path / "whole")
    assert again.keys() == whole.keys()
    assert [name for name in whole if again[name] != whole[name]] == []
    assert check_site(tmp_path / "site").problems == []


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
