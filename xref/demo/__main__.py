"""What `make demo` runs: get a real TVM, index it, record a compilation, ask, build the site, say what to try next.

Each step shows the command that a user would type, and what it prints. Nothing is done twice: the tree stays in the
cache, and an unchanged tree is not indexed again.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from xref.cache import cache_folder
from xref.demo.run import can_run, demo_tvm
from xref.demo.tree import demo_tree
from xref.model import ExitCode, XrefError
from xref.site.publish import MARKER
from xref.store import open_index

EXAMPLE = Path("examples/conv2d.py")
QUESTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Who calls FuseTIR, in Python and in C++?", ("query", "who calls FuseTIR")),
    (
        "How does an expression that Python emits get to the C++ that normalizes it?",
        ("path", "tvm.relax.BlockBuilder.emit", "tvm::relax::Normalizer::VisitExpr"),
    ),
    ("Who registers a key of the FFI, what does it run, and who uses it?", ("key", "relax.transform.FuseTIR")),
)
"""A sentence and the arguments of `xref`: a question about a name, a path across the FFI, and a key."""

NEXT = (
    ("query", "who calls StorageRewrite"),
    ("query", "where is FusedTIRConstructor::VisitExpr_(const CallNode*)"),
    ("callees", "tvm.relax.transform.FuseOps"),
    ("keys", "relax.transform.*"),
    ("runs",),
    ("doctor",),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the steps; the exit code of the first one that failed."""
    parser = argparse.ArgumentParser(prog="python -m xref.demo", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--db", type=Path, default=Path("data/xref.db"), help="the index to write and ask")
    parser.add_argument("--tree-only", action="store_true", help="only get the tree, and print its folder")
    options = parser.parse_args(arguments)
    try:
        tree = demo_tree()
    except XrefError as error:
        print(f"xref: {error}", file=sys.stderr)
        return error.exit_code
    if options.tree_only:
        print(tree)
        return ExitCode.DONE
    return _show(tree, options.db)


def _show(tree: Path, db: Path) -> int:
    started = time.monotonic()
    _say(f"TVM's source stands in {tree} (downloads: {cache_folder()})")
    code = _xref(("index", str(tree)), db) or _record(tree, db)
    if code:
        return code
    for title, command in QUESTIONS:
        _say(f"\n{title}")
        code = _xref(command, db)
        if code:
            return code
    site = Path("site")
    code = _build_site(db, site)
    if code:
        return code
    page = (
        f"\nOpen {site / 'index.html'} in a browser: search for FuTIR, and see who calls FuseTIR, how often, and how."
    )
    _say(page)
    _say(f"All of it took {time.monotonic() - started:.0f} s. Try next:")
    for command in NEXT:
        _say(f"  {_as_typed(command, db)}")
    _say("  xref index PATH_OF_YOUR_TVM --db data/mine.db")
    return ExitCode.DONE


def _record(tree: Path, db: Path) -> int:
    """Record the example's compilation, once, with the TVM whose source is indexed."""
    if _has_runs(db):
        return ExitCode.DONE
    if not can_run():
        _say("\nThe demo's TVM is built for Linux on x86_64: no run is recorded here.")
        return ExitCode.DONE
    _say("\nWhat really runs when this TVM compiles a small network?")
    try:
        tvm = demo_tvm(tree)
    except XrefError as error:
        print(f"xref: {error}", file=sys.stderr)
        return error.exit_code
    command = ("trace", "--python", str(tvm.python), "--", str(EXAMPLE), "--target", "c")
    return _xref(command, db, tvm.environment)


def _has_runs(db: Path) -> bool:
    with closing(open_index(db)) as connection:
        return bool(connection.execute("SELECT count(*) FROM run").fetchone()[0])


def _build_site(db: Path, site: Path) -> int:
    """Build the site, unless it is newer than the index and its runs."""
    marker = site / MARKER
    if marker.exists() and marker.stat().st_mtime > db.stat().st_mtime:
        return ExitCode.DONE
    _say("\nAll of it as pages, to read in a browser:")
    return _xref(("site", "--out", str(site)), db)


def _xref(arguments: tuple[str, ...], db: Path, environment: dict[str, str] | None = None) -> int:
    """Run one xref command as the user would, after showing it."""
    _say(f"$ {_as_typed(arguments, db)}")
    sys.stdout.flush()
    verb, *rest = arguments
    typed = [sys.executable, "-m", "xref", verb, "--db", str(db), *rest]
    return subprocess.run(typed, check=False, env=environment).returncode


def _as_typed(arguments: tuple[str, ...], db: Path) -> str:
    program = Path(sys.executable).with_name("xref")
    shown = program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program
    extra = () if db == Path("data/xref.db") else ("--db", str(db))
    return shlex.join((str(shown), arguments[0], *extra, *arguments[1:]))


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
