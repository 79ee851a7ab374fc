"""Decides which pages of a site must be made again, given what the site in place was made from.

A page shows facts of its own symbols and of their neighbours: callers, callees, relations, members; a drawing and the
other language's side reach two calls far. So pages of what stands in the changed blocks of lines, or is mentioned
there, are made again, those within that reach where the marks of what they show of it differ, and all that is about the
whole tree. What has gone, a call or a whole file, is mentioned nowhere any more: counts in the marks of what it led to
or came from differ, or something took its place, and that stands in a changed block. Of a file that was read otherwise
than before (in part, changed since) every line counts as changed. The tests hold the result to a whole build, byte for
byte.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from xref.model import Id
from xref.site import urls
from xref.site.blocks import block_of, blocks_of, calls_in, changed_blocks, meets, mentioned
from xref.site.cards import SHARDS, shard_of
from xref.site.drawable import GIVEN, HUB_CALLERS
from xref.site.drawing import ALWAYS_DRAWN
from xref.site.keys import addresses_of
from xref.site.names import is_constructor
from xref.site.plan import SitePlan
from xref.site.state import SiteState, address_changed, names_changed, shown_changed
from xref.site.texts import LEAD

_IN = "IN (SELECT value FROM json_each(?))"
_TOO_MANY = 0.4
"""Where a larger share of the pages is made again, all are: deciding would cost more than it saves."""


@dataclass(slots=True)
class Changes:
    """What to make: pages by address, `doubtful` ones where their marks differ; shards of cards."""

    pages: set[str]
    doubtful: set[str]
    shards: set[int]
    words: bool
    texts: list[int] | None
    """Positions of the files with another text; None when there are other files than before."""
    inventory: bool
    walks: bool
    blocks: dict[str, str]
    """The blocks of the files whose content or facts have changed."""

    def keeps(self, url: str, known: set[str], page_of: dict[str, str], dirty: Collection[str]) -> bool:
        """Whether the file at `url` of the site in place is good for the new one.

        `known` are the pages of the new site, `page_of` maps the code of a symbol to its page, `dirty` are the pages
        that are made again.
        """
        folder, _, rest = url.partition("/")
        if folder == "cards":
            return int(rest.removesuffix(".js")) not in self.shards
        if folder in ("words", "walks") or url == "objects.inv":
            return not {"words": self.words, "walks": self.walks, "objects.inv": self.inventory}[folder]
        if folder not in ("s", "f", "outside", "source"):
            return False
        if folder == "s" and rest.count(".") > 1:  # a further page of a list
            page = page_of.get(rest.partition(".")[0].replace("/", ""), "")
            return page in known and page not in dirty
        return url in known and url not in dirty


def find_changes(db: sqlite3.Connection, plan: SitePlan, old: SiteState, new: SiteState) -> Changes | None:
    """What differs between two states; None when everything must be made."""
    if old.common != new.common:
        return None
    unlike = {path for path, marks in new.files.items() if old.files.get(path, marks)[2] != marks[2]}
    changed_files = {path for path, marks in new.files.items() if old.files.get(path, [""])[0] != marks[0]}
    blocks = {path: blocks_of(db, plan.root, path) for path in sorted(changed_files)}
    before = {path: "" if path in unlike else old.blocks.get(path, "") for path in blocks}
    differing = {path: changed_blocks(before[path], found) for path, found in blocks.items()}
    written = {path: changed_blocks(before[path], found, text=True) for path, found in blocks.items()}
    sources = {path for path, marks in new.files.items() if old.files.get(path) != marks}
    by_code = {code: id_ for id_, code in plan.packing.code.items()}
    changed = {by_code[code] for code, mark in new.symbols.items() if shown_changed(old.symbols.get(code), mark)}
    rewired = {by_code[code] for code, mark in new.symbols.items() if old.symbols.get(code) != mark} - changed
    moved = {by_code[code] for code, mark in new.symbols.items() if address_changed(old.symbols.get(code), mark)}
    gone = old.symbols.keys() - new.symbols.keys()
    renamed = {by_code[code] for code, mark in new.symbols.items() if names_changed(old.symbols.get(code), mark)}
    inside = {id_ for path, numbers in differing.items() for id_ in _inside(plan, path, numbers)}
    edited = {id_ for path, numbers in written.items() for id_ in _inside(plan, path, numbers)}
    below = {id_ for path, found in blocks.items() for id_ in _below(plan, path, before[path], found)}
    touched = {
        id_ for path, numbers in differing.items() for id_ in mentioned(db, path, numbers, written[path])
        if id_ in plan.names
    }  # fmt: skip
    keys = _keys_changed(plan, old)
    with_keys, over_keys = _users_of_keys(db, keys), _calls_over_keys(db, keys)
    near = changed | rewired | inside | touched | with_keys | {id_ for ends in over_keys for id_ in ends}
    sources |= _files_of_keys(db, keys) & plan.files_at.keys()
    sources |= {plan.files[plan.names[id_].file].path for id_ in changed if plan.names[id_].file >= 0}
    sources |= _referring(db, moved)
    reach = _reach(plan, changed | rewired | inside | below, old.hubs) | _reach_of_edges(plan, over_keys)
    for path, numbers in written.items():
        reach |= _reach_of_edges(plan, set(calls_in(db, path, numbers)))
    dirty = near | below | _neighbours(db, plan, renamed | edited) | _showing(db, plan, moved)
    dirty |= _users_of_keys(db, _keys_of(db, moved))
    dirty |= _downs(db, near, "overrides")  # an override shows the callers of what it overrides
    dirty |= {  # what is below it at any distance
        by_code[code] for code in old.trees.keys() | new.trees.keys()
        if code in by_code and old.trees.get(code) != new.trees.get(code)
    }  # fmt: skip
    dirty |= {parent for id_ in changed if (parent := plan.names[id_].parent) is not None}
    dirty |= {  # a class lists the callers of its constructors
        parent for id_ in dirty
        if (name := plan.names.get(id_)) and is_constructor(name) and (parent := name.parent) is not None
    }  # fmt: skip
    keyed = {id_ for (id_,) in db.execute("SELECT DISTINCT symbol_id FROM key_defs WHERE symbol_id IS NOT NULL")}
    wrappers = {edge.caller for id_ in keyed for edge in plan.graph.callers(id_) if edge.evidence == "registry"}
    pages = _pages(plan, dirty)
    doubtful = _pages(plan, reach & (plan.drawn | keyed | wrappers))
    pages |= {urls.source_url(path) for path in sources}
    pages |= {urls.outline_url(path) for path in sources}
    total = sum(map(len, plan.packing.by_file.values())) + len(plan.packing.outside) + len(plan.files)
    if len(pages) > _TOO_MANY * total:
        return None
    same_files = old.files.keys() == new.files.keys()
    texts = sorted(plan.files_at[path] for path in changed_files)
    return Changes(
        pages, doubtful - pages,
        {shard_of(plan.packing.code[id_]) for id_ in changed} | {shard_of(code) for code in gone}
        if plan.packing.code else set(range(SHARDS)),
        bool(texts) or not same_files, texts if same_files else None, bool(gone or changed),
        bool(near or gone or keys or moved), blocks,
    )  # fmt: skip


def _pages(plan: SitePlan, ids: Iterable[Id]) -> set[str]:
    address = plan.packing.address
    return {address[id_].partition("#")[0] for id_ in ids if id_ in address}


def _inside(plan: SitePlan, path: str, blocks: Collection[int]) -> Iterator[Id]:
    """The symbols of a file whose lines, or those above them that belong to them, are in some of its blocks."""
    for id_ in plan.in_file.get(plan.files_at[path], ()):
        name = plan.names[id_]
        if meets(blocks, name.line - LEAD, max(name.line, name.end_line)):
            yield id_


def _below(plan: SitePlan, path: str, old: str, new: str) -> Iterator[Id]:
    """The symbols of a file that do not end before the first change of its text: a comment begun there colours them."""
    first = min(changed_blocks(old, new, text=True), default=sys.maxsize)
    for id_ in plan.in_file.get(plan.files_at[path], ()):
        name = plan.names[id_]
        if block_of(max(name.line, name.end_line)) >= first:
            yield id_


def _neighbours(db: sqlite3.Connection, plan: SitePlan, ids: set[Id]) -> set[Id]:
    """Callers, callees, enclosing symbols, both ends of relations, and what overrides any of these at any distance."""
    found = {plan.names[id_].parent or id_ for id_ in ids if id_ in plan.names}
    for id_ in ids:
        found.update(edge.caller for edge in plan.graph.callers(id_))
        found.update(edge.callee for edge in plan.graph.callees(id_))
    found.update(id_ for (id_,) in db.execute(
        "SELECT to_id FROM relations WHERE from_id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(ids)),)
    ))  # fmt: skip
    return found | _downs(db, ids)


def _downs(db: sqlite3.Connection, ids: set[Id], kind: str = "") -> set[Id]:
    """What overrides, derives from or otherwise relates to some symbols, at any distance; all kinds by default."""
    found: set[Id] = set()
    frontier = ids
    while frontier:
        downs = {id_ for (id_,) in db.execute(
            "SELECT from_id FROM relations WHERE to_id IN (SELECT value FROM json_each(?1)) AND ?2 IN ('', kind)",
            (json.dumps(sorted(frontier)), kind),
        )}  # fmt: skip
        frontier = downs - found - ids
        found |= downs
    return found


def _showing(db: sqlite3.Connection, plan: SitePlan, ids: set[Id]) -> set[Id]:
    """The symbols in whose code, or in the lines above it that their page shows too (decorators, a result's type), some
    others are mentioned: there may be a link."""
    query = f"SELECT DISTINCT in_symbol_id, path, line FROM refs WHERE symbol_id {_IN}"
    found, lines = set[Id](), dict[str, list[int]]()
    for inside, path, line in db.execute(query, (json.dumps(sorted(ids)),)):
        if inside is not None:
            found.add(inside)
        lines.setdefault(path, []).append(line)
    for path, mentions in lines.items():
        mentions.sort()
        for id_ in plan.in_file.get(plan.files_at.get(path, -1), ()):
            name = plan.names[id_]
            at = bisect_left(mentions, name.line - LEAD)
            if at < len(mentions) and mentions[at] <= max(name.line, name.end_line):
                found.add(id_)
    return found


def _keys_of(db: sqlite3.Connection, ids: set[Id]) -> set[str]:
    """The names of the keys that some symbols register, are registered as, or look up."""
    queries = (
        f"SELECT DISTINCT name FROM key_defs WHERE symbol_id {_IN}",
        f"SELECT DISTINCT name FROM key_uses WHERE in_symbol_id {_IN}",
    )
    marks = (json.dumps(sorted(ids)),)
    return {name for query in queries for (name,) in db.execute(query, marks)} if ids else set()


def _reach(plan: SitePlan, ids: set[Id], before: Mapping[str, str]) -> set[Id]:
    """All within two calls, not through functions that were hubs `before` and are: drawings do not go there either."""
    found, frontier = set(ids), set(ids)
    for _ in range(2):
        further: set[Id] = set()
        for id_ in frontier:
            hub = before.get(plan.packing.code.get(id_, ""), "")
            helper = "c" in hub and plan.callers.get(id_, 0) > HUB_CALLERS
            wide = "d" in hub and id_ in plan.dispatchers
            further.update(
                edge.caller for edge in plan.graph.callers(id_) if not helper or edge.evidence in ALWAYS_DRAWN
            )
            further.update(edge.callee for edge in plan.graph.callees(id_) if not wide or edge.evidence not in GIVEN)
        frontier = further - found
        found |= further
    return found


def _reach_of_edges(plan: SitePlan, edges: Iterable[tuple[Id, Id]]) -> set[Id]:
    """The functions whose drawings may show some edges: the ends, who calls a caller, what a callee calls."""
    found: set[Id] = set()
    graph = plan.graph
    callers, callees = {caller for caller, _ in edges}, {callee for _, callee in edges}
    for id_ in callers:
        found.update(edge.caller for edge in graph.callers(id_))
    for id_ in callees:
        found.update(edge.callee for edge in graph.callees(id_))
    return found | callers | callees


def _keys_changed(plan: SitePlan, old: SiteState) -> set[str]:
    """The names of the keys that came or went, or whose row moved to another page: a call tells the name alone."""
    before = addresses_of((registry, name) for registry, names in sorted(old.keys.items()) for name in names)
    return {name for (_, name), _ in before.items() ^ plan.key_pages.items()}


def _users_of_keys(db: sqlite3.Connection, names: Collection[str]) -> set[Id]:
    """What registers, is registered as, or looks up any of some keys."""
    queries = (
        f"SELECT DISTINCT symbol_id FROM key_defs WHERE name {_IN}",
        f"SELECT DISTINCT in_symbol_id FROM key_uses WHERE name {_IN}",
    )
    marks = (json.dumps(sorted(names)),)
    return {id_ for query in queries for (id_,) in db.execute(query, marks) if id_ is not None} if names else set()


def _files_of_keys(db: sqlite3.Connection, names: Collection[str]) -> set[str]:
    """The files in whose text any of some keys may be a link."""
    queries = (f"SELECT DISTINCT path FROM {view} WHERE name {_IN}" for view in ("key_defs", "key_uses"))
    marks = (json.dumps(sorted(names)),)
    return {path for query in queries for (path,) in db.execute(query, marks)} if names else set()


def _calls_over_keys(db: sqlite3.Connection, names: Collection[str]) -> set[tuple[Id, Id]]:
    """Caller and callee of the calls through any of some keys."""
    query = f"SELECT DISTINCT caller_id, callee_id FROM calls WHERE via {_IN}"
    return set(db.execute(query, (json.dumps(sorted(names)),))) if names else set()


def _referring(db: sqlite3.Connection, ids: set[Id]) -> set[str]:
    """The files that mention any of some symbols, in code or by a key."""
    marks = json.dumps(sorted(ids))
    return {
        path
        for query in (
            f"SELECT DISTINCT path FROM refs WHERE symbol_id {_IN}",
            f"SELECT DISTINCT path FROM calls WHERE callee_id {_IN}",
        )
        for (path,) in db.execute(query, (marks,))
    }
