"""What `xref index` shows: a bar with an estimate while it works, then a summary that hides no file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xref.model import ExitCode

if TYPE_CHECKING:
    from xref.summary import IndexSummary

Progress = Callable[[int, int, str], None]

_REASONS_SHOWN = 8
_FILES_SHOWN = 20
_LABEL_WIDTH = 44


@contextmanager
def progress_bar(*, show: bool) -> Iterator[Progress]:
    """A callable (done, total, label) that draws on standard error; it does nothing off a terminal or in CI."""
    if not show or not sys.stderr.isatty() or os.environ.get("CI"):
        yield lambda _done, _total, _label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left", markup=False),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        last = 0

        def advance(done: int, total: int, label: str) -> None:
            nonlocal last
            if done < last:  # the next phase counts from the beginning; so must the estimate
                bar.reset(task)
            last = done
            bar.update(task, completed=done, total=total or None, description=label[:_LABEL_WIDTH].ljust(_LABEL_WIDTH))

        yield advance


def exit_code(summary: IndexSummary, *, strict: bool) -> int:
    """The summary's own code; 4 under `strict` when any file is degraded."""
    if summary.exit_code == ExitCode.DONE and strict and summary.files.get("degraded"):
        return ExitCode.FILES_FAILED
    return summary.exit_code


def summary_object(summary: IndexSummary) -> dict[str, Any]:
    """The summary for `--json`: its fields, with pairs and tuples as objects."""
    result: dict[str, Any] = {"schema": 1, "exit_code": summary.exit_code} | asdict(summary)
    result["failed"] = [{"path": path, "detail": detail} for path, detail in summary.failed]
    result["dangling"] = [
        {"registry": registry, "name": name, "path": path, "line": line}
        for registry, name, path, line in summary.dangling
    ]
    return result


def summary_lines(summary: IndexSummary, db: Path) -> Iterator[str]:
    """The summary as text: the tree, files with reasons, calls by evidence, keys, what failed and what dangles."""
    about = summary.tree
    if summary.unchanged:
        yield f"unchanged: {db} is up to date with {about.get('tree', '')} ({summary.seconds:.1f} s)"
        return
    commit, era = about.get("commit", ""), about.get("era", "")
    details = ", ".join(part for part in (commit and f"commit {commit[:12]}", era and f"registrations {era}") if part)
    yield f"{about.get('project', '')} {about.get('tvm_version', '')}".strip() + f" at {about.get('tree', '')}"
    if details:
        yield f"  {details}"
    yield from _read_again(summary)
    yield f"  files       {_counts(summary.files)}"
    reasons = sorted(summary.degraded.items(), key=lambda item: (-item[1], item[0]))
    for reason, count in reasons[:_REASONS_SHOWN]:
        yield f"    {count} degraded: {reason}"
    yield from _more(len(reasons) - _REASONS_SHOWN, "reasons; `xref doctor` lists files by reason")
    for path, detail in summary.failed[:_FILES_SHOWN]:
        yield f"    failed: {path}: {detail}"
    yield from _more(len(summary.failed) - _FILES_SHOWN, "failed files (--json lists all)")
    yield f"  symbols     {summary.symbols:,}"
    yield f"  references  {summary.refs:,}"
    yield f"  calls       {_counts(summary.calls)}; unresolved {summary.unresolved:,}"
    yield f"  keys        defined: {_counts(summary.keys_defined)}"
    yield f"              used: {_counts(summary.key_uses)}"
    for registry, name, path, line in summary.dangling[:_FILES_SHOWN]:
        yield f"    dangling: {path}:{line}  {registry} {name}"
    yield from _more(len(summary.dangling) - _FILES_SHOWN, "dangling uses (`xref keys --dangling`)")
    for warning in summary.warnings:
        yield f"  warning: {warning}"
    yield f"  {db} written in {summary.seconds:.1f} s"


def _read_again(summary: IndexSummary) -> Iterator[str]:
    """What an earlier index did not answer for, and why."""
    if not summary.is_update and not summary.reasons:
        return
    read = summary.reread
    yield (
        f"  read again  {read['units']:,} C++ units, {read['python']:,} Python and {read['cython']:,} Cython files"
        + ("" if summary.is_update else ": most of the tree, so a new index was made")
    )
    reasons = list(summary.reasons.items())
    for reason, count in reasons[:_REASONS_SHOWN]:
        yield f"    {count} unit{'' if count == 1 else 's'}: {reason}"
    yield from _more(len(reasons) - _REASONS_SHOWN, "reasons (--json lists all)")


def _counts(counts: dict[str, int]) -> str:
    """`1,240 ok, 88 degraded`: the larger first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {word}" for word, count in ordered) or "none"


def _more(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield f"    … {count} more {what}"
