"""What each pass of a run did to its module: the difference of the texts before and after, where the run has them.

The texts are in the run's file, which is kept beside the index (docs/tracing.md, `xref trace --ir`).
"""

from __future__ import annotations

from difflib import unified_diff
from html import escape
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from xref.model import XrefError
from xref.site import urls
from xref.site.outputs import Output, page
from xref.trace.folder import run_path
from xref.trace.runfile import RunFile, has_texts, read_run

_CONTEXT = 6
_LONGEST = 1500
"""Lines of a difference; a pass that rewrites a large module is told in full by `xref run ID --text`."""


class Difference(NamedTuple):
    """A pass with both texts: `seq` as in the view passes_run, `lines` of the difference, how many more there are."""

    seq: int
    name: str
    added: int
    removed: int
    lines: Markup
    more: int


def differences(db: Path, run_id: str) -> list[Difference]:
    """The passes of a run that changed the text of their module; empty where the run's file is gone or has no texts."""
    try:
        path = run_path(db, run_id)
        run = read_run(path) if path.is_file() and has_texts(path) else None
    except (XrefError, OSError, ValueError):
        return []
    return _of_run(run) if run is not None and run.texts else []


def _of_run(run: RunFile) -> list[Difference]:
    found = []
    for seq, row in enumerate(sorted(run.passes, key=lambda row: (row.process, row.start, row.seq))):
        if row.before is None or row.after is None or row.before == row.after:
            continue
        before, after = (run.texts[number].text.splitlines() for number in (row.before, row.after))
        lines = list(unified_diff(before, after, lineterm="", n=_CONTEXT))[2:]
        if lines:
            added = sum(line.startswith("+") for line in lines)
            removed = sum(line.startswith("-") for line in lines)
            text = Markup("\n".join(map(_line, lines[:_LONGEST])))  # noqa: S704 - escaped in _line
            found.append(Difference(seq, row.name, added, removed, text, max(0, len(lines) - _LONGEST)))
    return found


def _line(line: str) -> str:
    tag = {"+": "ins", "-": "del", "@": "i"}.get(line[:1])
    return f"<{tag}>{escape(line)}</{tag}>" if tag else escape(line)


def ir_url(run_id: str) -> str:
    """The page of a run's differences."""
    return f"runs/{urls.safe_segment(run_id)}.ir.html"


def ir_page(run_id: str, found: list[Difference], site: str) -> Output:
    """The page of a run's differences."""
    url = ir_url(run_id)
    return page(
        url, "ir.html.j2", title=f"What passes did in {run_id}", site=site, root=urls.root_of(url), run=run_id,
        run_href=urls.run_url(run_id), differences=found,
    )  # fmt: skip
