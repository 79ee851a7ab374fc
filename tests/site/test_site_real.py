"""A site of a really indexed tree: the extractors' positions, columns and keys must fit what the site expects."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest
from small_tree import make_tree

from xref.index import IndexOptions, run_index
from xref.site import urls
from xref.site.build import SiteSummary, build_site
from xref.site.check import check_site
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


def test_callers_stand_on_the_page_of_the_callee(built: tuple[Path, Path, SiteSummary], plan: SitePlan) -> None:
    """Call rows drawn by seed: the caller's name and the line of the call are on the callee's page or its sequels."""
    db = sqlite3.connect(built[0])
    rows = db.execute("SELECT caller_id, callee_id, path, line FROM calls ORDER BY 1, 2, 3, 4").fetchall()
    db.close()
    for caller, callee, path, line in random.Random(7).sample(rows, min(200, len(rows))):
        page = plan.packing.address[callee].partition("#")[0]
        pages = [built[1] / page, *(built[1] / page).parent.glob(f"{Path(page).stem}.callers.*.html")]
        text = "".join(each.read_text(encoding="utf-8") for each in pages)
        assert plan.packing.address[caller] in text
        assert plan.names[caller].name.replace("<", "&lt;").replace(">", "&gt;") in text
        assert f"#L{line}" in text or f">{line}" in text, (path, line)


def test_both_sides_of_a_key(built: tuple[Path, Path, SiteSummary], plan: SitePlan) -> None:
    [wrapper] = [id_ for id_, name in plan.names.items() if name.qualname == "pkg.passes.FuseTIR"]
    html = (built[1] / plan.packing.address[wrapper].partition("#")[0]).read_text(encoding="utf-8")
    assert "relax.transform.FuseTIR" in html
    assert "<svg class=graph" in html
