"""A site of a really indexed tree: the extractors' positions, columns and keys must fit what the site expects."""

from __future__ import annotations

import re
import shutil
import sqlite3
from pathlib import Path

import html5lib
import pytest
from small_tree import make_tree

from xref.index import IndexOptions, run_index
from xref.site import urls
from xref.site.build import SiteSummary, build_site
from xref.site.check import check_site
from xref.site.check_calls import check_calls
from xref.site.plan import SitePlan, make_plan


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, SiteSummary]:
    folder = tmp_path_factory.mktemp("real")
    db = folder / "xref.db"
    options = IndexOptions(path=make_tree(folder / "tree"), db=db, jobs=2, only=(), force=False)
    run_index(options, lambda *_: None)
    return db, folder / "site", build_site(db, folder / "site", 2, lambda *_: None)


@pytest.fixture(scope="module")
def plan(built: tuple[Path, Path, SiteSummary]) -> SitePlan:
    return make_plan(built[0])


def test_every_link_leads_somewhere(built: tuple[Path, Path, SiteSummary]) -> None:
    result = check_site(built[1])
    assert result.problems == []
    assert result.links > 500
    assert built[2].stale == 0
    assert built[2].drawings > 0


def test_names_in_the_source_are_linked(built: tuple[Path, Path, SiteSummary], plan: SitePlan) -> None:
    """Nearly every explicit reference is a link: if columns were off by one, pages would be bare."""
    db = sqlite3.connect(built[0])
    linked = total = 0
    for file in plan.files:
        html = (built[1] / urls.source_url(file.path)).read_text(encoding="utf-8")
        lines = html.split("<span id=L")
        rows = db.execute(
            "SELECT r.line, s.name FROM refs r JOIN symbols s ON s.id = r.symbol_id WHERE r.path = ?"
            " AND r.role IN ('definition', 'call') AND s.kind IN ('function', 'method', 'class') AND r.line > 0",
            (file.path,),
        ).fetchall()
        for line, name in rows:
            shown = lines[line]
            if f">{name}<" in shown or f"{name}(" in shown:
                total += 1
                linked += f">{name}</a>" in shown
    db.close()
    assert total > 50
    assert linked / total > 0.95


def test_callers_stand_on_the_page_of_the_callee(built: tuple[Path, Path, SiteSummary]) -> None:
    """Call rows drawn by seed: the caller's name and the line of the call are on the callee's page or its sequels."""
    count, missing = check_calls(built[0], built[1], 200, seed=7)
    assert count > 50
    assert missing == []


def test_a_caller_that_is_not_on_the_page_is_noticed(built: tuple[Path, Path, SiteSummary], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built[1], copy)
    for page in (copy / "f").rglob("*.html"):
        page.write_text(re.sub(r":\d+</a>", ":9999</a>", page.read_text(encoding="utf-8")), encoding="utf-8")
    missing = check_calls(built[0], copy, 200, seed=7)[1]
    assert missing
    assert all("no row of" in text for text in missing)


def test_pages_are_well_formed(built: tuple[Path, Path, SiteSummary]) -> None:
    """By the standard's own parsing rules, without any of its repairs."""
    for page in built[1].rglob("*.html"):
        parser = html5lib.HTMLParser()
        parser.parse(page.read_text(encoding="utf-8"))
        assert parser.errors == [], page


def test_both_sides_of_a_key(built: tuple[Path, Path, SiteSummary], plan: SitePlan) -> None:
    [wrapper] = [id_ for id_, name in plan.names.items() if name.qualname == "pkg.passes.FuseTIR"]
    html = (built[1] / plan.packing.address[wrapper].partition("#")[0]).read_text(encoding="utf-8")
    assert "relax.transform.FuseTIR" in html
    assert "<svg class=graph" in html
