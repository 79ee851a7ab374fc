"""The command line: parses what the user typed, calls a feature, writes its answer. No verb does any work of its own.

Every verb ends with an exit code of docs/cli.md; errors that the user can act on arrive as `XrefError`. Features are
imported inside the verbs, so that a question does not pay for the indexer.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from xref.cli.options import (
    LIMIT,
    Verb,
    complete,
    db_option,
    depth_option,
    evidence_option,
    hops_option,
    jobs_option,
    json_option,
    lang_option,
    limit_option,
    name_argument,
    stopping_cleanly,
)
from xref.cli.output import FilePath, width, write_json, write_lines
from xref.cli.site import serve, site
from xref.cli.trace import COMMANDS as TRACE_COMMANDS
from xref.cli.verify import verify
from xref.model import ExitCode, Role, XrefError

if TYPE_CHECKING:
    from xref.query.language import Answer


class _Group(click.Group):
    """Ends quietly when the reader of a pipe has gone, and with 130 on Ctrl-C."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ExitCode.DONE
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO) or error.filename is not None:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
            message = f"the answer cannot be written ({error.strerror}): send it elsewhere"
            raise XrefError(message, ExitCode.UNUSABLE_INPUT) from error
        except KeyboardInterrupt:
            raise XrefError("interrupted: nothing was changed", ExitCode.INTERRUPTED) from None
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise XrefError("the index is being written: ask again in a moment", ExitCode.NO_INDEX) from error
            raise XrefError(
                f"the index cannot be read ({error}): run `xref index --force`, or name another --db", ExitCode.NO_INDEX
            ) from error
        return result


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run one verb and exit with its code. The entry point of the `xref` command."""
    try:
        code = cli.main(args, prog_name="xref", standalone_mode=False)
    except XrefError as error:
        write_lines([f"xref: {error}"], error=True)
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:  # Ctrl-C before a verb began
        write_lines(["xref: interrupted: nothing was changed"], error=True)
        code = ExitCode.INTERRUPTED
    sys.exit(code if isinstance(code, int) else ExitCode.DONE)


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    from importlib import metadata

    if value:
        try:
            version = metadata.version("xref")
        except metadata.PackageNotFoundError:
            version = "(a checkout, not installed)"
        click.echo(f"xref {version}")
        ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="The version."
)
def cli() -> None:
    """Ask who reaches what in a TVM tree, across Python, the FFI and C++.

    \b
    xref index ~/tvm                       read the tree (minutes, once)
    xref query "who calls FuseTIR"         ask

    Exit codes: 0 done; 1 nothing found, or a check failed; 2 usage; 3 no index, or one of another schema;
    4 done, but files failed; 5 input unusable; 130 interrupted.
    """


def _answering(*options: Callable[[Any], Any]) -> Callable[[Verb], Verb]:
    """A verb that asks the index: its own options, then --lang, --limit, --json and --db."""

    def decorate(verb: Any) -> Any:
        for option in (db_option, json_option, limit_option, lang_option, *reversed(options)):
            verb = option(verb)
        return verb

    return decorate


def _respond(db: Path, as_json: bool, limit: int | None, ask: Callable[[sqlite3.Connection], Answer]) -> int:
    """Open the index, ask, write; the answer's exit code."""
    from contextlib import closing

    from xref.store import open_index

    with closing(open_index(db)) as connection:
        answer = ask(connection)
    if as_json:
        from xref.query.json import answer_object

        write_json(answer_object(answer, limit or 0))
    else:
        from xref.query.text import answer_lines

        write_lines(answer_lines(answer, LIMIT if limit is None else limit, width()))
    from xref.query.text import trouble_lines

    write_lines(trouble_lines(answer), error=True)
    return answer.exit_code


def _run_verb(verb: str, names: tuple[str, ...], db: Path, as_json: bool, limit: int | None, **narrowing: Any) -> int:
    from xref.query import language as query

    options = query.Options(**narrowing)
    return _respond(db, as_json, limit, lambda connection: query.run(connection, verb, names, options))


@cli.command()
@click.argument("question", nargs=-1, required=True, metavar="QUESTION...")
@_answering(depth_option, evidence_option, hops_option)
def query(question: tuple[str, ...], db: Path, as_json: bool, limit: int | None, **narrowing: Any) -> int:
    """Answer a question: "who calls FuseTIR".

      \b
      who calls X          callers of X           calls to X
      what does X call     callees of X           calls from X
      where is X           definition of X
      uses of X            references to X        who uses X
      hierarchy of X       what derives from X    what overrides X
      path from A to B     how does A reach B
      what is key K        who registers K        where is K registered
    which function converts aten.conv2d (or: onnx Conv)
      X                    what X is, in short

      Names: a last part (FuseTIR), any longer end (transform.FuseTIR, relax::FuseTIR; . and :: are the same), a full
      name, a public Python path, a name with parameters ("Class::VisitExpr_(const CallNode*)"), a registry key
      (relax.transform.FuseTIR), or a place (src/relax/transform/fuse_tir.cc:1273: the function around that line).
    """
    from xref.query import language

    text, options = " ".join(question), language.Options(**narrowing)
    return _respond(db, as_json, limit, lambda connection: language.ask(connection, text, options))


