"""Builds the whole site: the plan, then the pages of every file in worker processes, then the pages about the whole."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

from xref.model import XrefError
from xref.site import layout, urls, worker
from xref.site.assets import ASSETS, templates_folder
from xref.site.cards import SHARDS
from xref.site.changes import Changes, find_changes
from xref.site.plan import SitePlan, make_plan
from xref.site.publish import DISK_FULL, building
from xref.site.state import SiteState, load_state, state_of
from xref.site.whole_pages import PARTS
from xref.store import open_index
from xref.workers import Task, Workers

Progress = Callable[[int, int, str], None]
_POLL_SECONDS = 0.5
_OUTSIDE_PER_TASK = 12
_CARDS_PER_TASK = 24


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
    dot = layout.find_dot()
    if dot is None:
        summary.note = "no drawings: no layout program; `pip install graphviz-pure`, or install Graphviz"
    with building(out) as folder, tempfile.TemporaryDirectory(prefix="xref-site.") as scratch, paused_collection():
        saved = Path(scratch) / "plan"
        with Workers(jobs, worker.initialize, (str(saved), str(folder), dot, options.base_url)) as pool:
            pool.submit(Task("start", worker.start, (), ()) for _ in range(jobs))
            progress(0, 0, "reading the index")
            plan = make_plan(db, options.only)
            summary.stale = sum(file.state != "same" for file in plan.files)
            plan.save(saved)
            pool.submit(_always())
            with closing(open_index(db)) as connection:
                state = state_of(connection, plan, repr((options._replace(full=False), dot is None)))
                before = None if options.full else load_state(Path(os.path.realpath(out)))
                changes = find_changes(connection, plan, before, state) if before else None
            pool.submit(_tasks(plan, changes, before))
            kept, state.far = _wait(pool, summary, progress)
        if changes is not None and before is not None:
            changes.pages |= changes.doubtful - kept
            summary.kept = _take_over(plan, changes, Path(os.path.realpath(out)), folder)
            page_of = _page_of(plan)
            state.far |= {
                code: mark
                for code, mark in before.far.items()
                if code in page_of and page_of[code] not in changes.pages
            }
        (folder / "assets").mkdir(exist_ok=True)
        for name in ASSETS:
            shutil.copyfile(templates_folder() / name, folder / "assets" / name)
        if options.base_url:
            (folder / "sitemap.xml").write_text(sitemap(folder, options.base_url), encoding="utf-8")
        state.save(folder)
    summary.seconds = time.monotonic() - began
    return summary


@contextmanager
def paused_collection() -> Iterator[None]:
    """No search for garbage while millions of rows are read that all stay: it would be a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _take_over(plan: SitePlan, changes: Changes, old: Path, folder: Path) -> int:
    """Bring unchanged files of the site in place into the new one; how many pages. A link where the disk allows it."""
    pages = [page for found in plan.packing.by_file.values() for page in found] + plan.packing.outside
    known = {page.url for page in pages}
    known |= {address(file.path) for file in plan.files for address in (urls.source_url, urls.outline_url)}
    page_of = _page_of(plan)
    kept = 0
    for base, _, names in os.walk(old):
        for name in names:
            path = os.path.join(base, name)
            url = os.path.relpath(path, old).replace(os.sep, "/")
            target = folder / url
            if not changes.keeps(url, known, page_of) or target.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, target)
            except OSError:
                shutil.copyfile(path, target)
            kept += name.endswith(".html")
    return kept


def _page_of(plan: SitePlan) -> dict[str, str]:
    """The page of each symbol, by its code."""
    return {plan.packing.code[id_]: where.partition("#")[0] for id_, where in plan.packing.address.items()}


def _always() -> list[Task]:
    """What every build makes: it is about the whole tree."""
    tasks = [Task("call graph", worker.make_graph, (), ()), Task("search", worker.make_search, (), ())]
    return tasks + [Task(part, worker.make_whole, (part,), ()) for part in PARTS]


def _tasks(plan: SitePlan, changes: Changes | None, before: SiteState | None) -> list[Task]:
    """What to make of what need not be made: the largest files first, so that the last tasks to end are small."""
    tasks = []
    if changes is None or changes.walks:
        tasks.append(Task("walks", worker.make_walks, (), ()))
    if changes is None or changes.words:
        tasks.append(Task("words", worker.make_words, (), ()))
    if changes is None or changes.inventory:
        tasks.append(Task("objects.inv", worker.make_inventory, (), ()))
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
    outside = [
        number for number, page in enumerate(plan.packing.outside) if changes is None or page.url in changes.pages
    ]
    shards = list(range(SHARDS)) if changes is None else sorted(changes.shards)
    tasks += [Task("outside the tree", worker.make_outside, (part,), ()) for part in _parts(outside, _OUTSIDE_PER_TASK)]
    tasks += [Task("cards", worker.make_cards, (part,), ()) for part in _parts(shards, _CARDS_PER_TASK)]
    return tasks


def _parts(numbers: list[int], size: int) -> list[list[int]]:
    return [numbers[at : at + size] for at in range(0, len(numbers), size)]


def _wait(pool: Workers, summary: SiteSummary, progress: Progress) -> tuple[set[str], dict[str, str]]:
    """Until all tasks are done; the doubtful pages that need not be made, and the marks of those made."""
    kept: set[str] = set()
    marks: dict[str, str] = {}
    while pool.busy:
        for task, made, failure in pool.finished(_POLL_SECONDS):
            if failure and failure.errno in DISK_FULL:
                raise OSError(failure.errno, failure.words)
            if failure:
                raise XrefError(f"the pages of {task.label} could not be made ({failure.words}); please report this", 1)
            if made is not None:
                summary.pages += made.pages
                summary.drawings += made.drawings
                summary.size += made.size
                kept |= made.kept
                marks |= made.marks
            progress(pool.done, pool.total, task.label)
    return kept, marks


def sitemap(folder: Path, base_url: str) -> str:
    """sitemap.xml of a site that is published at `base_url`."""
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    rows = "".join(f"<url><loc>{escape(base_url)}{page}</loc></url>\n" for page in pages)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{rows}</urlset>\n"
