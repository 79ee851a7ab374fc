"""What an index and the registries of an installed TVM have in common, and why they differ.

An index must hold all that the TVM has registered. It may hold more: a wheel is one build of the sources, with some
options, for one machine, and registers what its libraries and `import tvm` reach.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xref.registry.types import FIELD, METHOD, REGISTRY

REGISTRIES = ("ffi", "type", "field", "method", "op", "op_attr", "pass_config", "target_kind", "target_tag")
"""The registries that TVM can list. Passes, functor tables, instruction kinds and the rest have no such function."""
PARENTS = "parent"


@dataclass(slots=True)
class Comparison:
    """One registry. `surplus` maps a reason to the names that only the index has; "" is the one without a reason."""

    registry: str
    installed: int
    found: int
    missing: list[str] = field(default_factory=list)
    surplus: dict[str, list[str]] = field(default_factory=dict)

    @property
    def unexplained(self) -> list[str]:
        """The names that only the index has, for no reason that it knows."""
        return self.surplus.get("", [])


@dataclass(slots=True)
class Verification:
    """All registries; `unlisted` are those that this TVM does not list, or that the index does not fill."""

    tree: str
    tree_version: str
    version: str
    ffi_version: str
    comparisons: list[Comparison]
    unlisted: list[str]

    @property
    def is_complete(self) -> bool:
        """Whether the index has all that the TVM has."""
        return not any(comparison.missing for comparison in self.comparisons)


def compare(db: sqlite3.Connection, meta: Mapping[str, str], installed: Mapping[str, Any]) -> Verification:
    """Compare the index with what `xref.verify.probe` listed."""
    result = Verification(
        meta.get("tree", ""), meta.get("tvm_version", ""), installed["version"], installed["ffi_version"], [], []
    )
    reasons = _Reasons(db, installed)
    for registry in REGISTRIES:
        names = installed.get(registry)
        indexed = {name for (name,) in db.execute("SELECT name FROM key_defs WHERE registry = ?", (registry,))}
        if names is None or not indexed:
            result.unlisted.append(registry)
            continue
        wanted = set(names)
        comparison = Comparison(registry, len(wanted), len(wanted & indexed), sorted(wanted - indexed))
        for name in sorted(indexed - wanted):
            comparison.surplus.setdefault(reasons.of(registry, name), []).append(name)
        result.comparisons.append(comparison)
    result.comparisons.append(_parents(db, installed["parents"]))
    return result


def _parents(db: sqlite3.Connection, parents: Mapping[str, str]) -> Comparison:
    indexed = dict(
        db.execute("SELECT name, other FROM key_relations WHERE registry = ? AND kind = ?", (REGISTRY, PARENTS))
    )
    wrong = sorted(f"{key}: {parent}" for key, parent in parents.items() if indexed.get(key) != parent)
    return Comparison(PARENTS, len(parents), len(parents) - len(wrong), wrong)


class _Reasons:
    """Why the index has a name that the installed TVM has not."""

    def __init__(self, db: sqlite3.Connection, installed: Mapping[str, Any]) -> None:
        self._db = db
        self._types = set(installed["type"] or ())
        self._modules = set(installed["modules"])
        self._fielded = {name.rpartition(".")[0] for name in installed[FIELD] or ()}

    def of(self, registry: str, name: str) -> str:
        """The reason, "" when there is none."""
        rows = self._db.execute(
            "SELECT side, path, guard, note FROM key_defs WHERE registry = ? AND name = ?", (registry, name)
        ).fetchall()
        if all(guard for _, _, guard, _ in rows):
            return f"behind {rows[0][2]}"
        if name.endswith("*"):
            return "computed at run time"
        if not any(side == "cpp" for side, *_ in rows):
            modules = [module for _, path, _, _ in rows if (module := self._unloaded(path))]
            if modules:
                return "registered by Python modules that `import tvm` does not load"
            if self._inside_functions(registry, name):
                return "registered by a Python function that has not run"
        files = [path for side, path, guard, _ in rows if side == "cpp" and not guard]
        if files and all(self._is_unbuilt(path) for path in files):
            return "declared in headers that only guarded files include"
        if registry == METHOD and all(note.startswith("type attribute") for *_, note in rows):
            return "a type attribute, which TVM does not list"
        return self._of_type(registry, name)

    def _of_type(self, registry: str, name: str) -> str:
        """Types are registered when their C++ is first used, fields when the type's RegisterReflection runs."""
        if registry == REGISTRY:
            return "declared, and registered when it is first used"
        owner = name.rpartition(".")[0]
        if registry in (FIELD, METHOD):
            if owner not in self._types:
                return "of a type that is not registered"
            if owner not in self._fielded:
                return "of a type whose members this TVM has not registered"
        return ""

    def _unloaded(self, path: str) -> str:
        """The module of a Python file, when the installed TVM has not imported it."""
        module = path.partition("python/")[2].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return "" if module in self._modules else module

    def _inside_functions(self, registry: str, name: str) -> bool:
        """Whether every registration stands in the body of a function."""
        inside, places = self._db.execute(
            "SELECT count(DISTINCT k.path || k.line), (SELECT count(DISTINCT path || line) FROM key_defs"
            " WHERE registry = ?1 AND name = ?2) FROM key_defs k JOIN symbols s ON s.path = k.path"
            " AND s.kind IN ('function', 'method') AND s.line < k.line AND s.end_line >= k.line"
            " WHERE k.registry = ?1 AND k.name = ?2",
            (registry, name),
        ).fetchone()
        return bool(inside == places)

    def _is_unbuilt(self, path: str) -> bool:
        """Whether the header is included by guarded files only."""
        if not path.endswith((".h", ".hpp", ".cuh")):
            return False
        rows = self._db.execute(
            "SELECT DISTINCT f.path, f.guard FROM include i JOIN file f ON f.id = i.file_id WHERE i.target_path = ?",
            (path,),
        ).fetchall()
        return bool(rows) and all(guard for _, guard in rows)
