"""The registries as pages: every key with its registrations, what it runs, its uses, and what nobody registers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from xref.model import Id, UseStatus
from xref.site import urls

KEYS_PER_PAGE = 400
_NAMES = {
    "ffi": "functions of the FFI", "type": "object types", "pass": "passes", "field": "fields of object types",
    "method": "methods of object types", "op": "operators", "op_attr": "attributes of operators",
    "pass_config": "options of passes", "target_kind": "kinds of target", "target_tag": "named targets",
    "functor": "dispatch tables: node type to method", "inst": "schedule instructions", "intrin": "tensor intrinsics",
    "script": "script builders", "target_option": "options of targets",
    "attr": "attributes", "symbol": "run-time symbols", "pipeline": "named pipelines",
    "frontend": "converters of other frameworks' operators", "callback": "methods of Python classes that C++ calls",
    "pattern": "patterns of operators for other libraries",
}  # fmt: skip
"""What each registry holds, in words."""


_RUNNING = frozenset(("ffi", "functor", "frontend", "pass", "method", "callback", "script", "intrin", "pipeline"))
"""Registries whose keys run something; those of the others may only name it."""
TELLING = ("ffi", "pass", "op", "target_kind")
"""Registries whose keys earn what they run a page of its own, and perhaps a drawing: people come to them by name."""


class Definition(NamedTuple):
    """A registration; `symbol` is what the key runs or names."""

    side: str
    path: str
    line: int
    symbol: Id | None
    guard: str
    note: str


class Use(NamedTuple):
    """A look-up or call of a key, in `symbol`."""

    side: str
    path: str
    line: int
    symbol: Id | None
    status: str


@dataclass(slots=True)
class Key:
    """One name of a registry, with all that is known of it."""

    registry: str
    name: str
    definitions: list[Definition] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    relations: list[tuple[str, str]] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """The id of the key's row on its page."""
        return "k." + urls.safe_segment(self.name)

    @property
    def prefix(self) -> bool:
        """Whether this is the beginning of keys that are put together at run time, not a key."""
        return self.name.endswith("*")

    @property
    def runs(self) -> bool:
        """Whether it stands for something that runs."""
        return self.registry in _RUNNING

    @property
    def trouble(self) -> str:
        """ "dangling", "optional" or "" : nothing in the tree registers a key that is used."""
        if self.definitions:
            return ""
        dangling = any(use.status == UseStatus.DANGLING for use in self.uses)
        return UseStatus.DANGLING if dangling else UseStatus.OPTIONAL


def registry_words(registry: str) -> str:
    """What a registry holds: "functions of the FFI"."""
    return _NAMES.get(registry, registry)


def _names(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """(registry, name) of every key, and of every prefix that is completed at run time."""
    return db.execute(
        "SELECT registry, name FROM key_defs UNION SELECT registry, name FROM key_uses ORDER BY 1, 2"
    ).fetchall()


def key_addresses(db: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """The address of each key's row."""
    return addresses_of(_names(db))


def addresses_of(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The addresses of the rows of keys, (registry, name) in order."""
    result = {}
    for registry, names in groupby(keys, key=lambda pair: pair[0]):
        for position, (_, name) in enumerate(names):
            page = urls.registry_url(registry, position // KEYS_PER_PAGE + 1)
            result[registry, name] = f"{page}#{Key(registry, name).anchor}"
    return result


def states(db: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Letters for each key: d dangling, g every definition behind a guard, c and p defined in C++ and Python, u and s
    used from Python and from C++ (the filter of the keys' page)."""
    found: dict[tuple[str, str], set[str]] = {}
    guarded: dict[tuple[str, str], bool] = {}
    for registry, name, side, guard in db.execute("SELECT DISTINCT registry, name, side, guard <> '' FROM key_defs"):
        found.setdefault((registry, name), set()).add("c" if side == "cpp" else "p")
        guarded[registry, name] = guarded.get((registry, name), True) and bool(guard)
    for registry, name, side, status in db.execute("SELECT DISTINCT registry, name, side, status FROM key_uses"):
        letters = found.setdefault((registry, name), set())
        letters.add("s" if side == "cpp" else "u")
        if status == UseStatus.DANGLING:
            letters.add("d")
    for key, always in guarded.items():
        if always:
            found[key].add("g")
    return {key: "".join(sorted(letters)) for key, letters in found.items()}


def load_keys(db: sqlite3.Connection, only: Iterable[tuple[str, str]] | None = None) -> list[Key]:
    """All keys, or those asked for, in order of registry and name."""
    wanted = sorted(set(only)) if only is not None else _names(db)
    keys = {pair: Key(*pair) for pair in wanted}
    condition = (
        "WHERE (registry, name) IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))"
        if only is not None
        else ""
    )
    values = (json.dumps(wanted),) if only is not None else ()
    for registry, name, *rest in db.execute(
        f"SELECT registry, name, side, path, line, symbol_id, guard, note FROM key_defs {condition}"
        " ORDER BY 1, 2, side, path, line", values,
    ):  # fmt: skip
        keys[registry, name].definitions.append(Definition._make(rest))
    for registry, name, *rest in db.execute(
        f"SELECT registry, name, side, path, line, in_symbol_id, status FROM key_uses {condition}"
        " ORDER BY 1, 2, side DESC, path, line", values,
    ):  # fmt: skip
        keys[registry, name].uses.append(Use._make(rest))
    for registry, name, kind, other in db.execute(
        f"SELECT registry, name, kind, other FROM key_relations {condition} ORDER BY 1, 2, 3, 4", values
    ):
        if (registry, name) in keys:
            keys[registry, name].relations.append((kind, other))
    return list(keys.values())


def registries(keys: Iterable[Key]) -> list[tuple[str, list[Key]]]:
    """The keys by registry, those of the FFI first, then the fullest."""
    grouped = [(registry, list(group)) for registry, group in groupby(keys, key=lambda key: key.registry)]
    return sorted(grouped, key=lambda item: (item[0] != "ffi", -len(item[1]), item[0]))
