"""`xref verify`: the index against an installed TVM."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xref.cli.options import db_option, json_option
from xref.cli.output import write_json, write_lines
from xref.model import ExitCode

if TYPE_CHECKING:
    from xref.verify.compare import Verification

_SHOWN = 10


def _lines(result: Verification, limit: int | None) -> Iterator[str]:
    yield f"index of {result.tree}, TVM {result.tree_version or '(unknown)'}"
    ffi = f" with tvm-ffi {result.ffi_version}" if result.ffi_version else ""
    yield f"against the installed TVM {result.version}{ffi}"
    if result.tree_version.partition(".dev")[0] not in result.version:
        yield "  the versions differ: what one has and the other lacks may be a change between them"
    for one in result.comparisons:
        share = f" ({100 * one.found / one.installed:.1f} %)" if one.installed else ""
        yield f"  {one.registry:12} {one.found:,} of {one.installed:,} installed{share}"
        yield from _names("missing in the index", one.missing, limit)
        for reason, names in sorted(one.surplus.items(), key=lambda item: (item[0] == "", item[0])):
            yield from _names(f"only in the index, {reason or 'for no reason known'}", names, limit)
    if result.unlisted:
        yield f"  not compared, since the TVM does not list it or the index has none: {', '.join(result.unlisted)}"


def _names(what: str, names: list[str], limit: int | None) -> Iterator[str]:
    if names:
        more = f", … {len(names) - limit} more" if limit and len(names) > limit else ""
        yield f"    {len(names):,} {what}: {', '.join(names[:limit])}{more}"


@click.command(name="verify")
@click.option(
    "--python",
    metavar="PYTHON",
    show_default="the one that runs xref",
    help="The interpreter that has TVM; it need not have xref.",
)
@click.option("--runs", is_flag=True, help="Compare with what recorded runs observed instead.")
@click.option("--run", "chosen", multiple=True, metavar="ID", help="Of --runs: this run only; may be given again.")
@click.option(
    "--limit", type=click.IntRange(min=0), metavar="N", help="Names of each kind; 0 for all.", show_default="10"
)
@json_option
@db_option
def verify(
    python: str | None, runs: bool, chosen: tuple[str, ...], limit: int | None, as_json: bool, db: Path
) -> int:  # fmt: skip
    """Compare the index with the registries of an installed TVM: what each has that the other lacks, and why.

    With --runs, compare it with recorded runs: which of the calls that happened between its symbols it contains, by
    kind and evidence, and which it lacks, and why.

    \b
    xref verify --python ~/venv/bin/python
    xref verify --runs

    Exit code 1 when the TVM has registered anything that the index does not know, or no run is known.
    """
    from xref.store import open_index
    from xref.verify.run import verify as run

    shown = _SHOWN if limit is None else limit or None
    if runs or chosen:
        if python is not None:
            raise click.UsageError("--python compares with an installed TVM, --runs with recorded runs: give one")
        return _verify_runs(db, chosen, shown, as_json)
    with closing(open_index(db)) as connection:
        result = run(connection, python or sys.executable)
    if as_json:
        write_json({"schema": 1, "complete": result.is_complete} | asdict(result))
    else:
        write_lines(_lines(result, shown))
    return ExitCode.DONE if result.is_complete else ExitCode.NOTHING


def _verify_runs(db: Path, chosen: tuple[str, ...], limit: int | None, as_json: bool) -> int:
    from xref.store import open_index
    from xref.verify.recall import measure
    from xref.verify.recall_report import recall_lines, recall_object

    with closing(open_index(db)) as connection:
        recalls = measure(connection, chosen)
    if as_json:
        write_json(recall_object(recalls))
    else:
        write_lines(recall_lines(recalls, limit))
    return ExitCode.DONE
