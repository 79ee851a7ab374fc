"""The options and arguments that several verbs share, each written once, with what they are by default."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from xref.cli.output import FilePath
from xref.model import XrefError

Verb = TypeVar("Verb", bound=Callable[..., Any])

LANGUAGES = ("cpp", "python", "cython")
LIMIT = 100
"""Lines of each list of an answer in words, unless --limit says otherwise."""


def default_db() -> Path:
    """The index when none is named."""
    return Path(os.environ.get("XREF_DB") or "data/xref.db")


def processors() -> int:
    """Processors that this process may use; on systems that cannot tell, all there are."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def db_option_saying(text: str) -> Callable[[Verb], Verb]:
    """--db, explained by `text`."""
    return click.option(
        "--db",
        type=FilePath(dir_okay=False, path_type=Path),
        default=default_db,
        show_default="$XREF_DB, else data/xref.db",
        help=text,
    )


db_option = db_option_saying("The index.")


def json_option_of(document: str) -> Callable[[Verb], Verb]:
    """--json, whose object `document` describes."""
    return click.option("--json", "as_json", is_flag=True, help=f"Write one JSON object ({document}).")


json_option = json_option_of("docs/cli.md")
jobs_option = click.option(
    "-j", "--jobs", type=click.IntRange(min=1), metavar="N", default=processors,
    show_default="the processors at hand", help="Worker processes.",
)  # fmt: skip


def limit_option(verb: Verb) -> Verb:
    """--limit of an answer."""
    return click.option(
        "--limit",
        type=click.IntRange(min=0),
        metavar="N",
        help="Lines of each list; 0 for all.",
        show_default=f"{LIMIT}, all with --json",
    )(verb)


def lang_option(verb: Verb) -> Verb:
    """--lang."""
    return click.option("--lang", type=click.Choice(LANGUAGES), help="Only symbols of one language.")(verb)


def evidence_option(verb: Verb) -> Verb:
    """--evidence."""
    return click.option(
        "--evidence",
        multiple=True,
        metavar="KIND",
        help="Only calls with this evidence (repeatable): direct, virtual, template, value, registry, dispatch, name,"
        " observed.",
        callback=_known_evidence,
    )(verb)


def _known_evidence(_ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...] | None:
    from xref.query.types import EVIDENCE

    for word in value:
        if word not in EVIDENCE:
            raise click.BadParameter(f"{word!r} is none of {', '.join(EVIDENCE)}")
    return value or None


def depth_option(verb: Verb) -> Verb:
    """--depth."""
    return click.option(
        "--depth", type=click.IntRange(1, 20), metavar="N", default=1, show_default=True, help="Follow so many calls."
    )(verb)


def hops_option(verb: Verb) -> Verb:
    """--max-hops."""
    return click.option(
        "--max-hops",
        type=click.IntRange(1, 100),
        metavar="N",
        default=12,
        show_default=True,
        help="Longest chain, in calls.",
    )(verb)


def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names in the index that begin like what was typed, for the shell; none when there is no index."""
    from xref.query.near import names_with_prefix
    from xref.store import open_index

    try:
        return names_with_prefix(open_index(default_db()), incomplete)
    except (XrefError, sqlite3.Error):
        return []


def name_argument(verb: Verb) -> Verb:
    """NAME, completed from the index."""
    return click.argument("name", shell_complete=complete)(verb)


@contextmanager
def stopping_cleanly() -> Iterator[None]:
    """SIGTERM and SIGHUP end like Ctrl-C, so that no half-written file stays behind."""
    import signal

    def stop(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    signals = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [signal.signal(number, stop) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
