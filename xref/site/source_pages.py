"""Makes the page of a source file: linked code, callers in the margin, an outline, what the index has against it."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from xref.model import Id, Lang, Status
from xref.site import urls
from xref.site.assets import counted, render
from xref.site.codeview import (
    ROOT,
    Lines,
    Link,
    Mention,
    add_link,
    escape,
    find_links,
    find_strings,
    render_lines,
    some_rows,
    with_root,
)
from xref.site.links import Linker
from xref.site.names import CONTAINERS, LOCAL_KINDS, RUNNABLE
from xref.site.sources import SourceFile, State, Text

BLOCK_LINES = 200
"""Lines of a block that the browser lays out only when it comes into view."""
LINE_PIXELS = 20
"""Must equal --line in xref.css: blocks not yet laid out take their height from it."""
_OUTLINED = (*RUNNABLE, *CONTAINERS, "macro", "typedef")
_STATE_WORDS = {
    State.MISSING: "The file that was indexed is gone from the tree, so its source cannot be shown.",
    State.CHANGED: "The file is no longer the one that was indexed (its sha256 differs): it is shown as it stands now,"
    " without links, and line numbers of other pages may not fit it. Index the tree again.",
}
_INCLUDE = re.compile(r'#\s*(?:include|import)\s*[<"]([^>"]+)[>"]')


@dataclass(slots=True)
class Code:
    """A file's lines as HTML (empty when the file is gone), and whether references could be linked."""

    text: Text
    lines: Sequence[str]
    linked: bool


class OutlineItem(NamedTuple):
    """A definition in a file, nested `depth` deep."""

    id: Id
    name: str
    kind: str
    line: int
    end: int
    depth: int


def code_of(db: sqlite3.Connection, linker: Linker, file: SourceFile) -> Code:
    """The lines of `file`; without links unless it is the file that was indexed."""
    text = linker.sources.text(file)
    if text is None:
        return Code(Text([]), [], False)
    if file.state is not State.SAME:
        return Code(text, render_lines(text, file.lang, {}), False)
    mentions: dict[int, list[Mention]] = {}
    for mention in _mentions(db, linker, file):
        mentions.setdefault(mention.line, []).append(mention)
    added: dict[int, list[Link]] = {}
    for line, link in find_strings(text, _key_strings(db, linker, file)):
        added.setdefault(line, []).append(link)
    for line, target in db.execute("SELECT line, target_path FROM includes WHERE path = ?", (file.path,)):
        if link_ := _include_link(text, line, linker.plan.place(target, 0)):
            added.setdefault(line, []).append(link_)

    def links_of(line: int) -> list[Link]:
        links = find_links(text, file.lang, mentions.get(line, ()))
        for link in added.get(line, ()):
            add_link(links, link)
        return links

    return Code(text, Lines(text, file.lang, links_of), True)


def code_rows(code: Code, numbers: Sequence[int]) -> str:
    """Some lines of a file as an excerpt has them."""
    return some_rows(code.lines, numbers)


def _mentions(db: sqlite3.Connection, linker: Linker, file: SourceFile) -> list[Mention]:
    """The references in a file, and in Python the attribute that names a key's function."""
    rows = db.execute(
        "SELECT r.line, r.col, r.role, r.symbol_id, s.name, s.kind, s.path, s.line FROM refs r"
        " JOIN symbols s ON s.id = r.symbol_id WHERE r.path = ? ORDER BY r.line, r.col, r.role, r.symbol_id",
        (file.path,),
    )
    mentions = []
    for line, col, role, id_, name, kind, path, at in rows:
        if kind in LOCAL_KINDS:
            if path == file.path and 0 < at <= file.lines:
                mentions.append(Mention(line, col, role, name, f"#L{at}", local=True))
            continue
        address = linker.address(id_)
        if address is not None:
            mentions.append(Mention(line, col, role, name, address))
    if file.lang != Lang.CPP:
        calls = db.execute(
            "SELECT line, col, callee_id FROM calls WHERE path = ? AND evidence = 'registry' ORDER BY 1, 2, 3",
            (file.path,),
        )
        for line, col, id_ in calls:
            address = linker.address(id_)
            if address is not None:
                mentions.append(Mention(line, col, "key", linker.name(id_).name, address))
    return mentions


def _key_strings(db: sqlite3.Connection, linker: Linker, file: SourceFile) -> list[tuple[int, str, str]]:
    rows = db.execute(
        "SELECT line, registry, name FROM key_defs WHERE path = ?1"
        " UNION SELECT line, registry, name FROM key_uses WHERE path = ?1 ORDER BY 1, 2, 3",
        (file.path,),
    )
    found = ((line, name.removesuffix("*"), linker.key(registry, name)) for line, registry, name in rows)
    return [(line, name, href) for line, name, href in found if href and name]


def _include_link(text: Text, line: int, href: str | None) -> Link | None:
    row = text.rows[line - 1] if 0 < line <= len(text.rows) else ""
    match = _INCLUDE.search(row)
    return Link(match.start(1), match.end(1), href, "") if match and href else None


