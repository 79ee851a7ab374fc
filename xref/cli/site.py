"""The verb `site`: builds the static site of an index."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xref.model import ExitCode

if TYPE_CHECKING:
    from xref.site.build import SiteSummary


def _default_db() -> Path:
    return Path(os.environ.get("XREF_DB") or "data/xref.db")


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@click.command()
@click.option("--db", type=click.Path(dir_okay=False, path_type=Path), default=_default_db,
              show_default="$XREF_DB, else data/xref.db", help="The index.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), default=Path("site"), show_default=True, metavar="DIR",
              help="The folder of the site. One made earlier is replaced; anything else is left alone.")  # fmt: skip
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", default=_processors,
              show_default="the processors at hand", help="Worker processes.")  # fmt: skip
@click.option("--quiet", "-q", is_flag=True, help="No progress and no summary.")
def site(db: Path, out: Path, jobs: int, quiet: bool) -> int:
    """Write the index as web pages that open from disk: source with links, symbols, drawings, runs, search.

    Needs the tree that was indexed, for its source. $XREF_DOT names another Graphviz `dot` for the drawings.
    """
    from xref.cli.output import write_lines
    from xref.cli.summary import progress_bar
    from xref.cli.verbs import stopping_cleanly
    from xref.site.build import build_site

    with stopping_cleanly(), progress_bar(show=not quiet) as progress:
        summary = build_site(db, out, jobs, progress)
    if not quiet:
        write_lines(_lines(summary))
    return ExitCode.DONE


def _lines(summary: SiteSummary) -> Iterator[str]:
    from xref.site.assets import counted

    yield (
        f"{counted(summary.pages, 'page')}, {counted(summary.drawings, 'drawing')},"
        f" {summary.size / (1 << 20):,.0f} MiB in {summary.seconds:.1f} s"
    )
    if summary.stale:
        yield f"  {counted(summary.stale, 'file')} changed since the index was made: shown without links; index again"
    if summary.note:
        yield f"  {summary.note}"
    yield f"  open {summary.out / 'index.html'}"
