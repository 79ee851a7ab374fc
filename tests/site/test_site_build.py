"""The whole small site: every link leads somewhere, nothing of the tree becomes markup, your folders are left alone."""

from __future__ import annotations

import errno
import html.parser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import html5lib
import pytest
import site_case
from site_case import Site

from xref.model import ExitCode, XrefError
from xref.site import nesting
from xref.site.assets import ASSETS, read_script_data, script_data
from xref.site.build import SiteOptions, build_site
from xref.site.check import check_site
from xref.site.plan import make_plan
from xref.site.publish import MARKER
from xref.workers import Failure, Task, Workers


def build(db: Path, out: Path) -> None:
    build_site(db, out, 1, lambda *_: None)


def test_every_link_leads_somewhere(site: Site) -> None:
    result = check_site(site.folder)
    assert result.problems == []
    assert result.pages > 20
    assert result.links > 200


def test_the_checker_finds_what_is_wrong(tmp_path: Path, site: Site) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(site.folder, copy)
    page = copy / "index.html"
    wrong = (
        "<a href=nowhere.html>x</a><a href=health.html#no-such>x</a><p id=a><p id=a>"
        "<a href=source/src/relax/fuse_tir.cc.html#L999>x</a><script src='https://example.org/x.js'></script>"
    )
    page.write_text(page.read_text() + wrong)
    script = copy / "search" / "0.js"
    shard = json.dumps(read_script_data(script.read_text())).replace(".html", "-no.html", 1)
    script.write_text(script_data("search/0.js", json.loads(shard)))
    (copy / "search" / "names.js").write_text('xref.put("search/names.js","AAAA");\n')
    texts = [problem.text for problem in check_site(copy).problems]
    for wanted in (
        "leads to no page: nowhere.html",
        "no such anchor: health.html#no-such",
        "has the id a more than once",
        "line beyond the file's",
        "leaves the site: https://example.org/x.js",
    ):
        assert any(wanted in text for text in texts), wanted
    assert any("-no.html" in text for text in texts), "links in scripts are checked too"
    assert any("cannot be read" in text for text in texts), "and that they hold data at all"
    done = subprocess.run(
        [sys.executable, "-m", "xref.site.check", str(copy)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "nowhere.html" in done.stdout


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ("<div><p>x</div></div>", "</div> outside everything"),
        ("<ul><li>a<li>b<b>c</ul></b>", "</ul> inside <b>"),
        ("<p>x<ul></ul></p>", "</p> outside everything"),
        ("<table><tr><td>x</span></table>", "</span> inside <table>"),
        ("<div>", "<div> is never closed"),
        ("<p>a < b", "a < that begins no tag"),
        ("<a id=x href=y#of=z>x</a>", "needs quotes"),
    ],
)
def test_tags_that_do_not_nest_are_found(html: str, fault: str) -> None:
    assert fault in nesting.trouble(html)[0]
    parser = html5lib.HTMLParser()
    parser.parseFragment(html)
    assert parser.errors, "by the standard too"


def test_every_kind_of_page_is_well_formed(site: Site) -> None:
    """Hostile names and texts too, by the standard's own parsing rules, without any of its repairs."""
    for page in site.folder.rglob("*.html"):
        parser = html5lib.HTMLParser()
        parser.parse(page.read_text(encoding="utf-8"))
        assert parser.errors == [], page


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str | None] = []
        self.handlers: list[str] = []
        self.images = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.scripts.append(dict(attrs).get("src"))
        self.images += tag == "img"
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def test_nothing_of_the_tree_becomes_markup(site: Site) -> None:
    """A docstring, a file name, a key, a run's name: all text. Each page runs the one script of the site."""
    for page in site.folder.rglob("*.html"):
        tags = _Tags()
        tags.feed(page.read_text(encoding="utf-8"))
        assert len(tags.scripts) == 1, page
        assert (tags.scripts[0] or "").endswith("assets/xref.js")
        assert not tags.handlers, page
        assert not tags.images, page
    everything = "".join(page.read_text(encoding="utf-8") for page in site.folder.rglob("*.html"))
    assert "&lt;/script&gt;&lt;script&gt;alert" in everything, "the docstring is shown as text"
    assert "{{ 7 * 7 }}" in everything, "and is no template"
    assert "\u202e" not in site.read("source/python/tvm/relax/hostile.py.html"), (
        "marks that reorder text are spelled out"
    )
    for script in (site.folder / "search").glob("*.js"):
        text = script.read_text(encoding="utf-8")
        assert "<" not in text, "no data can end a script"
        assert "\u2028" not in text
        assert "\u2029" not in text


def test_addresses_are_plain_whatever_files_are_called(site: Site) -> None:
    names = [path.relative_to(site.folder).as_posix() for path in site.folder.rglob("*")]
    assert all(
        set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+~-/") for name in names
    )
    assert any("we~20ird" in name for name in names)


def test_no_third_party_and_no_request(site: Site) -> None:
    scripts = {path.relative_to(site.folder).as_posix() for path in site.folder.rglob("*.js")}
    assert {path for path in scripts if path.startswith("assets/")} == {
        f"assets/{name}" for name in ASSETS if name.endswith(".js")
    }
    for path in scripts:
        if not path.startswith("assets/"):
            read_script_data((site.folder / path).read_text(encoding="utf-8"))  # data, and nothing else
    for path in [*site.folder.rglob("*.html"), *site.folder.rglob("*.js"), *site.folder.rglob("*.css")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg\"|\(127)", text.replace("\\/", "/")), path
        assert "fetch(" not in text
        assert "type=module" not in text


