"""All that derives from a class or overrides a method is on its page, or on those where the list goes on."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from small_tree import make_tree

from xref.index import IndexOptions, run_index
from xref.site.build import SiteOptions, build_site
from xref.site.check import check_site
from xref.site.hierarchy import Step, deep, steps

CLASSES = 9
DIAMOND = (
    "class Left(Level1): pass\n\n\nclass Right(Level1): pass\n\n\n"
    "class Both(Left, Right): pass\n\n\nclass Last(Both): pass\n"
)


def test_each_stands_below_what_it_is_directly_below() -> None:
    downs = {1: [2, 3], 2: [4], 3: [4], 4: [5]}
    assert steps(downs, 1) == [
        Step(2, 0, again=False), Step(4, 1, again=False), Step(5, 2, again=False),
        Step(3, 0, again=False), Step(4, 1, again=True),
    ]  # fmt: skip
    assert sorted(deep(downs)) == [1, 2, 3]


def test_a_cycle_ends() -> None:
    assert len(steps({1: [2], 2: [1, 3]}, 1)) == 3


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site in which lists are short, so that a chain of classes goes on on further pages."""
    folder = tmp_path_factory.mktemp("descent")
    tree = make_tree(folder / "tree")
    chain = "class Level0:\n    def run(self): pass\n"
    for number in range(1, CLASSES):
        chain += f"\n\nclass Level{number}(Level{number - 1}):\n    def run(self): pass\n"
    (tree / "python" / "pkg" / "levels.py").write_text(f"{chain}\n\n{DIAMOND}")
    run_index(IndexOptions(path=tree, db=folder / "xref.db", jobs=2, only=("python/*",), force=True), lambda *_: None)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("descent", "symbol_pages"):
            patch.setattr(f"xref.site.{module}.FIRST_ROWS", 5)
            patch.setattr(f"xref.site.{module}.MORE_ROWS", 4)
        build_site(folder / "xref.db", folder / "site", 2, lambda *_: None)
    assert check_site(folder / "site").problems == []
    return folder / "site"


def test_a_part_of_the_tree_whose_classes_have_others_below_them(tmp_path: Path) -> None:
    """What derives from a class in a file that the site leaves out has no page, and is named all the same."""
    tree = make_tree(tmp_path / "tree")
    package = tree / "python" / "pkg"
    (package / "levels.py").write_text("class Top: pass\n\n\nclass Middle(Top): pass\n")
    (package / "below.py").write_text("from .levels import Middle\n\n\nclass Low(Middle): pass\n")
    db = tmp_path / "xref.db"
    run_index(IndexOptions(path=tree, db=db, jobs=2, only=("python/*",), force=True), lambda *_: None)
    build_site(db, tmp_path / "site", 2, lambda *_: None, SiteOptions(only=("python/pkg/levels.py",)))
    html = "".join(path.read_text() for path in (tmp_path / "site" / "s").rglob("*.html"))
    assert "pkg.below.Low" in html
    assert check_site(tmp_path / "site").problems == []


def rows(html: str) -> list[tuple[int, str]]:
    """Level and name of each row of a page's first tree."""
    tree = html[html.index('<ul class="tree') :].partition("</ul>")[0]
    found = re.findall(r"<li aria-level=(\d+)[^>]*>(.*?)(?=<li|$)", tree, re.DOTALL)
    return [(int(level), unescape(re.sub(r"<[^>]*>", "", text)).split()[0].rpartition(".")[2]) for level, text in found]


def test_a_class_lists_all_that_derives_from_it(pages: Path) -> None:
    """Nine classes, each below the one before, and four more; the list goes on, whole."""
    [path] = [path for path in (pages / "s").rglob("*.html") if "<title>pkg.levels.Level0" in path.read_text()]
    html = path.read_text()
    assert "12 classes, 1 of them directly" in html
    found = rows(html)
    assert found[:2] == [(1, "Level1"), (2, "Left")]
    links = re.findall(r"<a href=(\S*\.derived\.\d\.html)>", html)
    assert len(links) == 2
    for number in range(2, 2 + len(links)):
        found += rows(path.with_name(f"{path.stem}.derived.{number}.html").read_text())
    assert len(found) == 12 + 1, "the class with two bases stands below both"
    assert {name for _, name in found} == {
        *(f"Level{number}" for number in range(1, CLASSES)), "Left", "Right", "Both", "Last"
    }  # fmt: skip
    assert found.count((3, "Both")) == 2


def test_a_method_lists_all_that_override_it(pages: Path) -> None:
    html = "".join(path.read_text() for path in pages.rglob("*.html"))
    assert f"{CLASSES - 1} methods, 1 of them directly" in html
