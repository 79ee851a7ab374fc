"""Notes made by MkDocs link to symbols and show drawings."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest
import site_case
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import PluginError
from site_case import Site

from xref.mkdocs import XrefPlugin

NOTES = """# Notes

The pass [[xref:tvm::FuseTIR]], its wrapper [[xref:relax.transform.FuseTIR|as users call it]], [[xref:py:FuseTIR]].

[[xref-graph:tvm::FuseTIR]]

Not in code: `[[xref:tvm::FuseTIR]]`

```text
[[xref:tvm::FuseTIR]]
```
"""


def make(folder: Path, site: Site, notes: str, url: str = "") -> str:
    """Build notes; the page's HTML."""
    (folder / "docs" / "deep").mkdir(parents=True)
    (folder / "docs" / "deep" / "notes.md").write_text(notes)
    (folder / "docs" / "index.md").write_text("# Start\n")
    (folder / "mkdocs.yml").write_text("site_name: notes\ntheme: mkdocs\nuse_directory_urls: false\n")
    config = load_config(str(folder / "mkdocs.yml"))
    plugin = XrefPlugin()
    errors, _ = plugin.load_config({"site": str(site.folder), "url": url}, str(folder / "mkdocs.yml"))
    assert errors == []
    config.plugins["xref"] = plugin
    build(config)
    return (folder / "site" / "deep" / "notes.html").read_text()


def test_links_and_drawings(tmp_path: Path, site: Site, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        html = make(tmp_path, site, NOTES)
    assert [record.message for record in caplog.records if record.name == "mkdocs.plugins.xref"] == []
    page = site.address(site_case.CREATOR)
    assert f'<a class="xref" href="../xref/{page}"><code>tvm::FuseTIR</code></a>' in html
    assert "<code>as users call it</code>" in html
    assert html.count("[[xref:tvm::FuseTIR]]") == 2, "what stands in code stays"
    figure = html[html.index('<figure class="xref-graph">') : html.index("</figure>")]
    links = re.findall(r'href="([^"]+)"', figure)
    assert len(links) > 4
    for link in links:
        path = (tmp_path / "site" / "deep" / link.partition("#")[0]).resolve()
        assert path.is_file(), f"{link} leads to the copy of the site"
    assert "l-cpp" in (tmp_path / "site/assets/xref-graph.css").read_text()


def test_the_site_may_be_elsewhere(tmp_path: Path, site: Site) -> None:
    html = make(tmp_path, site, NOTES, "https://example.org/tvm")
    assert f'href="https://example.org/tvm/{site.address(site_case.CREATOR)}"' in html
    assert not (tmp_path / "site" / "xref").exists()


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("[[xref:no.such.Thing]]", "xref knows no symbol no.such.Thing"),
        ("[[xref:FuseTIR]]", "FuseTIR means 2 symbols: cpp:tvm::FuseTIR, py:tvm.FuseTIR"),
        ("[[xref-graph:tvm::Pass]]", "has no drawing"),
    ],
)
def test_what_cannot_be_linked_is_a_warning(
    tmp_path: Path, site: Site, caplog: pytest.LogCaptureFixture, mark: str, words: str
) -> None:
    """A warning of a plugin makes `mkdocs build --strict` fail."""
    with caplog.at_level(logging.WARNING):
        make(tmp_path, site, mark + "\n")
    assert any(words in record.message for record in caplog.records)


def test_a_folder_without_a_site(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: notes\n")
    config = load_config(str(tmp_path / "mkdocs.yml"))
    plugin = XrefPlugin()
    plugin.load_config({"site": str(tmp_path)}, None)
    with pytest.raises(PluginError, match="xref site"):
        plugin.on_config(config)
