"""The part of building a site that runs in worker processes: one task makes all pages of one source file."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from xref.garbage import collect_seldom, paused_collection
from xref.site import urls
from xref.site.assets import digest, environment
from xref.site.blocks import blocks_of
from xref.site.callgraph import CallGraph, load_graph
from xref.site.cards import card_files
from xref.site.graph_data import graph_files
from xref.site.inventory import FILE, entries_of, inventory
from xref.site.links import Linker
from xref.site.outputs import Output
from xref.site.plan import SitePlan
from xref.site.search import search_files
from xref.site.source_pages import code_of, source_page
from xref.site.sources import SourceFile
from xref.site.state import Rows, read_rows
from xref.site.symbol_pages import SymbolPages
from xref.site.walk_pages import walk_pages
from xref.site.whole_pages import PARTS
from xref.site.words import changed_word_files, word_files
from xref.store import open_index


class Made(NamedTuple):
    """What a task wrote: pages, drawings, bytes.

    `far` are `SymbolPages.marks` of it, `kept` the doubtful pages that need not be made, `blocks` those of the file,
    `marks` the marks of outputs that have one, `same` those of them that the site in place has already.
    """

    pages: int
    drawings: int
    size: int
    far: Mapping[str, str] = {}
    kept: frozenset[str] = frozenset()
    blocks: Mapping[str, str] = {}
    marks: Mapping[str, str] = {}
    same: frozenset[str] = frozenset()


class Wanted(NamedTuple):
    """Which pages of a file to make: `sure`, and of `doubtful` those that differ from the marks in `before`."""

    sure: frozenset[str]
    doubtful: frozenset[str]
    before: dict[str, str]


_CHARSET = "<meta charset=utf-8>\n"


class Job(NamedTuple):
    """What all tasks share: the folder to write into, the layout command, where the site will be published, the plan,
    and the marks of what the site in place has."""

    out: Path
    dot: Sequence[str] | None
    base_url: str
    plan: SitePlan
    marks: Mapping[str, str]


class _Worker:
    """State of this process: the job, and what is read when the first task needs it."""

    job: Job

    @cached_property
    def linker(self) -> Linker:
        return Linker(self.job.plan)

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
        return SymbolPages(self.db, self.linker, self.job.dot, self.site)


_worker = _Worker()


def idle() -> None:
    """Nothing: a process that only reads has no state."""


def initialize(job: Job) -> None:
    """Prepare this process for the tasks of a job."""
    global _worker  # noqa: PLW0603 - one for each process
    _worker = _Worker()
    _worker.job = job
    environment().globals["has_walks"] = bool(job.plan.walks)
    collect_seldom()  # the plan lives as long as this process: nothing of it is garbage


def read_graph(db: Path, files: Mapping[str, int]) -> CallGraph:
    """The call graph, for a plan that is being made; `files` are positions by path."""
    with closing(open_index(db)) as connection, paused_collection():
        return load_graph(connection, dict(files))


def read_sums(db: Path, files: Sequence[SourceFile]) -> Rows:
    """What the state of a site needs of the index's rows."""
    with closing(open_index(db)) as connection, paused_collection():
        return read_rows(connection, files)


def make_file(position: int, wanted: Wanted | None = None) -> Made:
    """Write the page of the file at `position` and the pages of its symbols; only those `wanted` when it is given."""
    linker, symbols = _worker.linker, _worker.symbols
    only, kept = None, frozenset[str]()
    if wanted is not None:
        pages = [page for page in linker.plan.packing.by_file.get(position, ()) if page.url in wanted.doubtful]
        kept = frozenset(page.url for page in pages if symbols.same(page, wanted.before))
        only = wanted.sure | (wanted.doubtful - kept)
        if not only:
            return Made(0, 0, 0, kept=kept)
    file = linker.plan.files[position]
    code = code_of(_worker.db, linker, file)
    url = urls.source_url(file.path)
    before = symbols.drawn
    symbols.marks = {}
    outputs = symbols.of_file(position, code, only)
    if not only or url in only:
        outputs = chain([Output(url, source_page(_worker.db, linker, position, code, _worker.site))], outputs)
    made = _made(outputs)
    blocks = {} if only else {file.path: blocks_of(_worker.db, linker.plan.root, file.path)}
    return made._replace(drawings=symbols.drawn - before, far=symbols.marks, kept=kept, blocks=blocks)


