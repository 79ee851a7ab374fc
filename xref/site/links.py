"""The one place that names a symbol or a place on a page and says where it leads."""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

from xref.model import Id
from xref.site import urls
from xref.site.names import Name
from xref.site.plan import SitePlan
from xref.site.sources import Sources

TEXT_LIMIT = 140
"""Characters of a source line that a list shows."""
_PLACE = re.compile(r"([^\s:()]+\.\w+):(\d+)\b")
NOWHERE = Name("", "unknown", "(outside the index)", "(outside the index)", -1, 0, 0, None, False)


class SymbolLink(NamedTuple):
    """A symbol as a list shows it: `label` is its public path where it has one. `href` is None when it has no page."""

    label: str
    href: str | None
    kind: str
    lang: str
    where: str
    where_href: str | None


class Line(NamedTuple):
    """A line of source: its address, and the text around what the list is about (`hit`, "" when not found)."""

    path: str
    line: int
    href: str | None
    before: str = ""
    hit: str = ""
    after: str = ""

    @property
    def exact(self) -> bool:
        """Whether it is sure to be this line: the file has a page and is as it was indexed."""
        return self.href is not None and self.href.endswith(f"#L{self.line}")

    @property
    def plain(self) -> bool:
        """Whether a page's script can make the address of path:line alone."""
        return self.href == f"source/{self.path}.html#L{self.line}"


class Linker:
    """Names and addresses for one process; addresses are relative to the site's folder."""

    def __init__(self, plan: SitePlan) -> None:
        self.plan = plan
        self.sources = Sources(plan.root)

    def name(self, id_: Id | None) -> Name:
        """What is known of a symbol; a stand-in for one that the index does not have."""
        return NOWHERE if id_ is None else self.plan.names.get(id_, NOWHERE)

    def address(self, id_: Id | None) -> str | None:
        """The page of a symbol."""
        return None if id_ is None else self.plan.packing.address.get(id_)

    def label(self, id_: Id | None) -> str:
        """The name to show: in Python the path by which users import it, when a package around it re-exports it."""
        return self._labels.get(id_ or 0) or self.name(id_).qualname

    @cached_property
    def _labels(self) -> dict[Id, str]:
        labels = {}
        for target, paths in self.plan.public.items():
            qualname = self.name(target).qualname
            for path in paths:
                owner = path.rpartition(".")[0]
                if owner and qualname.startswith(owner + ".") and len(path) < len(qualname):
                    labels[target] = path
                    break
        return labels

    def symbol(self, id_: Id | None) -> SymbolLink:
        """A symbol for a list, with the place of its definition."""
        name = self.name(id_)
        where, href = "", None
        if name.file >= 0:
            path = self.plan.files[name.file].path
            where = f"{path}:{name.line}" if name.line else path
            href = self.plan.place_at(name.file, name.line)
        label = self.label(id_) + (self.plan.parameters.get(id_, "") if id_ is not None else "")
        return SymbolLink(label, self.address(id_), name.kind, name.lang, where, href)

    def place(self, path: str | None, line: int) -> Line:
        """path:line without its text."""
        return Line(path or "", line, self.plan.place(path, line))

    def line(self, path: str, line: int, col: int, name: str) -> Line:
        """path:line with its text, the name at `col` marked."""
        position = self.plan.files_at.get(path, -1)
        if position < 0:
            return Line(path, line, None)
        file = self.plan.files[position]
        href = self.plan.place_at(position, line)
        row = self.sources.line(file, line)
        if not row:
            return Line(path, line, href)
        text = self.sources.text(file)
        start = text.offset(line, col, in_bytes=file.lang == "cpp") if text else -1
        before, hit, after = _cut(row, start, name)
        return Line(path, line, href, before, hit, after)

    def sentence(self, text: str | None) -> list[tuple[str, str | None]]:
        """A sentence in pieces; those that are a path:line of the tree have an address."""
        pieces: list[tuple[str, str | None]] = []
        end = 0
        for match in _PLACE.finditer(text or ""):
            href = self.plan.place(match[1], int(match[2]))
            if href:
                pieces += [((text or "")[end : match.start()], None), (match[0], href)]
                end = match.end()
        return [*pieces, (text[end:], None)] if text else []

    def key(self, registry: str, name: str) -> str | None:
        """The address of a key."""
        return self.plan.key_pages.get((registry, name))

    def any_key(self, name: str) -> str | None:
        """The address of a key whose registry is not told with it, as in `calls.via`; the FFI's first."""
        return self.key("ffi", name) or self._keys_by_name.get(name)

    @cached_property
    def _keys_by_name(self) -> dict[str, str]:
        return {name: address for (_, name), address in sorted(self.plan.key_pages.items(), reverse=True)}

    def folder(self, path: str) -> str:
        """The address of a folder's page."""
        return urls.folder_url(path)


def _cut(row: str, start: int, name: str) -> tuple[str, str, str]:
    """A line without its indentation, cut around what it is shown for."""
    if start < 0 or not row.startswith(name, start):
        stripped = row.strip()
        return "", "", stripped if len(stripped) <= TEXT_LIMIT else stripped[: TEXT_LIMIT - 1] + "…"
    before, after = row[:start].lstrip(), row[start + len(name) :].rstrip()
    if len(before) > TEXT_LIMIT // 2:
        before = "…" + before[-TEXT_LIMIT // 2 :]
    room = max(20, TEXT_LIMIT - len(before) - len(name))
    return before, name, after if len(after) <= room else after[: room - 1] + "…"
