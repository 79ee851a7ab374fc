"""Plans the parsing of a tree's C++: which unit owns which header, what goes into the precompiled header.

The include scan below decides only who parses what; a wrong guess costs time, not facts: a header that its owner turns
out not to reach is parsed alone afterwards. docs/design.md, "Pipeline", has the measurements behind the scheme.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_PCH_SHARE = 0.04
"""A public header that this share of the units includes goes into the precompiled header (25 of TVM main's 651)."""
_LANGUAGES = {"mm": "objective-c++", "cu": "cuda", "cuh": "cuda"}
_HEADER_SUFFIXES = (".h", ".hpp", ".hh", ".cuh")
_UMBRELLA_SIZE = 130
"""Headers of one umbrella unit: two or three units for TVM, so that two workers share them."""


@dataclass(frozen=True)
class UnitJob:
    """One parse: `owned` are the files whose facts it yields. `main` is the unit's file, "" for an umbrella of headers.

    `language` is "c++", "objective-c++" or "cuda" (read as C++, its keywords defined away). `use_pch` is False where
    the precompiled header must not be (umbrellas: it hides the bodies of the headers it holds).
    """

    main: str
    owned: tuple[str, ...]
    language: str
    use_pch: bool

    @property
    def included(self) -> tuple[str, ...]:
        """The headers to parse as if a file included them, also when there is one only: `#pragma once` has no effect in
        a main file, which headers that include each other would then include again."""
        if not self.main:
            return self.owned
        return (self.main,) if self.main.endswith(_HEADER_SUFFIXES) else ()


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
) -> CppPlan:
    """The plan for `units` and `headers` (tree-relative); `include_dirs` are absolute, in order. `wanted` restricts the
    files that are parsed for their facts, not what is known of the tree."""
    units, headers = sorted(units), sorted(headers)
    known = frozenset((*units, *headers))
    prefix = str(root).rstrip("/") + "/"
    folders = [d[len(prefix) :] + "/" if d != str(root) else "" for d in include_dirs if f"{d}/".startswith(prefix)]
    public_folders = tuple(f for f in folders if f.rstrip("/").rsplit("/", 1)[-1] == "include")
    graph = {path: _includes(root, path, folders, known) for path in known}
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
    return CppPlan(
        str(root), known, tuple(arguments), _pch_headers(units, graph, frozenset(public), folders), tuple(jobs)
    )


def alone(path: str) -> UnitJob:
    """The job of one file, when no other can own it. Without the precompiled header, which may hold it already."""
    return UnitJob(path, (path,), _language(path), False)


def _language(unit: str) -> str:
    return _LANGUAGES.get(unit.rsplit(".", 1)[-1], "c++")


def _includes(root: Path, path: str, folders: list[str], known: frozenset[str]) -> list[str]:
    """The tree's files that `path` names in its #include lines, resolved as a compiler would."""
    try:
        source = (root / path).read_bytes()
    except OSError:
        return []
    here = path.rsplit("/", 1)[0] + "/" if "/" in path else ""
    result = []
    for raw in _INCLUDE.findall(source):
        name = raw.decode("utf-8", "replace")
        for folder in (here, *folders):
            candidate = _normal(folder + name)
            if candidate in known:
                result.append(candidate)
                break
    return result


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


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
    floor = max(3, int(len(units) * _PCH_SHARE))
    chosen = [(header, n) for header, n in uses.items() if n >= floor]
    chosen.sort(key=lambda item: (-item[1], item[0]))
    longest = sorted((f for f in folders if f), key=len, reverse=True)
    spelled = []
    for header, _ in chosen:
        folder = next((f for f in longest if header.startswith(f)), "")
        spelled.append(header[len(folder) :])
    return tuple(spelled)
