"""The other language's side of a function: the Python that reaches it through a key, or the C++ that it runs."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from xref.model import Evidence, Id
from xref.site.codeview import render_lines, some_rows
from xref.site.excerpts import shown_lines
from xref.site.links import Line, Linker, SymbolLink
from xref.site.sources import Text
from xref.site.texts import lead

_WRAPPER_CALLERS = 40
_BEGINNING = 8
"""Lines that are shown of the other side."""
_MOST_WRAPPERS = 4
"""A key that more functions than this call is an interface, not the other side of one wrapper."""


class Crossing(NamedTuple):
    """The other language's side of a key: `symbol`, reached through `key`, and (for a wrapper) who calls it."""

    key: str
    key_href: str | None
    symbol: SymbolLink
    callers: list[tuple[SymbolLink, Line]]
    more: int
    code: Markup
    """The first lines of its definition, and the number of the first."""
    first: int


def counterparts(linker: Linker, id_: Id) -> list[Crossing]:
    """The other side of the keys that lead to or from a function: its Python wrapper, or the C++ it runs."""
    graph, own = linker.plan.graph, linker.name(id_).lang
    result = []
    by_key: dict[str, list[Id]] = {}
    for edge in graph.callers(id_):
        if edge.evidence == Evidence.REGISTRY and linker.name(edge.caller).lang != own:
            by_key.setdefault(edge.via, []).append(edge.caller)
    for key, wrappers in sorted(by_key.items()):
        for wrapper in wrappers[:_MOST_WRAPPERS] if len(wrappers) <= _MOST_WRAPPERS else ():
            if linker.name(wrapper).kind == "module":
                continue
            callers = (
                [edge for edge in graph.callers(wrapper) if edge.evidence != Evidence.NAME] if own == "cpp" else []
            )
            shown = [
                (linker.symbol(edge.caller), _edge_line(linker, edge.file, edge.line))
                for edge in callers[:_WRAPPER_CALLERS]
            ]
            shown.sort(key=lambda item: (item[1].path, item[1].line))
            result.append(Crossing(key, linker.any_key(key), linker.symbol(wrapper), shown,
                                   len(callers) - len(shown), *_beginning(linker, wrapper)))  # fmt: skip
    for edge in graph.callees(id_):
        if edge.evidence == Evidence.REGISTRY and linker.name(edge.callee).lang != own:
            code, first = _beginning(linker, edge.callee)
            other = linker.symbol(edge.callee)
            result.append(Crossing(edge.via, linker.any_key(edge.via), other, [], 0, code, first))
    return result


def _beginning(linker: Linker, id_: Id) -> tuple[Markup, int]:
    """The first lines of a definition in another file, in colours but without links and without its docstring; the
    number of the first."""
    name = linker.name(id_)
    file = linker.plan.files[name.file] if name.file >= 0 else None
    text = linker.sources.text(file) if file and linker.sources.line(file, name.line) else None
    if file is None or text is None:
        return Markup(), 0
    start = lead(text.rows, name.line)
    shown = shown_lines(text.rows, file.lang, start, max(name.end_line, name.line), _BEGINNING)
    lines = render_lines(Text(text.rows[start - 1 : shown[-1]]), file.lang, {})
    return Markup(some_rows(lines, shown, start)), start  # noqa: S704 - escaped in codeview


def _edge_line(linker: Linker, file: int, line: int) -> Line:
    path = linker.plan.files[file].path if file >= 0 else ""
    return linker.place(path, line)
