"""The verbs about recorded runs: `trace`, `runs`, `run`. They parse, call xref.trace, write; no work of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from xref.cli.options import db_option_saying, json_option_of
from xref.cli.output import FilePath, write_json, write_lines
from xref.model import ExitCode, XrefError

if TYPE_CHECKING:
    from xref.trace.record import Recording

_TEXT_LIMIT = 20
_db_option = db_option_saying("The index; runs are kept in the folder `runs` beside it.")
_json_option = json_option_of("docs/tracing.md")


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option(
    "-o",
    "--output",
    type=FilePath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the run to FILE, and join it to no index.",
)
@click.option("--python", metavar="PYTHON", help="The interpreter to use in place of the command's `python`.")
@click.option("--native", is_flag=True, help="Run it once more under callgrind: C++ calls while compiling.")
@click.option(
    "--native-limit", type=click.FloatRange(min=0, min_open=True), default=15.0, show_default=True, metavar="MINUTES",
    help="End the run under callgrind after this time.",
)  # fmt: skip
@click.option("--ir", is_flag=True, help="Run it once more for the module's text before and after each pass.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing when all went well.")
@_db_option
def trace(
    command: tuple[str, ...], output: Path | None, python: str | None, native: bool, native_limit: float, ir: bool,
    quiet: bool, db: Path,
) -> int:  # fmt: skip
    """Record what a command does inside TVM: Python calls, FFI calls, passes.

    \b
    xref trace -- python compile_my_model.py --target llvm
    xref trace --python ~/venv/bin/python -- compile_my_model.py
    xref trace -- python -m my_package
    xref trace --native --ir -- python compile_my_model.py

    The command runs as it would without xref: same output, same exit code. The Python that runs it needs TVM, not xref.
    The run is kept beside the index and joined to it; `xref run` then shows it (docs/tracing.md).
    """
    from xref.trace.record import record

    def say(text: str) -> None:
        if not quiet:
            write_lines([f"xref: {text}"], error=True)

    made = record(command, db, python, output, native=native, native_limit=native_limit, ir=ir, say=say)
    lines = [made.trouble] if made.trouble else [] if quiet else _recorded_lines(made, db, output)
    write_lines((f"xref: {line}" for text in lines for line in text.splitlines()), error=True)
    return made.exit_code


def _recorded_lines(made: Recording, db: Path, output: Path | None) -> list[str]:
    assert made.run is not None
    numbers = made.run.header["counts"]
    seen = f"{numbers['passes']} passes, {numbers['ffi_calls']} FFI calls of {numbers['ffi_keys']} functions"
    lines = [
        f"recorded {seen}, {numbers['python_edges']} Python edges: {made.path}",
        *(f"note: {note}" for note in made.warnings),
    ]
    if output is not None:
        return [*lines, f"`xref run --import {output}` joins it to an index"]
    return [*lines, *_join(db, made.run.id), f"`xref run {made.run.id}` shows it"]


def _join(db: Path, run_id: str) -> list[str]:
    """Join a run to the index, if there is one; what to say of it."""
    from xref.trace.folder import run_path
    from xref.trace.join import join_run
    from xref.trace.store import open_for_runs

    if not db.exists():
        return [f"there is no index at {db} yet: `xref index PATH` will join the run"]
    try:
        with open_for_runs(db) as connection:
            report = join_run(connection, run_path(db, run_id))
    except XrefError as error:
        return [f"not joined: {error}"]
    joined, missed = sum(report.joined.values()), sum(report.unmatched.values())
    return [f"joined {joined} edges and passes, {missed} are not of the index", *([report.skew] if report.skew else [])]


@click.command()
@click.option("--delete", metavar="ID", help="Delete this run, its file and its rows in the index.")
@_json_option
@_db_option
def runs(delete: str | None, as_json: bool, db: Path) -> int:
    """List the recorded runs, oldest first."""
    from xref.trace.report import list_lines, list_object

    if delete is not None:
        return _delete(delete, db)
    listed = list_object(db)
    if as_json:
        write_json(listed)
    else:
        write_lines(list_lines(listed["runs"]))
    if not listed["runs"]:
        write_lines([f"no runs beside {db}: `xref trace -- python script.py` records one"], error=True)
        return ExitCode.NOTHING
    return ExitCode.DONE


def _delete(run_id: str, db: Path) -> int:
    from xref.trace.folder import existing_run
    from xref.trace.store import open_for_runs, remove_run, transaction

    path = existing_run(db, run_id)
    if db.exists():
        with open_for_runs(db) as connection, transaction(connection):
            remove_run(connection, run_id)
    path.unlink()
    write_lines([f"deleted run {run_id}"], error=True)
    return ExitCode.DONE


@click.command()
@click.argument("run_id", required=False, metavar="[ID]")
@click.option(
    "--import",
    "source",
    type=FilePath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="First take over this run file, made elsewhere.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Lines of each list; 0 for all.",
    show_default=f"{_TEXT_LIMIT}, all with --json",
)
@click.option(
    "--export",
    type=click.Choice(("chrome", "speedscope")),
    help="Write the passes as a timeline, for chrome://tracing and Perfetto, or speedscope.app; to standard output.",
)
@click.option(
    "--ir", metavar="SEQ", type=click.IntRange(min=0), help="The module before and after this pass, as a diff."
)
@_json_option
@_db_option
def run(
    run_id: str | None, source: Path | None, limit: int | None, export: str | None, ir: int | None, as_json: bool,
    db: Path,
) -> int:  # fmt: skip
    """Show a run: what ran, what it joined to, its passes, its hottest calls. Without ID, the newest.

    \b
    xref run
    xref run 20260102-030405-conv2d --json
    xref run --import run-of-a-colleague
    xref run --export speedscope > passes.json
    xref run --ir 12
    """
    from xref.trace.folder import existing_run, import_run
    from xref.trace.report import joined_in, run_lines, run_object, text_lines
    from xref.trace.runfile import read_run

    if source is not None:
        if run_id is not None:
            raise click.UsageError("give an ID or --import, not both")
        path = import_run(db, source)
        write_lines((f"imported as {path}", *_join(db, path.name)), error=True)
    else:
        path = existing_run(db, run_id) if run_id is not None else _newest(db)
    recorded = read_run(path)
    joined = joined_in(db, recorded.id)
    if export is not None:
        from xref.trace.export import export as exported

        write_json(exported(recorded, export))
    elif ir is not None:
        write_lines(text_lines(recorded, ir))
    elif as_json:
        write_json(run_object(recorded, joined, limit or 0))
    else:
        write_lines(run_lines(recorded, joined, db.exists(), _TEXT_LIMIT if limit is None else limit))
    return ExitCode.DONE


def _newest(db: Path) -> Path:
    from xref.trace.folder import run_files

    files = run_files(db)
    if not files:
        raise XrefError(f"no runs beside {db}: `xref trace -- python script.py` records one", ExitCode.NOTHING)
    return files[-1]


COMMANDS = (trace, runs, run)
"""What xref/cli/verbs.py adds to its group."""
