"""Walks: generated from names and the index, honest about what is gone."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import site_case
from site_case import Site, id_of

from xref.model import XrefError
from xref.site import walk_pages
from xref.site.assets import prose
from xref.site.check import check_site
from xref.site.layout import find_dot
from xref.site.links import Linker
from xref.site.walks import Walk, load_walks, walks_folder
from xref.site.worker import write

RECIPE = """
title = "A road <b>"
order = 1
since = "0.20"
lead = "From Python to C++."

[[step]]
symbol = ["tvm.no.such", "tvm.relax.pipeline.one"]
text = "It begins in `one` <i>."

[[step]]
key = "relax.transform.FuseTIR"
text = "What the key runs."
show = "return"

[[step]]
symbol = ["tvm::Inner(int)"]
text = "The work."
"""


def walks(site: Site, folder: Path, recipe: str = RECIPE, **meta: str) -> list[Walk]:
    (folder / "road.toml").write_text(recipe)
    with sqlite3.connect(site.db) as db:
        return load_walks(db, site.plan.names, site.plan.aliases, {**site.plan.meta, **meta}, folder)


def test_a_walk_follows_calls_and_keys(tmp_path: Path, site: Site) -> None:
    found = walks(site, tmp_path)
    assert [step.symbol for step in found[0].steps] == [
        id_of(site_case.ONE), id_of(site_case.CREATOR), id_of(site_case.INNER)
    ]  # fmt: skip
    plan = site.plan
    plan.walks = found
    with sqlite3.connect(site.db) as db:
        outputs = list(walk_pages.walk_pages(db, Linker(plan), find_dot(), "site"))
    write(site.folder, outputs)
    assert check_site(site.folder).problems == []
    page = outputs[1].text
    assert "<code>one</code> &lt;i&gt;" in page, "a recipe's text is text"
    assert "A road &lt;b&gt;" in page
    assert "through a key" in page
    assert "_ffi_api.<mark>FuseTIR</mark>()" in page, "the line that leads on"
    assert "×3" in page, "how often a run took it"
    assert "written inside it" in page, "the lambda between the creator and the work"
    assert "<svg class=graph role=group" in page


def test_a_step_that_is_gone_stops_the_build(tmp_path: Path, site: Site) -> None:
    """A walk with a hole in it would teach something false; only where a part was indexed is a hole shown."""
    gone = RECIPE.replace("tvm::Inner(int)", "tvm::Inner(float)")
    with pytest.raises(XrefError, match=r"walks/road\.toml, step 3.*tvm::Inner\(float\)"):
        walks(site, tmp_path, gone, only="")
    assert walks(site, tmp_path, gone, only="part")[0].steps[2].symbol is None


@pytest.mark.parametrize("meta", [{"tvm_version": "0.19.0"}, {"tvm_version": ""}, {"project": "tvm-ffi"}])
def test_a_walk_is_left_out_where_it_does_not_fit(tmp_path: Path, site: Site, meta: dict[str, str]) -> None:
    assert walks(site, tmp_path, **meta) == []


@pytest.mark.parametrize("recipe", ["title = 1 =", 'title = "x"', RECIPE + "[[step]]\ntext = 'neither'\n"])
def test_a_broken_recipe_is_named(tmp_path: Path, site: Site, recipe: str) -> None:
    with pytest.raises(XrefError, match=r"road\.toml"):
        walks(site, tmp_path, recipe)


def test_the_committed_recipes_can_be_read(site: Site) -> None:
    """They are checked against TVM by `xref site`; here, that the four roads of the site are there."""
    folder = walks_folder()
    assert folder is not None
    assert {path.stem for path in folder.glob("*.toml")} >= {"conv2d", "ffi", "fusion", "memory"}
    with sqlite3.connect(site.db) as db:
        load_walks(db, site.plan.names, site.plan.aliases, {**site.plan.meta, "only": "part"})


def test_words_in_backquotes_are_code_and_nothing_else_is_markup() -> None:
    assert prose("a `x<y>` & b") == "a <code>x&lt;y&gt;</code> &amp; b"
