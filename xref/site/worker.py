"""The part of building a site that runs in worker processes: one task makes all pages of one source file."""

from __future__ import annotations

import gc
import os
import sqlite3
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from xref.site import urls
from xref.site.assets import environment
from xref.site.cards import card_files
from xref.site.graph_data import graph_files
from xref.site.inventory import FILE, inventory
from xref.site.links import Linker
from xref.site.outputs import Output
from xref.site.plan import load_plan
from xref.site.search import search_files
from xref.site.source_pages import code_of, source_page
from xref.site.symbol_pages import SymbolPages
from xref.site.walk_pages import walk_pages
from xref.site.whole_pages import PARTS
from xref.site.words import word_files
from xref.store import open_index


class Made(NamedTuple):
    """What a task wrote; `marks` are `SymbolPages.marks` of it, `kept` the doubtful pages that need not be made."""

    pages: int
    drawings: int
    size: int
    marks: dict[str, str] = {}
    kept: frozenset[str] = frozenset()


class Wanted(NamedTuple):
    """Which pages of a file to make: `sure`, and of `doubtful` those that differ from the marks in `before`."""

    sure: frozenset[str]
    doubtful: frozenset[str]
    before: dict[str, str]


_CHARSET = "<meta charset=utf-8>\n"


class _Worker:
    """State of this process: what `initialize` says, and what is read when the first task needs it."""

    plan_path: Path
    out: Path
    dot: Sequence[str] | None
    base_url: str = ""

    @cached_property
    def linker(self) -> Linker:
        plan = load_plan(self.plan_path)
        environment().globals["has_walks"] = bool(plan.walks)
        gc.freeze()  # the plan lives as long as this process: nothing of it is garbage
        return Linker(plan)

    @cached_property
    def db(self) -> sqlite3.Connection:
        db = open_index(self.linker.plan.db)
        db.execute("PRAGMA mmap_size = 1073741824")
        return db

    @cached_property
    def site(self) -> str:
        return self.linker.plan.title()

    @cached_property
    def symbols(self) -> SymbolPages:
        return SymbolPages(self.db, self.linker, self.dot, self.site)


_worker = _Worker()


def initialize(plan_path: str, out: str, dot: Sequence[str] | None, base_url: str = "") -> None:
    """Prepare this process. The plan need not be there yet: it is read by the first task that makes something."""
    global _worker  # noqa: PLW0603 - one for each process
    _worker = _Worker()
    _worker.plan_path = Path(plan_path)
    _worker.dot = dot
    _worker.out = Path(out)
    _worker.base_url = base_url


def start() -> None:
    """Nothing: a process that was given this is running, and has imported what the others need."""


def make_file(position: int, wanted: Wanted | None = None) -> Made:
    """Write the page of the file at `position` and the pages of its symbols; only those `wanted` when it is given."""
    linker, symbols = _worker.linker, _worker.symbols
    only, kept = None, frozenset[str]()
    if wanted is not None:
        pages = [page for page in linker.plan.packing.by_file.get(position, ()) if page.url in wanted.doubtful]
        kept = frozenset(page.url for page in pages if symbols.same(page, wanted.before))
        only = wanted.sure | (wanted.doubtful - kept)
        if not only:
            return Made(0, 0, 0, {}, kept)
    file = linker.plan.files[position]
    code = code_of(_worker.db, linker, file)
    url = urls.source_url(file.path)
    before = symbols.drawn
    symbols.marks = {}
    source = (
        [Output(url, source_page(_worker.db, linker, position, code, _worker.site))] if not only or url in only else []
    )
    count, size = write(_worker.out, source)
    more, more_size = write(_worker.out, symbols.of_file(position, code, only))
    return Made(count + more, symbols.drawn - before, size + more_size, symbols.marks, kept)


def make_outside(numbers: Sequence[int]) -> Made:
    """Write some of the pages of symbols from outside the tree."""
    outside = _worker.linker.plan.packing.outside
    pages, size = write(_worker.out, _worker.symbols.outside([outside[number] for number in numbers]))
    return Made(pages, 0, size)


def make_cards(shards: Sequence[int]) -> Made:
    """Write the data of some hover cards."""
    _, size = write(_worker.out, card_files(_worker.db, _worker.linker, shards))
    return Made(0, 0, size)


def make_walks() -> Made:
    """Write the walks."""
    pages, size = write(_worker.out, walk_pages(_worker.db, _worker.linker, _worker.dot, _worker.site))
    return Made(pages, 0, size)


def make_words() -> Made:
    """Write the data of the full-text search."""
    _, size = write(_worker.out, word_files(_worker.linker))
    return Made(0, 0, size)


def make_graph() -> Made:
    """Write the call graph as data."""
    _, size = write(_worker.out, graph_files(_worker.linker.plan))
    return Made(0, 0, size)


def make_search() -> Made:
    """Write what the search box needs."""
    _, size = write(_worker.out, search_files(_worker.linker.plan))
    return Made(0, 0, size)


def make_whole(part: str) -> Made:
    """Write one part of the pages about the whole tree, see `whole_pages.PARTS`."""
    pages, size = write(_worker.out, PARTS[part](_worker.db, _worker.linker))
    return Made(pages, 0, size)


def make_inventory() -> Made:
    """Write objects.inv."""
    data = inventory(_worker.linker.plan)
    (_worker.out / FILE).write_bytes(data)
    return Made(0, 0, len(data))


def write(out: Path, outputs: Iterable[Output], base_url: str | None = None) -> tuple[int, int]:
    """Write files below `out`; how many, and how many bytes. Pages name their address below `base_url`, if any."""
    base_url = _worker.base_url if base_url is None else base_url
    count = size = 0
    for url, content in outputs:
        text = content
        if base_url and url.endswith(".html"):
            text = text.replace(_CHARSET, f"{_CHARSET}<link rel=canonical href={base_url}{url}>\n", 1)
        path = out / url
        data = text.encode("utf-8", "replace")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        except FileNotFoundError:
            if not out.is_dir():
                raise  # the build was given up: nothing may come back
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        count += 1
        size += len(data)
    return count, size
