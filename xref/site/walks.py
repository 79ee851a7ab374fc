"""Walks: pages that follow a road through the tree step by step, generated from the index and a small recipe.

A recipe (walks/*.toml) names symbols and keys. What leads from one step to the next is looked up in the call graph, so
a walk shows the calls, keys and lines of the tree that was indexed. A step that is gone stops the build.
"""

from __future__ import annotations

import re
import sqlite3
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from xref.model import Id, Lang, XrefError
from xref.query.names import params_of
from xref.site.names import Name

_LINES = 10
_VERSION = re.compile(r"\d+")


@dataclass(slots=True)
class Step:
    """A step of a recipe; `symbols` is empty where the index has none (only part of the tree was indexed)."""

    names: list[str]
    key: str
    text: str
    lines: int
    show: str
    symbol: Id | None = None

    @property
    def what(self) -> str:
        """The step as its recipe names it."""
        return f"key {self.key}" if self.key else self.names[0]


@dataclass(slots=True)
class Walk:
    """A recipe whose steps have been looked up."""

    name: str
    title: str
    order: int
    since: str
    lead: str
    steps: list[Step] = field(default_factory=list)


class Found(NamedTuple):
    """The index as walks need it: names by id, ids by qualified name (aliases included)."""

    names: Mapping[Id, Name]
    by_name: Mapping[str, list[Id]]


@cache
def walks_folder() -> Path | None:
    """The folder of recipes: inside the package of a wheel, else of the checkout; None when neither is there."""
    for folder in (Path(str(resources.files("xref"))) / "walks", Path(__file__).parents[2] / "walks"):
        if folder.is_dir():
            return folder
    return None


def load_walks(db: sqlite3.Connection, names: Mapping[Id, Name], aliases: Mapping[Id, Id], meta: Mapping[str, str],
               folder: Path | None = None) -> list[Walk]:  # fmt: skip
    """The walks that fit the tree, their steps looked up.

    Raises `XrefError` (exit code 1) when a step of a fitting recipe is not in the index of a whole tree, or a recipe
    cannot be read.
    """
    folder = folder or walks_folder()
    recipes = [_read(path) for path in sorted(folder.glob("*.toml"))] if folder else []
    recipes = [walk for walk in recipes if meta.get("project") == "tvm" and _at_least(meta, walk.since)]
    wanted = {_bare(name) for walk in recipes for step in walk.steps for name in step.names}
    by_name: dict[str, list[Id]] = {}
    for id_, name in names.items():
        if name.qualname in wanted:
            by_name.setdefault(name.qualname, []).append(aliases.get(id_, id_))
    found = Found(names, by_name)
    for walk in recipes:
        for number, step in enumerate(walk.steps, 1):
            step.symbol = _key_symbol(db, step.key, names) if step.key else _symbol(db, found, step.names)
            if step.symbol is None and not meta.get("only"):
                raise XrefError(
                    f"walks/{walk.name}.toml, step {number}: the index has no {step.what}; name what took its place,"
                    " or index the tree again if it is older than the recipe",
                    1,
                )
    whole = [walk for walk in recipes if any(step.symbol is not None for step in walk.steps)]
    return sorted(whole, key=lambda walk: (walk.order, walk.name))


def _read(path: Path) -> Walk:
    try:
        recipe = tomllib.loads(path.read_text(encoding="utf-8"))
        walk = Walk(path.stem, recipe["title"], recipe["order"], recipe["since"], recipe["lead"])
        walk.steps = [_step(step) for step in recipe["step"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise XrefError(f"{path} is no recipe of a walk ({error!r}): see {path.parent / 'README.md'}", 1) from error
    return walk


def _step(step: dict[str, Any]) -> Step:
    names = list(step.get("symbol", ()))
    if bool(names) == bool(step.get("key")):
        raise ValueError("a step needs a symbol or a key")
    return Step(names, step.get("key", ""), step["text"], step.get("lines", _LINES), step.get("show", ""))


def _at_least(meta: Mapping[str, str], since: str) -> bool:
    """Whether the tree's version is `since` or later; "0.25.dev0" counts as 0.25."""
    own, least = ([int(part) for part in _VERSION.findall(text)[:2]] for text in (meta.get("tvm_version", ""), since))
    return bool(own) and own >= least


def _bare(name: str) -> str:
    return name.partition("(")[0] if not name.endswith("operator()") else name


def _symbol(db: sqlite3.Connection, found: Found, wanted: list[str]) -> Id | None:
    """The first of the names that is a definition in the tree; parameters choose among overloads."""
    for name in wanted:
        ids = sorted({id_ for id_ in found.by_name.get(_bare(name), ()) if found.names[id_].file >= 0})
        ids.sort(key=lambda id_: (not found.names[id_].defined, found.names[id_].kind == "namespace", id_))
        if "(" not in name:
            if ids:
                return ids[0]
            continue
        asked = [_type(part) for part in params_of(name, name)]
        for id_ in ids:
            signature = db.execute("SELECT signature FROM symbols WHERE id = ?", (id_,)).fetchone()[0]
            if [_type(part) for part in params_of(found.names[id_].name, signature)] == asked:
                return id_
    return None


def _type(parameter: str) -> str:
    return parameter.replace(" ", "")


def _key_symbol(db: sqlite3.Connection, key: str, names: Mapping[Id, Name]) -> Id | None:
    """What an FFI key runs, in C++ before Python."""
    rows = db.execute(
        "SELECT symbol_id FROM key_defs WHERE registry = 'ffi' AND name = ? AND symbol_id IS NOT NULL"
        " ORDER BY side <> ?, path, line",
        (key, Lang.CPP),
    )
    return next((id_ for (id_,) in rows if id_ in names), None)


def walked(walks: list[Walk]) -> Iterator[Id]:
    """The symbols of all steps."""
    for walk in walks:
        for step in walk.steps:
            if step.symbol is not None:
                yield step.symbol
