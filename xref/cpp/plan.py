"""Plans the parsing of a tree's C++: which unit owns which header, what goes into the precompiled header.

The include scan below decides only who parses what; a wrong guess costs time, not facts: a header that its owner turns
out not to reach is parsed alone afterwards. docs/design.md, "Pipeline", has the measurements behind the scheme.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from xref.closure import closure
from xref.cpp.includes import IncludeScan
from xref.cpp.shared import shared_headers

_PCH_SHARE = 0.04
"""A public header that this share of the units includes goes into the precompiled header (25 of TVM main's 651)."""
_PCH_KEPT = 0.9
"""A precompiled header that shares less with the one to make is made anew."""
_LANGUAGES = {"mm": "objective-c++", "cu": "cuda", "cuh": "cuda"}
_HEADER_SUFFIXES = (".h", ".hpp", ".hh", ".cuh")
_STANDARD_NAME = re.compile(r"[a-z_]\w*")
"""A header of the C++ standard library, alone in having no suffix and no folder: <random>."""
_UMBRELLA_SIZE = 130
"""Headers of one umbrella unit: two or three units for TVM, so that two workers share them."""


@dataclass(frozen=True)
class UnitJob:
    """One parse: `owned` are the files whose facts it yields. `main` is the unit's file, "" for an umbrella of headers.

    `language` is "c++", "objective-c++" or "cuda" (read as C++, its keywords defined away). `use_pch` is False where
    the precompiled header must not be (umbrellas: it hides the bodies of the headers it holds). `shared` is a header
    that may be precompiled on top of it, "" for none (xref.cpp.shared); it makes no other job.
    """

    main: str
    owned: tuple[str, ...]
    language: str
    use_pch: bool
    shared: str = field(default="", compare=False)

    @property
    def included(self) -> tuple[str, ...]:
        """The headers to parse as if a file included them, also when there is one only: `#pragma once` has no effect in
        a main file, which headers that include each other would then include again."""
        if not self.main:
            return self.owned
        return (self.main,) if self.main.endswith(_HEADER_SUFFIXES) else ()

    @property
    def may_use_pch(self) -> bool:
        """Whether the precompiled header, if there is one, takes part in the parse."""
        return self.use_pch and self.language == "c++"

    @property
    def may_share(self) -> bool:
        """Whether a header that others include too may be precompiled for it, which loses the header's facts."""
        return self.may_use_pch and self.owned == (self.main,) and not self.included


@dataclass(frozen=True)
class CppPlan:
    """All parses of a tree. `arguments` are libclang's options, without language and precompiled header.

    `known` are the tree's C++ files; `pch_headers` the include spellings of the precompiled header, most used first.
    """

    root: str
    known: frozenset[str]
    arguments: tuple[str, ...]
    pch_headers: tuple[str, ...]
    jobs: tuple[UnitJob, ...]


def plan_cpp(
    root: Path,
    units: Iterable[str],
    headers: Iterable[str],
    include_dirs: Iterable[str],
    arguments: Iterable[str],
    wanted: frozenset[str] | None = None,
    scan: IncludeScan | None = None,
    old_pch: tuple[str, ...] = (),
) -> CppPlan:
    """The plan for `units` and `headers` (tree-relative); `include_dirs` are absolute, in order. `wanted` restricts the
    files that are parsed for their facts, not what is known of the tree. `scan` knows the tree's #include lines.

    `old_pch` is the precompiled header of an earlier index of this tree. It is kept while its headers are there and
    most of what it should hold is in it: facts do not depend on it, and a new one has every unit parsed again.
    """
    units, headers = sorted(units), sorted(headers)
    known = frozenset((*units, *headers))
    scan = scan or IncludeScan(root, known, include_dirs)
    folders = list(scan.folders)
    public_folders = tuple(f for f in folders if f.rstrip("/").rsplit("/", 1)[-1] == "include")
    graph = scan.graph()
    public = [h for h in headers if h.startswith(public_folders)] if public_folders else []
    private = [h for h in headers if h not in set(public)]
    owners = _claim(units, private, graph)
    if wanted is None:
        wanted = known
    jobs = [UnitJob("", tuple(group), "c++", False) for group in _groups([h for h in public if h in wanted])]
    claimed: dict[str, list[str]] = {}
    alone_headers = [h for h in private if h not in owners and h in wanted]
    for header, unit in owners.items():
        if header in wanted:
            claimed.setdefault(unit, []).append(header)
    for unit in units:
        owned = ((unit,) if unit in wanted else ()) + tuple(sorted(claimed.get(unit, ())))
        if owned:
            jobs.append(UnitJob(unit, owned, _language(unit), True))
    jobs += [UnitJob(header, (header,), _language(header), True) for header in alone_headers]
    standard = {path: tuple(filter(is_standard, scan.names(path))) for path in known}
    pch = _pch_headers(units, graph, frozenset(public), folders) + _standard_headers(units, graph, standard)
    if _still_good(old_pch, pch, {_spelled(header, folders) for header in public}):
        pch = old_pch
    common = {scan.in_tree(name) for name in pch} - {""}
    chosen = shared_headers([job.main for job in jobs if job.may_share], graph, common, scan)
    planned = (replace(job, shared=chosen.get(job.main, "")) for job in jobs)
    return CppPlan(str(root), known, tuple(arguments), pch, tuple(planned))


def alone(path: str) -> UnitJob:
    """The job of one file, when no other can own it. Without the precompiled header, which may hold it already."""
    return UnitJob(path, (path,), _language(path), False)


def _language(unit: str) -> str:
    return _LANGUAGES.get(unit.rsplit(".", 1)[-1], "c++")


def _claim(units: list[str], private: list[str], graph: dict[str, list[str]]) -> dict[str, str]:
    """Each private header that some unit reaches -> the first such unit, in path order."""
    wanted = set(private)
    owners: dict[str, str] = {}
    for unit in units:
        pending, seen = list(graph[unit]), set()
        while pending:
            header = pending.pop()
            if header in seen:
                continue
            seen.add(header)
            if header in wanted and header not in owners:
                owners[header] = unit
            pending += graph.get(header, ())
    return owners


def _groups(public: list[str]) -> list[list[str]]:
    count = max(1, -(-len(public) // _UMBRELLA_SIZE))
    size = -(-len(public) // count) if public else 1
    return [public[i : i + size] for i in range(0, len(public), size)]


def _pch_headers(
    units: list[str], graph: dict[str, list[str]], public: frozenset[str], folders: list[str]
) -> tuple[str, ...]:
    uses = Counter(header for unit in units for header in set(graph[unit]) if header in public)
    return tuple(_spelled(header, folders) for header in _common(uses, len(units)))


def _standard_headers(
    units: list[str], graph: dict[str, list[str]], standard: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """The standard library's headers that enough units see, also by way of the tree's headers: of TVM main's, a unit
    that draws random numbers spends half a second on <random>. Unlike a header of the tree they do not change, so that
    an edit never has more units parsed again because of them."""
    uses: Counter[str] = Counter()
    for unit in units:
        uses.update({name for path in closure(graph, [unit]) for name in standard[path]})
    return tuple(_common(uses, len(units)))


def _common(uses: Counter[str], units: int) -> list[str]:
    """The headers that enough of the units use, most used first."""
    floor = max(3, int(units * _PCH_SHARE))
    return sorted((header for header, n in uses.items() if n >= floor), key=lambda header: (-uses[header], header))


def is_standard(name: str) -> bool:
    """Whether an #include of `name` means the C++ standard library."""
    return _STANDARD_NAME.fullmatch(name) is not None


def _spelled(header: str, folders: list[str]) -> str:
    """`header` as an #include names it."""
    folder = max((f for f in folders if header.startswith(f)), key=len, default="")
    return header[len(folder) :]


def _still_good(old: tuple[str, ...], new: tuple[str, ...], public: set[str]) -> bool:
    shared = len(set(old) & set(new))
    there = all(name in public or is_standard(name) for name in old)
    return bool(old) and there and shared >= _PCH_KEPT * max(len(old), len(new))
