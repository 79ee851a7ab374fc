"""The verbs `site` and `serve`: the static site of an index, and the same with live questions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xref.cli.options import db_option, jobs_option, stopping_cleanly
from xref.cli.output import FilePath
from xref.model import ExitCode

if TYPE_CHECKING:
    from xref.site.build import SiteSummary


def _known_url(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    """An address that may stand in every page, with a slash at its end."""
    if value and not re.fullmatch(r"https?://[\w.:/~%+-]+", value):
        raise click.BadParameter("an address like https://example.org/tvm/ is needed")
    return value if not value or value.endswith("/") else value + "/"


@click.command()
@db_option
@click.option("--out", type=FilePath(path_type=Path), default=Path("site"), show_default=True, metavar="DIR",
              help="The folder of the site. One made earlier is replaced; anything else is left alone.")  # fmt: skip
@jobs_option
@click.option("--only", multiple=True, metavar="GLOB",
              help="Pages of files whose path matches, and of what is in them (repeatable).")  # fmt: skip
@click.option("--base-url", default="", metavar="URL", callback=_known_url,
              help="Where the site will be published: pages name their address there; adds a sitemap.xml.")  # fmt: skip
@click.option("--full", is_flag=True, help="Make every page, also those that have not changed.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no summary.")
def site(db: Path, out: Path, jobs: int, only: tuple[str, ...], base_url: str, full: bool, quiet: bool) -> int:
    """Write the index as web pages that open from disk: source with links, symbols, drawings, runs, search.

    Pages that the site in DIR already has are kept, unless what they show has changed.
    Needs the tree that was indexed, for its source. $XREF_DOT names another Graphviz `dot` for the drawings.
    """
    from xref.cli.output import write_lines
    from xref.cli.summary import progress_bar
    from xref.site.build import SiteOptions, build_site

    with stopping_cleanly(), progress_bar(show=not quiet) as progress:
        summary = build_site(db, out, jobs, progress, SiteOptions(only, base_url, full))
    if not quiet:
        write_lines(_lines(summary))
    return ExitCode.DONE


@click.command()
@db_option
@click.option("--site", "folder", type=FilePath(path_type=Path), default=Path("site"), show_default=True,
              metavar="DIR", help="The folder of the site, as `xref site` made it.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8417, show_default=True, help="0 takes any free port.")
def serve(db: Path, folder: Path, port: int) -> int:
    """Serve the site to this machine, with live questions at /ask and /api/query. Ctrl-C ends it.

    It listens on 127.0.0.1 only, changes nothing, and refuses requests that name another host.
    """
    from xref.cli.output import write_lines
    from xref.site.serve import Server

    with Server(db, folder, port) as server, stopping_cleanly():
        write_lines([f"http://127.0.0.1:{server.port}/"])
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return ExitCode.DONE
    return ExitCode.DONE


def _lines(summary: SiteSummary) -> Iterator[str]:
    from xref.site.assets import counted

    yield (
        f"{counted(summary.pages, 'page')}, {counted(summary.drawings, 'drawing')},"
        f" {summary.size / (1 << 20):,.0f} MiB in {summary.seconds:.1f} s"
        + (f"; {counted(summary.kept, 'page')} taken over, as nothing in them has changed" if summary.kept else "")
    )
    if summary.stale:
        yield f"  {counted(summary.stale, 'file')} changed since the index was made: shown without links; index again"
    if summary.note:
        yield f"  {summary.note}"
    yield f"  open {summary.out / 'index.html'}"