def make_outside(numbers: Sequence[int]) -> Made:
    """Write some of the pages of symbols from outside the tree."""
    outside = _worker.linker.plan.packing.outside
    return _made(_worker.symbols.outside([outside[number] for number in numbers]))


def make_cards(shards: Sequence[int]) -> Made:
    """Write the data of some hover cards."""
    return _made(card_files(_worker.db, _worker.linker, shards))


def make_walks() -> Made:
    """Write the walks."""
    return _made(walk_pages(_worker.db, _worker.linker, _worker.job.dot, _worker.site))


def make_words(old: Path | None = None, positions: Sequence[int] = ()) -> Made:
    """Write the data of the full-text search; of the site at `old` only the files at `positions` have another text."""
    if old is not None:
        with suppress(OSError, ValueError, KeyError):
            outputs, same = changed_word_files(_worker.linker, old, positions)
            return _made(outputs)._replace(same=frozenset(same))
    return _made(word_files(_worker.linker))


def make_graph() -> Made:
    """Write the call graph as data."""
    return _made(graph_files(_worker.linker.plan))


def make_search() -> Made:
    """Write what the search box needs."""
    return _made(search_files(_worker.linker.plan))


def make_whole(part: str) -> Made:
    """Write one part of the pages about the whole tree, see `whole_pages.PARTS`."""
    return _made(PARTS[part](_worker.db, _worker.linker))


def make_inventory() -> Made:
    """Write objects.inv."""
    plan = _worker.linker.plan
    entries = entries_of(plan)
    mark = digest((plan.meta.get("project"), plan.meta.get("tvm_version"), entries))
    if _worker.job.marks.get(FILE) == mark:
        return Made(0, 0, 0, marks={FILE: mark}, same=frozenset((FILE,)))
    data = inventory(plan, entries)
    (_worker.job.out / FILE).write_bytes(data)
    return Made(0, 0, len(data), marks={FILE: mark})


def take_over(old: Path, addresses: Sequence[str]) -> Made:
    """Bring files of the site at `old` into the new one as they are."""
    link(old, _worker.job.out, addresses)
    return Made(0, 0, 0)


def link(old: Path, out: Path, addresses: Iterable[str]) -> None:
    """Bring files of one folder into another: hard links, copies where the disk has none."""
    there: set[str] = set()
    for url in addresses:
        source, target = os.path.join(old, url), os.path.join(out, url)
        folder = os.path.dirname(target)
        if folder not in there:
            if not out.is_dir():
                raise FileNotFoundError(target)  # the build was given up: nothing may come back
            os.makedirs(folder, exist_ok=True)
            there.add(folder)
        try:
            os.link(source, target)
        except OSError:
            shutil.copyfile(source, target)


def _made(outputs: Iterable[Output]) -> Made:
    """Write outputs, those aside that the site in place has with the same mark."""
    marks: dict[str, str] = {}
    same: set[str] = set()

    def differing() -> Iterator[Output]:
        for output in outputs:
            if output.mark:
                marks[output.url] = output.mark
                if _worker.job.marks.get(output.url) == output.mark:
                    same.add(output.url)
                    continue
            yield output

    pages, size = write(_worker.job.out, differing(), _worker.job.base_url)
    return Made(pages, 0, size, marks=marks, same=frozenset(same))


def write(out: Path, outputs: Iterable[Output], base_url: str = "") -> tuple[int, int]:
    """Write files below `out`; how many pages, and how many bytes in all. Pages name their address below `base_url`."""
    pages = size = 0
    for output in outputs:
        url, text = output.url, output.content()
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
        pages += url.endswith(".html")
        size += len(data)
    return pages, size