def outline_of(linker: Linker, position: int) -> list[OutlineItem]:
    """The definitions in a file, in order, with their nesting."""
    plan = linker.plan
    inside = plan.in_file.get(position, [])
    depth: dict[Id, int] = {}
    items = []
    for id_ in inside:
        name = plan.names[id_]
        if name.kind not in _OUTLINED or name.kind == "module" or not name.line or not name.defined:
            continue
        parent = name.parent
        while parent in plan.names and parent not in depth and plan.names[parent].file == position:
            parent = plan.names[parent].parent
        depth[id_] = depth[parent] + 1 if parent in depth else 0
        label = name.name + plan.parameters.get(id_, "")
        items.append(OutlineItem(id_, label, name.kind.replace("static_init", "init"), name.line, name.end_line,
                                 depth[id_]))  # fmt: skip
    return items


def banners(file: SourceFile) -> list[tuple[str, str]]:
    """(word, sentence) of all that keeps the page from being the whole truth about the file."""
    found = []
    if file.state is not State.SAME:
        found.append((str(file.state), _STATE_WORDS[file.state]))
    if file.status == Status.DEGRADED:
        found.append(("degraded", f"Read only in part, so calls and references may be missing: {file.detail}"))
    elif file.status == Status.FAILED:
        found.append(("failed", f"Not read, so nothing in it is linked or counted: {file.detail}"))
    return found


def _margin(linker: Linker, position: int) -> dict[int, tuple[int, Id]]:
    """Line -> (number of callers, symbol) for the most called symbol defined on it."""
    plan = linker.plan
    margin: dict[int, tuple[int, Id]] = {}
    for id_ in plan.in_file.get(position, []):
        name, count = plan.names[id_], plan.callers.get(id_, 0)
        if count and name.defined and name.line and count > margin.get(name.line, (0, 0))[0]:
            margin[name.line] = count, id_
    return margin


def _blocks(linker: Linker, code: Code, position: int) -> str:
    """The lines in blocks of `BLOCK_LINES`, each with its exact height; a line's end is its element's end."""
    margin = _margin(linker, position) if code.linked else {}
    parts = []
    for start in range(0, len(code.lines), BLOCK_LINES):
        block = code.lines[start : start + BLOCK_LINES]
        parts.append(f'<pre style="contain-intrinsic-size:auto {len(block) * LINE_PIXELS}px">')
        for number, line in enumerate(block, start + 1):
            mark = _mark(linker, *margin[number]) if number in margin else ""
            # Such blocks keep counters to themselves, so each sets its own at its first line.
            first = f' style="counter-set:l {number}"' if number == start + 1 else ""
            parts.append(f"<span id=L{number}{first}>{mark}{line}</span>")
        parts.append("</pre>")
    return "".join(parts)


def _mark(linker: Linker, count: int, id_: Id) -> str:
    address = linker.address(id_) or ""
    href = f"{address}-callers" if "#" in address else f"{address}#callers"
    words = escape_attribute(f"{counted(count, 'caller')} of {linker.name(id_).name}")
    return f'<a class=c href={ROOT}{href} aria-label="{words}">{count}</a>'


def escape_attribute(text: str) -> str:
    """`text` for a quoted attribute."""
    return escape(text).replace('"', "&quot;").replace("<mark class=ctl>", "").replace("</mark>", "")


def display_width(rows: list[str]) -> int:
    """The longest line in columns of a fixed-width font; tabs count as four, wide East Asian characters as two."""
    longest = 0
    for row in rows:
        width = len(row) + 3 * row.count("\t")
        if not row.isascii():
            width += sum(unicodedata.east_asian_width(char) in "WF" for char in row)
        longest = max(longest, width)
    return longest


def crumbs(path: str) -> list[tuple[str, str]]:
    """The folders around a file, with their pages."""
    folders = path.split("/")[:-1]
    return [(name, urls.folder_url("/".join(folders[: depth + 1]))) for depth, name in enumerate(folders)]


def source_page(db: sqlite3.Connection, linker: Linker, position: int, code: Code, site: str) -> str:
    """The HTML of a file's page."""
    file = linker.plan.files[position]
    url = urls.source_url(file.path)
    root = urls.root_of(url)
    includes = [
        linker.place(target, 0) if target else None
        for (target,) in db.execute(
            "SELECT DISTINCT target_path FROM includes WHERE path = ? AND target_path <> '' ORDER BY 1", (file.path,)
        )
    ]
    included_by = db.execute("SELECT DISTINCT path, line FROM includes WHERE target_path = ? ORDER BY 1", (file.path,))
    return render(
        "source.html.j2",
        title=file.path,
        site=site,
        root=root,
        body_class="wide",
        file=file,
        file_name=file.path.rpartition("/")[2],
        crumbs=crumbs(file.path),
        line_total=len(code.lines),
        width=display_width(code.text.rows) + 1,
        blocks=Markup(with_root(_blocks(linker, code, position), root)),  # noqa: S704 - escaped in codeview
        outline=outline_of(linker, position) if code.linked else [],
        outline_total=len(linker.plan.in_file.get(position, [])),
        outline_href=urls.outline_url(file.path),
        banners=banners(file),
        includes=[line for line in includes if line is not None],
        included_by=[linker.place(path, line) for path, line in included_by],
    )
