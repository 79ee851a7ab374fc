"""Decides which page a symbol stands on. TVM has some 80,000: a page for each would be 80,000 mostly empty files.

A symbol that people read about has its own page: classes, enums, namespaces, functions that run a key or that have
enough callers, callees or references. The rest stands, with an anchor, on the page of its class, else on the page of
its file's symbols; symbols from outside the tree share a few pages. Thresholds and what they cost: docs/site.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from xref.model import Id
from xref.site import urls
from xref.site.names import CONTAINERS, RUNNABLE, Name

OWN_EDGES = 48
"""Callers and callees that earn a function its own page."""
OWN_REFS = 100
"""References that earn anything its own page, inside the tree or outside."""


@dataclass(slots=True)
class Page:
    """A page of symbols: first the one that it is named after (None on shared pages), then small ones."""

    url: str
    main: Id | None
    members: list[Id] = field(default_factory=list)


@dataclass(slots=True)
class Packing:
    """`address` of every symbol, with its anchor; `by_file` and `outside` are the pages to write."""

    address: dict[Id, str] = field(default_factory=dict)
    code: dict[Id, str] = field(default_factory=dict)
    by_file: dict[int, list[Page]] = field(default_factory=dict)
    outside: list[Page] = field(default_factory=list)


def pack(
    names: Mapping[Id, Name],
    aliases: Mapping[Id, Id],
    outline_of: Callable[[int], str],
    always: Collection[Id],
    edges: Mapping[Id, int],
    refs: Mapping[Id, int],
) -> Packing:
    """Give each symbol its page. `outline_of` maps a file to the page of its symbols; `always` have their own page."""
    result = Packing(code=urls.codes(names))
    parents = {name.parent for name in names.values()}
    own = {
        id_
        for id_, name in names.items()
        if id_ not in aliases
        and (name.kind != "namespace" or id_ in parents)  # a namespace alias holds nothing
        and _earns(name, id_ in always, id_, edges, refs)
    }
    pages: dict[str, Page] = {}
    for id_ in sorted(own, key=lambda id_: (names[id_].file, names[id_].line, id_)):
        page = Page(urls.symbol_url(result.code[id_]), id_)
        pages[page.url] = page
        result.address[id_] = page.url
        if names[id_].file < 0:
            result.outside.append(page)
        else:
            result.by_file.setdefault(names[id_].file, []).append(page)
    rest = (id_ for id_ in names if id_ not in own and id_ not in aliases)
    for id_ in sorted(rest, key=lambda id_: (names[id_].file, names[id_].line, id_)):
        url = _shared_page(id_, names, own, result, outline_of)
        if url not in pages:
            pages[url] = Page(url, None)
            if names[id_].file < 0:
                result.outside.append(pages[url])
            else:
                result.by_file.setdefault(names[id_].file, []).append(pages[url])
        pages[url].members.append(id_)
        result.address[id_] = f"{url}#{result.code[id_]}"
    for alias, target in aliases.items():
        if alias in names and target in result.address:
            result.address[alias] = result.address[target]
    return result


def _earns(name: Name, always: bool, id_: Id, edges: Mapping[Id, int], refs: Mapping[Id, int]) -> bool:
    if name.kind == "module":
        return False  # the page of its file's symbols is the module's page
    if name.file >= 0 and (always or name.kind in (*CONTAINERS, "namespace")):
        return True
    if name.file >= 0 and name.kind in RUNNABLE and edges.get(id_, 0) >= OWN_EDGES:
        return True
    return refs.get(id_, 0) >= OWN_REFS


def _shared_page(
    id_: Id, names: Mapping[Id, Name], own: Collection[Id], result: Packing, outline_of: Callable[[int], str]
) -> str:
    name = names[id_]
    if name.file < 0:
        return urls.outside_url(result.code[id_])
    parent = name.parent
    while parent is not None and parent in names:
        around = names[parent]
        if around.file == name.file and around.kind in CONTAINERS and parent in own:
            return result.address[parent]
        parent = around.parent
    return outline_of(name.file)