@cli.command()
@name_argument
@_answering(depth_option, evidence_option)
def callers(name: str, **options: Any) -> int:
    """Who calls NAME, with the evidence of each call; where nobody does, why."""
    return _run_verb("callers", (name,), **options)


@cli.command()
@name_argument
@_answering(depth_option, evidence_option)
def callees(name: str, **options: Any) -> int:
    """What NAME calls, itself or in the lambdas and functions written in it."""
    return _run_verb("callees", (name,), **options)


@cli.command()
@name_argument
@_answering()
def where(name: str, **options: Any) -> int:
    """Where NAME is defined and declared."""
    return _run_verb("where", (name,), **options)


@cli.command()
@name_argument
@_answering()
def hierarchy(name: str, **options: Any) -> int:
    """The bases and derived classes of NAME; of a method, what it overrides and what overrides it."""
    return _run_verb("hierarchy", (name,), **options)


@cli.command()
@name_argument
@click.option(
    "--role", "roles", multiple=True, type=click.Choice(list(Role)), help="Only references with this role (repeatable)."
)
@_answering()
def refs(name: str, **options: Any) -> int:
    """Every reference to NAME, with its role."""
    return _run_verb("refs", (name,), **options)


@cli.command()
@click.argument("start", shell_complete=complete)
@click.argument("goal", shell_complete=complete)
@evidence_option
@hops_option
@json_option
@db_option
def path(start: str, goal: str, **options: Any) -> int:
    """A shortest call chain from START to GOAL, through keys too."""
    return _run_verb("path", (start, goal), limit=None, **options)


@cli.command()
@click.argument("name")
@click.option("--registry", metavar="R", help="Only this registry: ffi, type, field, op, pass, ...")
@db_option
@limit_option
@json_option
def key(name: str, **options: Any) -> int:
    """Who registers the key NAME and under which guard, what it runs, who uses it."""
    return _run_verb("key", (name,), **options)


@cli.command()
@click.argument("pattern", required=False)
@click.option("--registry", metavar="R", help="Only this registry: ffi, type, field, op, pass, ...")
@click.option("--dangling", is_flag=True, help="Only keys that are used and nowhere defined.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", default=0, help="List so many; 0 for all.")
@json_option
@db_option
def keys(db: Path, as_json: bool, limit: int, registry: str | None, pattern: str | None, dangling: bool) -> int:
    """List the keys, or those that match PATTERN ("relax.transform.*")."""
    from contextlib import closing

    from xref.query.keys import check_registry, list_keys
    from xref.query.text import key_list_lines
    from xref.store import open_index

    with closing(open_index(db)) as connection:
        check_registry(connection, registry)
        found = list_keys(connection, registry, pattern, dangling=dangling)
    shown = found[: limit or None]
    if as_json:
        write_json({"schema": 1, "total": len(found), "keys": [count._asdict() for count in shown]})
    else:
        write_lines(key_list_lines(shown, dangling=dangling))
        total = f"{len(found)} key{'' if len(found) == 1 else 's'}"
        write_lines([total + (f", {len(shown)} shown" if len(shown) < len(found) else "")], error=True)
    return ExitCode.DONE if found else ExitCode.NOTHING


@cli.command()
@db_option
@json_option
def doctor(db: Path, as_json: bool) -> int:
    """What is installed, what is missing and how to get it; how complete the index is."""
    from xref.doctor import examine, report_lines, report_object

    report = examine(db)
    if as_json:
        write_json(report_object(report))
    else:
        write_lines(report_lines(report))
    return report.exit_code


@cli.command()
@click.argument("path", type=FilePath(path_type=Path))
@db_option
@jobs_option
@click.option("--only", multiple=True, metavar="GLOB", help="Only files whose path matches (repeatable).")
@click.option(
    "--also", multiple=True, metavar="FOLDERS",
    help="Folders outside the usual scope to index as well, with commas: tests/python,tests/cpp,apps (repeatable).",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Index again though nothing changed, or over another tree's index.")
@click.option("--strict", is_flag=True, help="Exit with 4 when a file could be read only in part.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no summary.")
@json_option
def index(
    path: Path, db: Path, jobs: int, only: tuple[str, ...], also: tuple[str, ...], force: bool, strict: bool,
    quiet: bool, as_json: bool,
) -> int:  # fmt: skip
    """Read the TVM tree at PATH into an index; an unchanged tree is left as it is."""
    from xref.cli.summary import exit_code, progress_bar, summary_lines, summary_object
    from xref.index import IndexOptions, run_index

    folders = dict.fromkeys(folder for given in also for folder in map(str.strip, given.split(",")) if folder)
    options = IndexOptions(path=path, db=db, jobs=jobs, only=only, also=tuple(folders), force=force)
    with stopping_cleanly(), progress_bar(show=not (quiet or as_json)) as progress:
        summary = run_index(options, progress)
    if as_json:
        write_json(summary_object(summary))
    elif not quiet:
        write_lines(summary_lines(summary, db))
    return exit_code(summary, strict=strict)


for _command in (*TRACE_COMMANDS, site, serve, verify):
    cli.add_command(_command)
