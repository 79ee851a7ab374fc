"""Indexes a folder of tests/cases/python and writes its facts as lines that a person can review."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from xref.model import FileFacts, Id, KeyDef, KeyUse, Symbol, symbol_id
from xref.python import extract_python, plan_python, python_jobs, run_type_checker

CASES = Path(__file__).parents[1] / "cases" / "python"
SEARCH_PATHS = ("python", "3rdparty/tvm-ffi/python")


def index(root: Path, scratch: Path, *, types: bool = True, paths: Sequence[str] = ()) -> dict[str, FileFacts]:
    """The facts of every Python file below `root` (or of `paths`), by path."""
    found = paths or sorted(
        path.relative_to(root).as_posix() for path in root.rglob("*") if path.suffix in (".py", ".pyi")
    )
    plan = plan_python(root, found, [path for path in SEARCH_PATHS if (root / path).is_dir()], scratch)
    if types:
        assert run_type_checker(plan, jobs=2) == ""
    return {facts.path: facts for job in python_jobs(plan, 3) for facts in extract_python(job)}


def copy_case(name: str, target: Path) -> Path:
    """A copy of a case's tree that a test may change."""
    return Path(shutil.copytree(CASES / name, target))


class Names:
    """Symbols by id, as text."""

    def __init__(self, facts: Iterable[FileFacts]) -> None:
        self._symbols: dict[Id, Symbol] = {}
        for file in facts:
            for symbol in (*file.externals, *file.symbols):
                self._symbols[symbol_id(symbol.key)] = symbol

    def of(self, id_: Id | None) -> str:
        """The symbol's key without its prefix; an id that nobody declares shows as such and fails the review."""
        if id_ is None:
            return "-"
        symbol = self._symbols.get(id_)
        if symbol is None:
            return f"UNDECLARED {id_}"
        return symbol.key.removeprefix("py:").replace(":", ".", 1)


def describe(facts: dict[str, FileFacts], section: str, only: Sequence[str] = ()) -> list[str]:
    """One section of the facts as lines, in the order of the files."""
    names = Names(facts.values())
    lines: list[str] = []
    for path, file in sorted(facts.items()):
        if not only or path in only:
            lines += sorted(_SECTIONS[section](file, names), key=_position)
    return lines


def _position(line: str) -> tuple[str, int, int, str]:
    place, _, rest = line.partition(" ")
    path, *numbers = place.split(":")
    return (path, *([int(n) for n in numbers] + [0, 0])[:2], rest)  # type: ignore[return-value]


def _symbols(file: FileFacts, names: Names) -> list[str]:
    return [
        f"{file.path}:{s.line}:{s.col} {s.kind} {names.of(symbol_id(s.key))} to {s.end_line}"
        + (f" | {s.signature}" if s.signature else "")
        + (f" | {s.doc}" if s.doc else "")
        for s in file.symbols
    ]


def _calls(file: FileFacts, names: Names) -> list[str]:
    return [
        f"{file.path}:{c.line}:{c.col} {names.of(c.caller)} -> {names.of(c.callee)} {c.evidence}"
        + (f" via {c.via}" if c.via else "")
        for c in file.calls
    ]


def _unresolved(file: FileFacts, names: Names) -> list[str]:
    return [f"{file.path}:{u.line}:{u.col} in {names.of(u.within)}: {u.text}: {u.reason}" for u in file.unresolved]


def _relations(file: FileFacts, names: Names) -> list[str]:
    return [f"{file.path} {names.of(r.source)} {r.kind} {names.of(r.target)}" for r in file.relations]


def _refs(file: FileFacts, names: Names) -> list[str]:
    return [f"{file.path}:{r.line}:{r.col} {r.role} {names.of(r.symbol)} in {names.of(r.within)}" for r in file.refs]


def _keys(file: FileFacts, names: Names) -> list[str]:
    return [_key_def(file, key, names) for key in file.key_defs] + [_key_use(file, use, names) for use in file.key_uses]


def _key_def(file: FileFacts, key: KeyDef, names: Names) -> str:
    return f"{file.path}:{key.line}:0 def {key.registry} {key.name} = {names.of(key.symbol)}"


def _key_use(file: FileFacts, use: KeyUse, names: Names) -> str:
    flags = (" calls" if use.calls else "") + (" optional" if use.optional else "")
    return f"{file.path}:{use.line}:{use.col} use {use.registry} {use.name} in {names.of(use.within)}{flags}"


_SECTIONS: dict[str, Callable[[FileFacts, Names], list[str]]] = {
    "symbols": _symbols,
    "calls": _calls,
    "unresolved": _unresolved,
    "relations": _relations,
    "refs": _refs,
    "keys": _keys,
}
