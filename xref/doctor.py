"""What `xref doctor` finds: programs and libraries that xref uses, with the line that gets each, and an index's gaps.

Nothing is installed, started or changed. An index's gaps are counted by reason, the commonest first, with one example
each, because a list of 300 files tells a user less than three reasons do.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from glob import glob
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from xref.model import ExitCode, XrefError, shorten
from xref.shares import Share, cpp_shares
from xref.store import open_index, read_meta

OLDEST_PYTHON = (3, 11)

PACKAGES: tuple[tuple[str, str, bool], ...] = (
    ("pyrefly", "reads the types of the Python side", True),
    ("Cython", "reads the FFI's .pyx files", True),
    ("graphviz-pure", "draws call graphs for the site", False),
)
"""(distribution, what it is for, whether indexing needs it)."""

PROGRAMS: tuple[tuple[str, str, str], ...] = (
    ("valgrind", "command:valgrind", "records native calls"),
    ("graphviz", "command:dot", "draws call graphs in place of graphviz-pure"),
)
"""As xref/system_packages.txt, for what only some features use: (Debian package, test, what it is for)."""

_REASONS = 8


@dataclass(slots=True)
class Tool:
    """One thing that xref uses. `found`: its version or path, "" when missing; then `remedy` is the line to run."""

    name: str
    found: str
    needed: bool
    purpose: str
    remedy: str


@dataclass(slots=True)
class Gap:
    """`count` facts that lack something for one `reason`; `example` is a path or path:line."""

    what: str
    reason: str
    count: int
    example: str


@dataclass(slots=True)
class IndexState:
    """What an index holds and lacks. `files` counts them by status."""

    path: str
    meta: dict[str, str] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    unresolved: list[Gap] = field(default_factory=list)
    dangling: list[Gap] = field(default_factory=list)
    cpp_calls: list[Share] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """All that `xref doctor` says. `index` is None when there is none, for the reason in `no_index`."""

    tools: list[Tool]
    index: IndexState | None = None
    no_index: str = ""
    index_is_bad: bool = False
    """There is a file where the index should be, and it cannot be used."""

    @property
    def exit_code(self) -> int:
        """5 when indexing cannot work, 3 when there is an index that cannot be read, else 0."""
        if any(tool.needed and not tool.found for tool in self.tools):
            return ExitCode.UNUSABLE_INPUT
        return ExitCode.NO_INDEX if self.index_is_bad else ExitCode.DONE


def examine(db: Path) -> Report:
    """Look at this machine and at the index at `db`, if there is one."""
    report = Report([_python(), *_cpp_tools(), *map(_package, PACKAGES), *map(_system_package, system_packages())])
    try:
        with closing(open_index(db)) as connection:
            report.index = _state(connection, db)
    except XrefError as error:
        report.no_index = str(error)
        report.index_is_bad = db.exists()
    return report


def _python() -> Tool:
    version = ".".join(map(str, sys.version_info[:3]))
    fits = sys.version_info >= OLDEST_PYTHON
    wanted = ".".join(map(str, OLDEST_PYTHON))
    return Tool(
        "Python", version if fits else "", True, "runs xref", f"install Python {wanted} or later (this: {version})"
    )


def _cpp_tools() -> Iterator[Tool]:
    """libclang, and the headers that it needs: one probe finds both, so a failure says which one is missing."""
    from xref.cpp.toolchain import find_toolchain

    installed = _version("libclang")
    try:
        chain = find_toolchain()
    except XrefError as error:
        library = f"{installed} (Python package)" if installed else ""
        yield Tool("libclang", library, True, "parses C++", "python -m pip install libclang")
        yield Tool("C++ library and compiler headers", "", True, "C++ units include them", str(error))
    else:
        yield Tool("libclang", f"{chain.version}, {chain.libclang}", True, "parses C++", "")
        headers = chain.resource_dir or ", ".join(chain.cxx_include_dirs) or "libclang's own"
        yield Tool("C++ library and compiler headers", headers, True, "C++ units include them", "")


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _package(entry: tuple[str, str, bool]) -> Tool:
    name, purpose, needed = entry
    return Tool(name, _version(name), needed, purpose, f"python -m pip install {name}")


def system_packages() -> list[tuple[str, str, str]]:
    """The packages of xref/system_packages.txt, then the optional ones that it does not list.

    A test is `command:NAME`, `file:GLOB` or `module:NAME`; of several, separated by commas, one must succeed.
    """
    listed = []
    for line in resources.files("xref").joinpath("system_packages.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            package, test, purpose = (part.strip() for part in line.split("|"))
            listed.append((package, test, purpose))
    known = {package for package, *_ in listed}
    return [*listed, *(entry for entry in PROGRAMS if entry[0] not in known)]


def _system_package(entry: tuple[str, str, str]) -> Tool:
    package, tests, purpose = entry
    found = next((path for test in tests.split(",") if (path := _probe(test.strip()))), "")
    return Tool(package, found, False, purpose, f"apt-get install -y {package} (or this system's package of it)")


def _probe(test: str) -> str:
    """Where what `test` asks for is, "" when it is not there."""
    kind, _, value = test.partition(":")
    if kind == "command":
        return shutil.which(value) or ""
    if kind == "file":
        return next(iter(sorted(glob(value))), "")
    return value if find_spec(value) else ""


def _state(db: sqlite3.Connection, path: Path) -> IndexState:
    state = IndexState(str(path), read_meta(db))
    state.files = dict(db.execute("SELECT status, count(*) FROM files GROUP BY status ORDER BY 2 DESC"))
    state.gaps = _grouped(
        db.execute("SELECT status, detail, count(*), min(path) FROM files WHERE status <> 'ok' GROUP BY 1, 2")
    )
    state.unresolved = _grouped(
        db.execute(
            "SELECT f.lang, u.reason, count(*), min(u.path || ':' || u.line) FROM unresolved u"
            " JOIN files f ON f.path = u.path GROUP BY 1, 2"
        )
    )
    state.dangling = [
        Gap(registry, "", count, example)
        for registry, count, example in db.execute(
            "SELECT registry, count(*), min(path || ':' || line || ' ' || name) FROM key_uses"
            " WHERE status = 'dangling' GROUP BY registry ORDER BY 2 DESC"
        )
    ]
    state.cpp_calls = cpp_shares(db)
    return state


def _grouped(rows: sqlite3.Cursor) -> list[Gap]:
    """Rows (what, reason, count, example), those whose reasons differ only in a name or a number taken together."""
    gaps: dict[tuple[str, str], Gap] = {}
    for what, reason, count, example in rows:
        general = _general(reason)
        gap = gaps.setdefault((what, general), Gap(what, reason, 0, example))
        if gap.count:
            gap.reason = general
        gap.count += count
    return sorted(gaps.values(), key=lambda gap: (gap.what, -gap.count, gap.reason))


def _general(reason: str) -> str:
    """`12 candidates` -> `N candidates`; `through the field f_` -> `through a field`."""
    reason = re.sub(r"\bthrough the (\w+) \S+", r"through a \1", reason)
    reason = re.sub(r"\b(of the dependent type) \S+", r"\1 …", reason)
    reason = re.sub(r"'[^']*'", "'…'", reason)
    return re.sub(r"\b\d+\b", "N", reason)


def report_object(report: Report) -> dict[str, Any]:
    """The report for `--json`."""
    return {
        "schema": 1,
        "can_index": report.exit_code != ExitCode.UNUSABLE_INPUT,
        "tools": [asdict(tool) for tool in report.tools],
        "index": asdict(report.index) if report.index else None,
        "no_index": report.no_index or None,
    }


def report_lines(report: Report) -> Iterator[str]:
    """The report as text: one line a tool, `ok` or `missing` first."""
    for tool in report.tools:
        if tool.found:
            yield f"ok       {tool.name}: {tool.found}"
        else:
            yield f"{'MISSING ' if tool.needed else 'missing '} {tool.name}: {tool.purpose}; get it: {tool.remedy}"
    if report.exit_code == ExitCode.UNUSABLE_INPUT:
        yield "indexing cannot work until what is MISSING is there"
    yield ""
    if report.index is None:
        yield report.no_index
        return
    yield from _state_lines(report.index)


def _state_lines(state: IndexState) -> Iterator[str]:
    yield f"index {state.path}"
    for word, value in sorted(state.meta.items()):
        if word == "warnings":
            yield from (f"  warning: {warning}" for warning in json.loads(value))
        elif value and word != "settings":
            yield f"  {word}: {shorten(value, 160)}"
    yield "  files: " + (", ".join(f"{count:,} {status}" for status, count in state.files.items()) or "none")
    yield from _gap_lines(state.gaps)
    total = sum(gap.count for gap in state.unresolved)
    yield f"  unresolved calls: {total:,}"
    yield from _gap_lines(state.unresolved)
    yield from _share_lines(state.cpp_calls)
    total = sum(gap.count for gap in state.dangling)
    yield f"  dangling uses of keys: {total:,}"
    for gap in state.dangling:
        yield f"    {gap.count:,} {gap.what}: {gap.example}"


def _share_lines(shares: list[Share]) -> Iterator[str]:
    """The share of C++ calls that is unresolved, apart for each missing header; what is left out is added up."""
    if not shares:
        return
    yield "  C++ call expressions that are unresolved:"
    shown, left = shares[: _REASONS + 1], shares[_REASONS + 1 :]
    if left:
        words = f"{len(left)} other missing headers or errors (--json lists all)"
        shown.append(Share(words, *(sum(column) for column in zip(*map(_counts, left), strict=True))))
    for share in shown:
        yield (
            f"    {share.percent:.2f} %, {share.unresolved:,} of {share.calls:,}: {share.what}"
            f" ({share.units:,} unit{'' if share.units == 1 else 's'})"
        )


def _counts(share: Share) -> tuple[int, int, int]:
    return share.units, share.calls, share.unresolved


def _gap_lines(gaps: list[Gap]) -> Iterator[str]:
    """The commonest reasons of each kind; what is left out is counted."""
    shown: dict[str, int] = {}
    left: dict[str, int] = {}
    for gap in gaps:
        shown[gap.what] = shown.get(gap.what, 0) + 1
        if shown[gap.what] > _REASONS:
            left[gap.what] = left.get(gap.what, 0) + gap.count
            continue
        yield f"    {gap.count:,} {gap.what}: {gap.reason} (as {gap.example})"
    for what, count in left.items():
        yield f"    {count:,} {what} for other reasons (--json lists all)"
