"""The part of building a site that runs in worker processes: one task makes all pages of one source file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from xref.site import urls
from xref.site.assets import environment
from xref.site.cards import card_files
from xref.site.graph_data import graph_files
from xref.site.links import Linker
from xref.site.outputs import Output
from xref.site.plan import load_plan
from xref.site.search import search_files
from xref.site.source_pages import code_of, source_page
from xref.site.symbol_pages import SymbolPages
from xref.site.walk_pages import walk_pages
from xref.site.words import word_files
from xref.store import open_index


class Made(NamedTuple):
    """What a task wrote."""

    pages: int
    drawings: int
    size: int


class _Worker:
    """State of this process: set once by `initialize`."""

    db: sqlite3.Connection
    linker: Linker
    symbols: SymbolPages
    out: Path
    site: str
    dot: Sequence[str] | None


_worker = _Worker()


def initialize(plan_path: str, out: str, dot: Sequence[str] | None) -> None:
    """Prepare this process: read the plan, open the index."""
    plan = load_plan(Path(plan_path))
    _worker.db = open_index(plan.db)
    _worker.db.execute("PRAGMA mmap_size = 1073741824")
    _worker.linker = Linker(plan)
    _worker.site = plan.title()
    _worker.dot = dot
    environment().globals["has_walks"] = bool(plan.walks)
    _worker.symbols = SymbolPages(_worker.db, _worker.linker, dot, _worker.site)
    _worker.out = Path(out)


def make_file(position: int) -> Made:
    """Write the page of the file at `position`, and the pages of its symbols."""
    linker = _worker.linker
    file = linker.plan.files[position]
    code = code_of(_worker.db, linker, file)
    url = urls.source_url(file.path)
    before = _worker.symbols.drawn
    pages, size = write(_worker.out, [Output(url, source_page(_worker.db, linker, position, code, _worker.site))])
    more, more_size = write(_worker.out, _worker.symbols.of_file(position, code))
    return Made(pages + more, _worker.symbols.drawn - before, size + more_size)


def make_outside(first: int, last: int) -> Made:
    """Write some of the pages of symbols from outside the tree."""
    pages, size = write(_worker.out, _worker.symbols.outside(_worker.linker.plan.packing.outside[first:last]))
    return Made(pages, 0, size)


def make_cards(first: int, last: int) -> Made:
    """Write the data of some hover cards."""
    _, size = write(_worker.out, card_files(_worker.db, _worker.linker, range(first, last)))
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
    """Write the call graph as data, and what the search box needs."""
    _, size = write(_worker.out, graph_files(_worker.linker.plan))
    _, more = write(_worker.out, search_files(_worker.linker.plan))
    return Made(0, 0, size + more)


def write(out: Path, outputs: Iterable[Output]) -> tuple[int, int]:
    """Write files below `out`; how many, and how many bytes."""
    count = size = 0
    for url, text in outputs:
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
