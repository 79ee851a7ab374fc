"""Holds a site to its index: calls drawn by chance must stand on the page of the function that is called."""

from __future__ import annotations

import posixpath
import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path

from xref.site import urls
from xref.site.plan import SitePlan, make_plan
from xref.store import open_index

_BASE = re.compile(r"<base href=([^\s>]+)>")
_ITEM = re.compile(r"<li( class=f)?>\s*<a href=\"?([^\s>\"]+)\"?>(.*?)</a>(.*?)(?=<li|</ul>)", re.DOTALL)
"""An item of a list of callers: whether it is a file with rows below, its first link, that one's text, the rest."""
_TAG = re.compile(r"<[^>]*>")


def check_calls(db: Path, folder: Path, count: int, seed: int) -> tuple[int, list[str]]:
    """How many call rows of the index were looked up, and which are missing from the site in `folder`.

    A row is there when the callee's page, or a page on which its list of callers goes on, has the caller's name with a
    link to it and, beside it, the file and the line of the call. Raises `XrefError` (exit code 3) without an index.
    """
    plan = make_plan(db)
    missing = []
    with closing(open_index(db)) as connection:
        rows = _draw(connection, count, seed)
    for call in rows:
        caller, callee, path, line = call
        if caller not in plan.packing.address or callee not in plan.packing.address:
            missing.append(f"{path}:{line}: no address for symbol {caller} or {callee}")
        elif not any(_has(plan, page, folder, call) for page in _pages(plan, folder, callee)):
            page = plan.packing.address[callee]
            missing.append(f"{page}: no row of {plan.names[caller].qualname} at {path}:{line}")
    return len(rows), missing


def _draw(db: sqlite3.Connection, count: int, seed: int) -> list[tuple[int, int, str, int]]:
    rows = db.execute("SELECT caller_id, callee_id, path, line FROM calls ORDER BY 1, 2, 3, 4, col").fetchall()
    return random.Random(seed).sample(rows, min(count, len(rows)))  # noqa: S311 - a sample to look at


def _pages(plan: SitePlan, folder: Path, callee: int) -> Iterator[Path]:
    page = folder / plan.packing.address[callee].partition("#")[0]
    yield page
    own = folder / urls.symbol_url(plan.packing.code[callee])
    yield from sorted(own.parent.glob(f"{own.stem}.callers.*.html"))


def _has(plan: SitePlan, page: Path, folder: Path, call: tuple[int, int, str, int]) -> bool:
    """Whether a page has the row: under its file's name, beside it, or in a list about that very file."""
    caller, callee, path, line = call
    html = page.read_text(encoding="utf-8")
    base = _BASE.search(html)
    here = posixpath.join(page.relative_to(folder).parent.as_posix(), base[1] if base else "")
    position = plan.names[callee].file
    own = plan.files[position].path if position >= 0 and "#" in plan.packing.address[callee] else ""
    around, end = "", 0
    for item in _ITEM.finditer(html):
        label, text = unescape(_TAG.sub("", item[3])), unescape(_TAG.sub(" ", item[4]))
        if "</ul>" in html[end : item.start()]:
            around = ""
        end = item.end()
        if item[1]:
            around = label
        elif posixpath.normpath(posixpath.join(here, item[2])) == plan.packing.address[caller]:
            named = plan.names[caller].name in label
            if named and (path in (own, around) or path in text) and re.search(rf"\b{line}\b", text):
                return True
    return False