def test_one_index_gives_one_site(tmp_path: Path, site: Site) -> None:
    build_site(site.db, tmp_path / "again", 2, lambda *_: None)
    first = {path.relative_to(site.folder): path.read_bytes() for path in site.folder.rglob("*") if path.is_file()}
    again = {path.relative_to(tmp_path / "again"): path.read_bytes()
             for path in (tmp_path / "again").rglob("*") if path.is_file()}  # fmt: skip
    assert first.keys() == again.keys()
    assert [path for path in first if first[path] != again[path]] == []


def test_addresses_survive_an_edit_elsewhere(tmp_path: Path, site: Site) -> None:
    """A permalink to a symbol stays good when other symbols come and go."""
    plan = make_plan(site.db)
    fewer = tmp_path / "xref.db"
    site_case.build(
        fewer, plan.root, [facts for facts in site_case.facts() if facts.path in (site_case.CC, site_case.H)]
    )
    codes = make_plan(fewer).packing.code
    assert codes
    assert all(plan.packing.code[id_] == code for id_, code in codes.items())


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site_case.make(tmp_path_factory.mktemp("tiny"))


def test_a_folder_of_yours_is_never_deleted(tmp_path: Path, tiny: Path) -> None:
    thesis = tmp_path / "docs" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("years of work")
    with pytest.raises(XrefError) as caught:
        build(tiny, thesis.parent)
    assert caught.value.exit_code == 5
    assert "thesis.txt" in str(caught.value)
    assert "--out" in str(caught.value)
    assert thesis.read_text() == "years of work"
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]


def test_the_check_reads_attributes_not_the_text_in_them(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text("<a aria-label='a file named <img src=x href=y id=z>.cc' title=\"src=x\" id=a href=#a>x</a>")
    result = check_site(tmp_path)
    assert (result.links, result.problems) == (1, [])


@pytest.mark.parametrize("name", ["notes.md", "assets/custom.css", "source/mine/z.txt", "runs/keep.txt"])
def test_a_file_put_into_a_site_is_never_deleted(tmp_path: Path, tiny: Path, name: str) -> None:
    build(tiny, tmp_path / "out")
    path = tmp_path / "out" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    with pytest.raises(XrefError, match=name.rpartition("/")[2].replace("z.txt", "mine")):
        build(tiny, tmp_path / "out")
    assert path.read_text() == "mine"
    assert (tmp_path / "out" / "index.html").exists()


def test_a_disk_that_fills_up_under_a_page_is_called_full(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Failure("no space", False, errno.ENOSPC)
    monkeypatch.setattr(Workers, "finished", lambda *_: [(Task("x.cc", print, (), ()), None, full)])
    with pytest.raises(XrefError, match="disk is full") as caught:
        build(tiny, tmp_path / "out")
    assert caught.value.exit_code == ExitCode.UNUSABLE_INPUT
    assert list(tmp_path.iterdir()) == []


def test_a_forged_marker_protects_nothing_else(tmp_path: Path, tiny: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / MARKER).write_text("[not json")
    (out / "x").write_text("mine")
    with pytest.raises(XrefError):
        build(tiny, out)
    assert (out / "x").exists()


def test_a_file_in_the_way(tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(XrefError, match="not a folder"):
        build(tiny, tmp_path / "out")


def test_a_site_is_replaced_whole_and_placeholders_stay(tmp_path: Path, tiny: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "README.md").write_text("# where the site goes")
    build(tiny, out)
    (out / "index.html").write_text("of an older index")
    build(tiny, out)
    assert "of an older index" not in (out / "index.html").read_text()
    assert (out / "README.md").read_text() == "# where the site goes"
    assert set(json.loads((out / MARKER).read_text())["folders"][""]) < {path.name for path in out.iterdir()}
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "nothing is left beside it"


def test_a_failed_build_leaves_the_old_site(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    build(tiny, out)
    before = (out / "index.html").read_bytes()

    def fail(*_: object) -> None:
        raise XrefError("broken", 1)

    monkeypatch.setattr("xref.site.build.state_of", fail)
    with pytest.raises(XrefError, match="broken"):
        build_site(tiny, out, 1, lambda *_: None, SiteOptions(full=True))
    assert (out / "index.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_out_through_a_link(tmp_path: Path, tiny: Path) -> None:
    """The folder behind a symbolic link is replaced, the link stays."""
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    build(tiny, tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "real" / "index.html").exists()


def test_a_place_that_cannot_be_written(tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(XrefError, match="cannot be written") as caught:
        build(tiny, tmp_path / "file" / "out")
    assert caught.value.exit_code == 5


def test_a_tree_that_is_gone(tmp_path: Path) -> None:
    db = site_case.make(tmp_path)
    shutil.rmtree(tmp_path / "tree")
    with pytest.raises(XrefError) as caught:
        build(db, tmp_path / "out")
    assert caught.value.exit_code == 5
    assert str(tmp_path / "tree") in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(XrefError) as caught:
        build(tmp_path / "none.db", tmp_path / "out")
    assert caught.value.exit_code == 3


def test_a_layout_program_that_is_not_there(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XREF_DOT", "/no/such/dot")
    with pytest.raises(XrefError, match="XREF_DOT"):
        build(tiny, tmp_path / "out")


def test_without_a_layout_program_there_are_the_lists(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xref.site.layout.find_dot", lambda: None)
    summary = build_site(tiny, tmp_path / "out", 1, lambda *_: None)
    assert summary.drawings == 0
    assert "pip install graphviz-pure" in summary.note
    assert check_site(tmp_path / "out").problems == []


def test_a_layout_program_that_fails_is_said_on_the_page(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XREF_DOT", "false")
    build(site.db, tmp_path / "out")
    pages = [page.read_text() for page in (tmp_path / "out" / "s").rglob("*.html")]
    assert any("No drawing: the layout program failed" in page for page in pages)
