"""A MkDocs plugin: notes link to symbols by `[[xref:FuseTIR]]` and show their call graph by `[[xref-graph:FuseTIR]]`.

    plugins:
      - xref:
          site: ../site              # the folder that `xref site` made
          url: https://example.org/tvm/   # where readers find it; without it, the folder is copied into the notes

Names are those of objects.inv, or any longer end of one (`transform.FuseTIR`, `relax::FuseTIR`); `py:` and `cpp:` in
front choose the language. A name that is not there, or means several things, is a warning, so that `mkdocs build
--strict` fails.
"""

from __future__ import annotations

import logging
import re
import shutil
from html import escape
from pathlib import Path
from typing import NamedTuple

from mkdocs.config import base, config_options
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from sphobjinv import Inventory

log = logging.getLogger("mkdocs.plugins.xref")

_MARK = re.compile(r"\[\[xref(-graph)?:(?:(py|cpp|c):)?([^\]|\n]+)(?:\|([^\]\n]+))?\]\]")
_CODE = re.compile(
    r"(^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\2[ \t]*$|(?<!`)(`+)(?!`).+?(?<!`)\3(?!`))", re.MULTILINE | re.DOTALL
)
"""Fenced blocks and code spans, in which nothing is replaced."""
_SVG = re.compile(r"<svg class=graph role=group.*?</svg>", re.DOTALL)
_BASE = re.compile(r"<base href=([^\s>]+)>")
_HREF = re.compile(r'href="?([^"\s>#][^"\s>]*|#[^"\s>]*)"?')
_COPY = "xref"
"""Where a copied site stands among the notes."""
_STYLE = "assets/xref-graph.css"
_SHOWN = 5


class Target(NamedTuple):
    """A symbol of the inventory."""

    domain: str
    role: str
    name: str
    uri: str


class Settings(base.Config):  # type: ignore[no-untyped-call]
    """What mkdocs.yml may say."""

    site = config_options.Type(str)
    url = config_options.Type(str, default="")


class XrefPlugin(BasePlugin[Settings]):  # type: ignore[no-untyped-call]
    """See the module."""

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Read the inventory. Raises `PluginError` when there is no site."""
        self._folder = (Path(config.config_file_path or ".").parent / self.config.site).resolve()
        self._drawings = 0
        try:
            inventory = Inventory(str(self._folder / "objects.inv"))
        except (OSError, ValueError, TypeError) as error:
            raise PluginError(f"xref: {self._folder} holds no site made by `xref site` ({error})") from error
        self._by_end: dict[str, list[Target]] = {}
        for each in inventory.objects:
            uri = each.uri[:-1] + each.name if each.uri.endswith("$") else each.uri
            target = Target(each.domain, each.role, each.name, uri)
            self._by_end.setdefault(re.split(r"::|\.", each.name)[-1], []).append(target)
        config.extra_css = [*config.extra_css, _STYLE]
        return config

    def on_page_markdown(self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """Replace the marks of a page, not those in code."""
        del config, files
        parts, end = [], 0
        for code in _CODE.finditer(markdown):
            parts += [self._replaced(markdown[end : code.start()], page), code[0]]
            end = code.end()
        return "".join([*parts, self._replaced(markdown[end:], page)])

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Write the style of the drawings; put the site beside the notes where it has no address of its own."""
        style = Path(config.site_dir) / _STYLE
        style.parent.mkdir(parents=True, exist_ok=True)
        style.write_text(_drawing_style((self._folder / "assets/xref.css").read_text(encoding="utf-8")), "utf-8")
        if not self.config.url:
            shutil.copytree(self._folder, Path(config.site_dir) / _COPY, dirs_exist_ok=True)

    def _replaced(self, text: str, page: Page) -> str:
        return _MARK.sub(lambda match: self._mark(match, page), text)

    def _mark(self, match: re.Match[str], page: Page) -> str:
        graph, domain, name, words = match[1], match[2] or "", match[3].strip(), match[4]
        target = self._find(domain, name, page)
        if target is None:
            return f"`{name}`"
        if graph:
            return self._graph(target, page)
        return f'<a class="xref" href="{self._href(target.uri, page)}"><code>{escape(words or name)}</code></a>'

    def _find(self, domain: str, name: str, page: Page) -> Target | None:
        """The one symbol that a name means."""
        wanted = re.split(r"::|\.", name)
        found = [
            each for each in self._by_end.get(wanted[-1], [])
            if re.split(r"::|\.", each.name)[-len(wanted) :] == wanted and domain in ("", each.domain)
        ]  # fmt: skip
        exact = [each for each in found if each.name == name]
        pages = {each.uri for each in exact or found}
        if len(pages) == 1:
            return (exact or found)[0]
        where = page.file.src_uri
        if not found:
            log.warning("%s: xref knows no symbol %s", where, name)
        else:
            names = sorted({f"{each.domain}:{each.name}" for each in exact or found})
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            log.warning("%s: %s means %d symbols: %s%s", where, name, len(pages), ", ".join(names[:_SHOWN]), more)
        return None

    def _href(self, uri: str, page: Page) -> str:
        if self.config.url:
            return escape(self.config.url.rstrip("/") + "/" + uri)
        path, mark, anchor = uri.partition("#")
        return escape(get_relative_url(f"{_COPY}/{path}", page.url) + mark + anchor)

    def _graph(self, target: Target, page: Page) -> str:
        """The drawing of a symbol's page, its addresses and ids made good for this page."""
        path = target.uri.partition("#")[0]
        html = (self._folder / path).read_text(encoding="utf-8")
        found = None if "#" in target.uri else _SVG.search(html)
        if found is None:
            log.warning("%s: the page of %s has no drawing made at build", page.file.src_uri, target.name)
            return f'<a class="xref" href="{self._href(target.uri, page)}"><code>{escape(target.name)}</code></a>'
        self._drawings += 1
        base_of = _BASE.search(html)
        folder = Path(path).parent / (base_of[1] if base_of else "")
        svg = found[0].replace("graph-title", f"xref-graph-{self._drawings}")
        svg = _HREF.sub(lambda link: f'href="{self._href(_resolved(folder, link[1]), page)}"', svg)
        return f'<figure class="xref-graph">{svg}</figure>'


def _drawing_style(css: str) -> str:
    """The part of the site's style sheet that is about drawings, its colours kept to them."""
    colours = css[: css.index("*{box-sizing")].replace(":root{", ".xref-graph{")
    drawings = css[css.index("/* Drawings:") : css.index("/* Runs:")]
    return f"{colours}.xref-graph{{margin:1em 0;overflow-x:auto}}\n{drawings}"


def _resolved(folder: Path, link: str) -> str:
    """A link of a page below `folder`, from the site's top."""
    parts: list[str] = []
    for part in [*folder.parts, *link.split("/")]:
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
