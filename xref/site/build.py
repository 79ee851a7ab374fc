"""Builds the whole site: the plan, then the pages of every file in worker processes, then the pages about the whole."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple, TypeVar

from xref.garbage import paused_collection
from xref.model import XrefError
from xref.site import layout, urls, worker
from xref.site.assets import ASSETS, templates_folder
from xref.site.callgraph import CallGraph
from xref.site.cards import SHARDS
from xref.site.changes import Changes, find_changes
from xref.site.plan import SitePlan, examine_files, make_plan
from xref.site.publish import DISK_FULL, building, check_target, touch
from xref.site.sources import SourceFile, State
from xref.site.state import Rows, SiteState, inputs_of, load_state, maker_of, state_of
from xref.site.whole_pages import PARTS
from xref.store import open_index
from xref.workers import Failure, Task, Workers

Progress = Callable[[int, int, str], None]
T = TypeVar("T")
_POLL_SECONDS = 0.5
_OUTSIDE_PER_TASK = 4
_CARDS_PER_TASK = 24
_LINKED = 4000
"""Files of the site in place that a task takes over."""


@dataclass(slots=True)
class SiteSummary:
    """What was built: `size` in bytes; `stale` counts files that changed since; `note` says what is missing."""

    out: Path
    pages: int = 0
    drawings: int = 0
    size: int = 0
    stale: int = 0
    seconds: float = 0.0
    note: str = ""
    kept: int = 0
    """Pages taken over from the site in place."""


class SiteOptions(NamedTuple):
    """`only`: globs of files, all when empty; `base_url`: where the site will be published, ending in a slash, or "".

    `full`: take nothing over from the site in place.
    """

    only: tuple[str, ...] = ()
    base_url: str = ""
    full: bool = False


WHOLE = SiteOptions()


def build_site(db: Path, out: Path, jobs: int, progress: Progress, options: SiteOptions = WHOLE) -> SiteSummary:
    """Make the site of the index at `db` in the folder `out`; what stood there is replaced when all is made.

    Pages that the site in `out` already has in the same form are taken over. `progress(done, total, label)` is called
    as pages are made. Raises `XrefError`: exit code 3 without a usable index, 5 when the tree is gone, `out` holds
    something else or cannot be written, 1 when a page cannot be made.
    """
    began = time.monotonic()
    summary = SiteSummary(out)
    old = Path(os.path.realpath(out))
    dot = layout.find_dot()
    if dot is None:
        summary.note = "no drawings: no layout program; `pip install graphviz-pure`, or install Graphviz"
    with paused_collection(), ExitStack() as reading:
        readers = reading.enter_context(Workers(jobs, worker.idle, (), fork=True))
        maker = maker_of((options._replace(full=False), dot))
        before = _site_in_place(out, maker, options)
        files = examine_files(db, options.only)
        summary.stale = sum(file.state != State.SAME for file in files)
        reader = _Reader(readers, db, files)
        inputs = inputs_of(db, files)
        if before is not None and before.inputs == inputs:
            summary.kept = touch(out)
            summary.seconds = time.monotonic() - began
            return summary
        with building(out) as folder:
            progress(0, 0, "reading the index")
            plan = make_plan(db, options.only, files, reader.graph)
            plan.prepare()
            reading.close()
            job = worker.Job(folder, dot, options.base_url, plan, before.outputs if before else {})
            with Workers(jobs, worker.initialize, (job,), fork=True) as pool:
                pool.submit(_always())
                with closing(open_index(db)) as connection:
                    state = state_of(connection, plan, reader.rows, maker, inputs)
                    changes = find_changes(connection, plan, before, state) if before else None
                staying = _staying(plan, changes, old) if changes else []
                pool.submit(
                    Task("what stays", worker.take_over, (old, urls_), ()) for urls_ in _parts(staying, _LINKED)
                )
                pool.submit(_tasks(plan, changes, before, old))
                made = _wait(pool, summary, progress, state)
            _finish(folder, old, options, _Result(plan, changes, before, state, made), summary)
    summary.seconds = time.monotonic() - began
    return summary


class _Kept(NamedTuple):
    """What need not be made: `doubtful` pages, and outputs whose marks are the `same`."""

    doubtful: set[str]
    same: set[str]


class _Result(NamedTuple):
    """What a build has found and made."""

    plan: SitePlan
    changes: Changes | None
    before: SiteState | None
    state: SiteState
    kept: _Kept


def _finish(folder: Path, old: Path, options: SiteOptions, result: _Result, summary: SiteSummary) -> None:
    """Add to the pages in `folder` what is taken over from the site in place at `old`, and what is no page."""
    if result.before is not None:
        summary.kept = _take_over(result, result.before, old, folder)
    (folder / "assets").mkdir(exist_ok=True)
    for name in ASSETS:
        shutil.copyfile(templates_folder() / name, folder / "assets" / name)
    if options.base_url:
        (folder / "sitemap.xml").write_text(sitemap(folder, options.base_url), encoding="utf-8")
    result.state.save(folder)


class _Reader:
    """What workers read of the index while this process reads the rest. It is there once `graph` has returned."""

    rows: Rows

    def __init__(self, pool: Workers, db: Path, files: Sequence[SourceFile]) -> None:
        self._pool = pool
        positions = {file.path: position for position, file in enumerate(files)}
        pool.submit([
            Task("the call graph", worker.read_graph, (db, positions), ()),
            Task("the rows", worker.read_sums, (db, files), ()),
        ])  # fmt: skip

    def graph(self) -> CallGraph:
        """The call graph."""
        graph = None
        while self._pool.busy:
            for task, made, failure in self._pool.finished(_POLL_SECONDS):
                _raise(f"{task.label} of the index", failure)
                if isinstance(made, CallGraph):
                    graph = made
                elif isinstance(made, Rows):
                    self.rows = made
        assert graph is not None
        return graph


def _raise(what: str, failure: Failure | None) -> None:
    if failure and failure.errno in DISK_FULL:
        raise OSError(failure.errno, failure.words)
    if failure:
        raise XrefError(f"{what} could not be made ({failure.words}); please report this", 1)


def _site_in_place(out: Path, maker: str, options: SiteOptions) -> SiteState | None:
    """The state of the site in `out`, None when nothing of it can be taken over. Raises as `check_target` does."""
    check_target(out)
    before = None if options.full else load_state(Path(os.path.realpath(out)))
    return before if before is not None and before.maker == maker else None


def _staying(plan: SitePlan, changes: Changes, old: Path) -> list[str]:
    """The addresses of what is taken over from the site at `old`, whatever comes of doubtful pages."""
    known, page_of, dirty = _known(plan), _page_of(plan), changes.pages | changes.doubtful
    return [url for url in _files(old) if changes.keeps(url, known, page_of, dirty)]


def _take_over(result: _Result, before: SiteState, old: Path, folder: Path) -> int:
    """Bring the rest of what stays of the site in place into the new one, and its marks; how many pages stay in all."""
    plan, changes, state = result.plan, result.changes, result.state
    known, page_of = _known(plan), _page_of(plan)
    if changes is not None:
        changes.pages |= changes.doubtful - result.kept.doubtful
        state.far |= {
            code: mark for code, mark in before.far.items() if code in page_of and page_of[code] not in changes.pages
        }
        state.blocks |= {path: found for path, found in before.blocks.items() if path in plan.files_at} | changes.blocks
    staying = [
        url
        for url in _files(old)
        if url in result.kept.same or (changes is not None and changes.keeps(url, known, page_of, changes.pages))
    ]
    new = set(_files(folder))
    worker.link(old, folder, [url for url in staying if url not in new])
    state.outputs |= {url: before.outputs[url] for url in staying if url in before.outputs and url not in state.outputs}
    return sum(url.endswith(".html") for url in staying)


def _files(folder: Path) -> list[str]:
    """The addresses of all files of a site."""
    found = []
    for base, _, names in os.walk(folder):
        inside = os.path.relpath(base, folder).replace(os.sep, "/")
        found += names if inside == "." else [f"{inside}/{name}" for name in names]
    return found


def _known(plan: SitePlan) -> set[str]:
    """The addresses of all pages of files and symbols."""
    pages = [page for found in plan.packing.by_file.values() for page in found] + plan.packing.outside
    known = {page.url for page in pages}
    return known | {address(file.path) for file in plan.files for address in (urls.source_url, urls.outline_url)}


def _page_of(plan: SitePlan) -> dict[str, str]:
    """The page of each symbol, by its code."""
    return {plan.packing.code[id_]: where.partition("#")[0] for id_, where in plan.packing.address.items()}


def _always() -> list[Task]:
    """What every build makes: it is about the whole tree."""
    tasks = [Task("call graph", worker.make_graph, (), ()), Task("search", worker.make_search, (), ())]
    return tasks + [Task(part, worker.make_whole, (part,), ()) for part in PARTS]


def _tasks(plan: SitePlan, changes: Changes | None, before: SiteState | None, old: Path) -> list[Task]:
    """What to make of what need not be made: the largest files first, so that the last tasks to end are small.

    `old` is where the site in place stands.
    """
    tasks = []
    if changes is None or changes.walks:
        tasks.append(Task("walks", worker.make_walks, (), ()))
    if changes is None or changes.words:
        known = (old, changes.texts) if changes is not None and changes.texts is not None else ()
        tasks.append(Task("words", worker.make_words, known, ()))
    if changes is None or changes.inventory:
        tasks.append(Task("objects.inv", worker.make_inventory, (), ()))
    outside = [
        number
        for number, page in enumerate(plan.packing.outside)
        if changes is None or page.url in changes.pages | changes.doubtful
    ]
    tasks += [Task("outside the tree", worker.make_outside, (part,), ()) for part in _parts(outside, _OUTSIDE_PER_TASK)]
    for at in sorted(range(len(plan.files)), key=lambda at: (-plan.files[at].lines, at)):
        path = plan.files[at].path
        if changes is None:
            tasks.append(Task(path, worker.make_file, (at,), (path,)))
            continue
        own = {page.url: page for page in plan.packing.by_file.get(at, ())}
        sure = frozenset(changes.pages & (own.keys() | {urls.source_url(path), urls.outline_url(path)}))
        doubtful = frozenset(changes.doubtful & own.keys())
        if sure or doubtful:
            codes = [plan.packing.code[id_] for url in doubtful for id_ in (own[url].main, *own[url].members) if id_]
            marks = {code: before.far[code] for code in codes if before and code in before.far}
            tasks.append(Task(path, worker.make_file, (at, worker.Wanted(sure, doubtful, marks)), (path,)))
    shards = list(range(SHARDS)) if changes is None else sorted(changes.shards)
    tasks += [Task("cards", worker.make_cards, (part,), ()) for part in _parts(shards, _CARDS_PER_TASK)]
    return tasks


def _parts(of: list[T], size: int) -> list[list[T]]:
    return [of[at : at + size] for at in range(0, len(of), size)]


def _wait(pool: Workers, summary: SiteSummary, progress: Progress, state: SiteState) -> _Kept:
    """Until all tasks are done; what need not be made. Adds to `state` the marks of what was."""
    kept = _Kept(set(), set())
    while pool.busy:
        for task, made, failure in pool.finished(_POLL_SECONDS):
            _raise(f"the pages of {task.label}", failure)
            if made is not None:
                summary.pages += made.pages
                summary.drawings += made.drawings
                summary.size += made.size
                kept.doubtful.update(made.kept)
                kept.same.update(made.same)
                state.far |= made.far
                state.blocks |= made.blocks
                state.outputs |= made.marks
            progress(pool.done, pool.total, task.label)
    return kept


def sitemap(folder: Path, base_url: str) -> str:
    """sitemap.xml of a site that is published at `base_url`."""
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    rows = "".join(f"<url><loc>{escape(base_url)}{page}</loc></url>\n" for page in pages)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{rows}</urlset>\n"
