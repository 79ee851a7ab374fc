"""Checks a whole site: every internal link leads somewhere, every line anchor lies in its file, ids are unique.

Run as `python -m xref.site.check DIR`; exits with 1 and lists what is wrong. With `--db INDEX` it also looks up 200
calls of the index, drawn by `--seed`. Reads tags by a regular expression: the site's HTML is made by xref alone, and a
full parse of half a gigabyte would take minutes.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from xref.site import nesting
from xref.site.assets import read_script_data
from xref.site.check_calls import check_calls

_BASE = re.compile(r"<base href=([^\s>]+)>")
_OF_THE_PAGE = re.compile(r"<base href=[^\s>]+>|<link rel=canonical href=[^\s>]+>")
"""Tags that lead nowhere: what addresses are relative to, and where the page itself is published."""
_TAG = re.compile(r"<[a-zA-Z](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_ATTRIBUTE = re.compile(r"\s([^\s=<>\"'/]+)(?:=(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+)))?")
_READ = ("id", "href", "src", "aria-labelledby", "aria-controls")
_LINE = re.compile(r"L(\d+)$")
_STATE = re.compile(r"[a-z]+=")
"""A part of an address that a script reads, `graph.html#of=...`: no anchor."""
_EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|//")
_IN_SCRIPT = re.compile(r'"((?:s|f|source|outside|keys|runs|walks)/[^"\\\s]+\.html(?:#[^"\\\s]+)?)"')
_SHOWN = 40


class Problem(NamedTuple):
    """What is wrong, on which page of the site."""

    page: str
    text: str


@dataclass(slots=True)
class _PageIds:
    """The ids of a page: lines by their number, which are many, the others by name."""

    names: frozenset[str]
    lines: int


@dataclass(slots=True)
class SiteCheck:
    """The outcome: what was counted and what is wrong."""

    pages: int = 0
    links: int = 0
    problems: list[Problem] = field(default_factory=list)


def check_site(folder: Path) -> SiteCheck:
    """Check the site in `folder`. Raises `OSError` when it cannot be read."""
    result = SiteCheck()
    ids: dict[str, _PageIds] = {}
    links: dict[str, array[int]] = {}
    targets: dict[str, int] = {}
    for path in sorted(folder.rglob("*.html")):
        page = path.relative_to(folder).as_posix()
        result.pages += 1
        html = path.read_text(encoding="utf-8")
        ids[page], found = _read(page, html, result)
        result.problems += [Problem(page, fault) for fault in nesting.trouble(html)]
        links[page] = array("i", (targets.setdefault(target, len(targets)) for target in found))
    names = list(targets)
    good = [_exists(folder, target, ids) for target in names]
    for page, positions in links.items():
        result.links += len(positions)
        result.problems += [
            Problem(page, f"{good[position]}: {names[position]}")
            for position in dict.fromkeys(positions)
            if good[position]
        ]
    for script in sorted(folder.rglob("*.js")):
        page = script.relative_to(folder).as_posix()
        text = script.read_text(encoding="utf-8")
        if text.startswith("xref.put("):
            try:
                text = json.dumps(read_script_data(text), ensure_ascii=False)
            except ValueError as error:
                result.problems.append(Problem(page, f"cannot be read: {error}"))
        for match in _IN_SCRIPT.finditer(text):
            result.links += 1
            trouble = _exists(folder, match[1], ids)
            if trouble:
                result.problems.append(Problem(page, f"{trouble}: {match[1]}"))
    return result


def _read(page: str, html: str, result: SiteCheck) -> tuple[_PageIds, list[str]]:
    """The ids of a page, and where its links lead."""
    base = _BASE.search(html)
    folder = posixpath.join(posixpath.dirname(page), base[1] if base else "")
    found: list[str] = []
    mentioned: list[str] = []
    targets: list[str] = []
    for attribute, value in _attributes(_OF_THE_PAGE.sub("", html)):
        if attribute == "id":
            found.append(value)
        elif attribute.startswith("aria"):
            mentioned += value.split()
        elif not _EXTERNAL.match(value):
            targets.append(_resolve(page, folder, value, based=bool(base)))
        elif not value.startswith("data:"):
            result.problems.append(Problem(page, f"leaves the site: {value}"))
    ids = _page_ids(page, found, result)
    result.problems += [
        Problem(page, f"names the id {name}, which is not there") for name in mentioned if name not in ids.names
    ]
    return ids, targets


def _attributes(html: str) -> Iterator[tuple[str, str]]:
    for tag in _TAG.finditer(html):
        for attribute in _ATTRIBUTE.finditer(tag[0]):
            if attribute[1] not in _READ:
                continue
            value = attribute[2] or attribute[3] or attribute[4] or ""
            yield attribute[1], unescape(value) if "&" in value else value


def _page_ids(page: str, found: list[str], result: SiteCheck) -> _PageIds:
    lines = [int(match[1]) for match in map(_LINE.match, found) if match]
    if lines != list(range(1, len(lines) + 1)):
        result.problems.append(Problem(page, "line anchors are not 1, 2, 3, ..."))
    others = [name for name in found if not _LINE.match(name)]
    for name in sorted({name for name in others if others.count(name) > 1} if len(set(others)) < len(others) else ()):
        result.problems.append(Problem(page, f"has the id {name} more than once"))
    return _PageIds(frozenset(others), len(lines))


def _resolve(page: str, folder: str, link: str, *, based: bool) -> str:
    """A link of a page as a path below the site's folder, with its anchor; `folder` is what links are relative to."""
    path, mark, anchor = link.partition("#")
    path = path.partition("?")[0]  # what follows is for scripts: `source/x.py.html?run=...`
    whole = posixpath.normpath(posixpath.join(folder, unquote(path))) if path or based else page
    return f"{whole}#{unquote(anchor)}" if mark else whole


def _exists(folder: Path, target: str, ids: dict[str, _PageIds]) -> str:
    """Why a target is no good; "" when it is."""
    path, _, anchor = target.partition("#")
    if _STATE.match(anchor):
        anchor = ""
    if path.startswith("../"):
        return "leaves the site's folder"
    if path not in ids:
        return "" if not anchor and (folder / path).is_file() else "leads to no page"
    if not anchor:
        return ""
    line = _LINE.match(anchor)
    if line:
        return "" if 0 < int(line[1]) <= ids[path].lines else f"line beyond the file's {ids[path].lines}"
    return "" if anchor in ids[path].names else "no such anchor"


def main() -> int:
    """Check the site named on the command line; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m xref.site.check", description="Check a folder made by xref site.")
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--db", type=Path, help="the index that the site was made from")
    parser.add_argument("--calls", type=int, default=200, help="how many calls of the index to look up [200]")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    if not (chosen.folder / "index.html").is_file():
        parser.error(f"{chosen.folder} is no folder made by xref site")
    result = check_site(chosen.folder)
    looked_up = ""
    if chosen.db is not None:
        count, missing = check_calls(chosen.db, chosen.folder, chosen.calls, chosen.seed)
        result.problems += [Problem("calls", text) for text in missing]
        looked_up = f"{count} calls looked up, "
    for problem in result.problems[:_SHOWN]:
        sys.stdout.write(f"{json.dumps(problem.page)[1:-1]}: {json.dumps(problem.text)[1:-1]}\n")
    more = len(result.problems) - _SHOWN
    sys.stdout.write(
        (f"... {more} more\n" if more > 0 else "")
        + f"{result.pages} pages, {result.links} links, {looked_up}{len(result.problems)} problems\n"
    )
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
