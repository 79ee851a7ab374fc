"""Decides which pages of a site must be made again, given what the site in place was made from.

A page shows facts of its own symbols and of their neighbours: callers, callees, relations, members; a drawing and the
other language's side reach two calls far. So pages near a change are made again, those within that reach where the
marks of what they show of it differ, and all that is about the whole tree. The tests hold the result to a whole build,
byte for byte.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from xref.model import Id
from xref.site import urls
from xref.site.cards import SHARDS, shard_of
from xref.site.drawable import HUB_CALLERS
from xref.site.names import is_constructor
from xref.site.plan import SitePlan
from xref.site.state import SiteState, address_changed, names_changed
from xref.site.walks import walked

_TOO_MANY = 0.4
"""Where a larger share of the pages is made again, all are: deciding would cost more than it saves."""


@dataclass(slots=True)
class Changes:
    """What to make: pages by address, `doubtful` ones where their marks differ; shards of cards."""

    pages: set[str]
    doubtful: set[str]
    shards: set[int]
    words: bool
    inventory: bool
    walks: bool

    def keeps(self, url: str, known: set[str], page_of: dict[str, str]) -> bool:
        """Whether the file at `url` of the site in place is good for the new one.

        `known` are the pages of the new site, `page_of` maps the code of a symbol to its page.
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
            return page in known and page not in self.pages
        return url in known and url not in self.pages


def find_changes(db: sqlite3.Connection, plan: SitePlan, old: SiteState, new: SiteState) -> Changes | None:
    """What differs between two states; None when everything must be made."""
    if old.common != new.common or not old.files.keys() <= new.files.keys():
        return None
    changed_files = {path for path, marks in new.files.items() if old.files.get(path, [""])[0] != marks[0]}
    sources = {path for path, marks in new.files.items() if old.files.get(path) != marks}
    by_code = {code: id_ for id_, code in plan.packing.code.items()}
    changed = {by_code[code] for code, mark in new.symbols.items() if old.symbols.get(code) != mark}
    moved = {by_code[code] for code, mark in new.symbols.items() if address_changed(old.symbols.get(code), mark)}
    gone = old.symbols.keys() - new.symbols.keys()
    renamed = {by_code[code] for code, mark in new.symbols.items() if names_changed(old.symbols.get(code), mark)}
    inside = {id_ for path in changed_files for id_ in plan.in_file.get(plan.files_at[path], ())}
    near = changed | inside | _touched(db, plan, changed_files)
    sources |= {plan.files[plan.names[id_].file].path for id_ in changed if plan.names[id_].file >= 0}
    sources |= _referring(db, moved)
    reach = _reach(plan, changed | inside)
    dirty = near | _neighbours(db, plan, renamed | inside)
    dirty |= {parent for id_ in changed if (parent := plan.names[id_].parent) in plan.names and parent is not None}
    keyed = {id_ for (id_,) in db.execute("SELECT DISTINCT symbol_id FROM key_defs WHERE symbol_id IS NOT NULL")}
    wrappers = {edge.caller for id_ in keyed for edge in plan.graph.callers(id_) if edge.evidence == "registry"}
    pages = _pages(plan, dirty)
    doubtful = _pages(plan, reach & (plan.drawn | keyed | wrappers))
    pages |= {urls.source_url(path) for path in sources}
    pages |= {urls.outline_url(path) for path in sources}
    total = sum(map(len, plan.packing.by_file.values())) + len(plan.packing.outside) + len(plan.files)
    if len(pages) > _TOO_MANY * total:
        return None
    texts = {path for path in changed_files if path in plan.files_at}
    return Changes(
        pages, doubtful - pages,
        {shard_of(plan.packing.code[id_]) for id_ in changed} | {shard_of(code) for code in gone}
        if plan.packing.code else set(range(SHARDS)),
        bool(texts), bool(moved or gone or changed), bool(set(walked(plan.walks)) & (reach | near) or moved),
    )  # fmt: skip


def _pages(plan: SitePlan, ids: Iterable[Id]) -> set[str]:
    address = plan.packing.address
    return {address[id_].partition("#")[0] for id_ in ids if id_ in address}


def _touched(db: sqlite3.Connection, plan: SitePlan, paths: Iterable[str]) -> set[Id]:
    """The symbols of some files, and all that those files mention, call, register or look up."""
    found: set[Id] = set()
    for path in paths:
        found.update(plan.in_file.get(plan.files_at[path], ()))
        for query in (
            "SELECT DISTINCT symbol_id FROM refs WHERE path = ?",
            "SELECT DISTINCT callee_id FROM calls WHERE path = ?",
            "SELECT DISTINCT caller_id FROM calls WHERE path = ?",
            "SELECT DISTINCT symbol_id FROM key_defs WHERE path = ?",
            "SELECT DISTINCT d.symbol_id FROM key_uses u JOIN key_defs d USING (registry, name) WHERE u.path = ?",
        ):
            found.update(id_ for (id_,) in db.execute(query, (path,)) if id_ in plan.names)
    return found


def _neighbours(db: sqlite3.Connection, plan: SitePlan, ids: set[Id]) -> set[Id]:
    """Callers, callees, enclosing symbols, both ends of relations, and what overrides any of these at any distance."""
    found = {plan.names[id_].parent or id_ for id_ in ids if id_ in plan.names}
    for id_ in ids:
        found.update(edge.caller for edge in plan.graph.callers(id_))
        found.update(edge.callee for edge in plan.graph.callees(id_))
    marks = json.dumps(sorted(ids))
    found.update(id_ for (id_,) in db.execute(
        "SELECT to_id FROM relations WHERE from_id IN (SELECT value FROM json_each(?))", (marks,)
    ))  # fmt: skip
    frontier = ids
    while frontier:
        downs = {id_ for (id_,) in db.execute(
            "SELECT from_id FROM relations WHERE to_id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(frontier)),),
        )}  # fmt: skip
        frontier = downs - found - ids
        found |= downs
    for id_ in found | ids:  # a class lists the callers of its constructors
        name = plan.names.get(id_)
        if name is not None and name.parent is not None and is_constructor(name):
            found.add(name.parent)
    return {id_ for id_ in found if id_ in plan.names}


def _reach(plan: SitePlan, ids: set[Id]) -> set[Id]:
    """All within two calls, not through helpers that hundreds call: drawings do not go there either."""
    found, frontier = set(ids), set(ids)
    for _ in range(2):
        further: set[Id] = set()
        for id_ in frontier:
            if plan.callers.get(id_, 0) <= HUB_CALLERS:
                further.update(edge.caller for edge in plan.graph.callers(id_))
            further.update(edge.callee for edge in plan.graph.callees(id_))
        frontier = further - found
        found |= further
    return found


def _referring(db: sqlite3.Connection, ids: set[Id]) -> set[str]:
    """The files that mention any of some symbols, in code or by a key."""
    marks = json.dumps(sorted(ids))
    inside = "IN (SELECT value FROM json_each(?))"
    return {
        path
        for query in (
            f"SELECT DISTINCT path FROM refs WHERE symbol_id {inside}",
            f"SELECT DISTINCT path FROM calls WHERE callee_id {inside}",
        )
        for (path,) in db.execute(query, (marks,))
    }
