"""Builds the whole site: the plan, then the pages of every file in worker processes, then the pages about the whole."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from xref.model import XrefError
from xref.site import layout, worker
from xref.site.assets import ASSETS, environment, templates_folder
from xref.site.cards import SHARDS
from xref.site.plan import SitePlan, make_plan
from xref.site.publish import building
from xref.site.whole_pages import whole_pages
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


def build_site(db: Path, out: Path, jobs: int, progress: Progress) -> SiteSummary:
    """Make the site of the index at `db` in the folder `out`; what stood there is replaced when all is made.

    `progress(done, total, label)` is called as pages are made. Raises `XrefError`: exit code 3 without a usable index,
    5 when the tree is gone, `out` holds something else or cannot be written, 1 when a page cannot be made.
    """
    began = time.monotonic()
    summary = SiteSummary(out)
    dot = layout.find_dot()
    if dot is None:
        summary.note = "no drawings: no layout program; `pip install graphviz-pure`, or install Graphviz"
    with building(out) as folder:
        progress(0, 0, "reading the index")
        plan = make_plan(db)
        environment().globals["has_walks"] = bool(plan.walks)
        summary.stale = sum(file.state != "same" for file in plan.files)
        with tempfile.TemporaryDirectory(prefix="xref-site.") as scratch:
            saved = Path(scratch) / "plan"
            plan.save(saved)
            _pages_of_files(plan, saved, folder, jobs, dot, summary, progress)
        progress(0, 0, "overview, keys, runs, search")
        with closing(open_index(db)) as connection:
            made, size = worker.write(folder, whole_pages(connection, plan))
            summary.pages += made
            summary.size += size
        (folder / "assets").mkdir()
        for name in ASSETS:
            shutil.copyfile(templates_folder() / name, folder / "assets" / name)
    summary.seconds = time.monotonic() - began
    return summary


def _pages_of_files(plan: SitePlan, saved: Path, folder: Path, jobs: int, dot: list[str] | None,
                    summary: SiteSummary, progress: Progress) -> None:  # fmt: skip
    """Run the tasks, the largest files first, so that the last ones to end are small."""
    order = sorted(range(len(plan.files)), key=lambda at: (-plan.files[at].lines, at))
    tasks = [Task(plan.files[at].path, worker.make_file, (at,), (plan.files[at].path,)) for at in order]
    count = len(plan.packing.outside)
    tasks += [
        Task("outside the tree", worker.make_outside, (first, min(first + _OUTSIDE_PER_TASK, count)), ())
        for first in range(0, count, _OUTSIDE_PER_TASK)
    ]
    tasks += [
        Task("cards", worker.make_cards, (first, min(first + _CARDS_PER_TASK, SHARDS)), ())
        for first in range(0, SHARDS, _CARDS_PER_TASK)
    ]
    tasks = [Task("call graph", worker.make_graph, (), ()), Task("words", worker.make_words, (), ()), *tasks]
    tasks = [Task("walks", worker.make_walks, (), ()), *tasks]
    with Workers(jobs, worker.initialize, (str(saved), str(folder), dot)) as pool:
        pool.submit(tasks)
        while pool.busy:
            for task, made, failure in pool.finished(_POLL_SECONDS):
                if failure:
                    raise XrefError(
                        f"the pages of {task.label} could not be made ({failure.words}); please report this", 1
                    )
                summary.pages += made.pages
                summary.drawings += made.drawings
                summary.size += made.size
                progress(pool.done, pool.total, task.label)
