"""Every symbol that a page can name or link to, in memory once: pages refer to symbols a million times.

Locals, parameters and template parameters are left out: they have no page, a source page links to their line.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from typing import NamedTuple

from xref.model import Id
from xref.query.names import params_of

LOCAL_KINDS = ("local", "parameter", "template_parameter")
CONTAINERS = ("class", "struct", "union", "enum")
"""Kinds whose page also holds their small members."""
RUNNABLE = ("function", "method", "constructor", "destructor", "conversion", "lambda", "static_init", "property",
            "module")  # fmt: skip
"""Kinds that call and are called; the page of anything else has no call sections unless a call is known."""

_PARAMETERS_SHOWN = 60
_NAMED = re.compile(r"([*&>\s])\s*\w+$")
"""The name of a parameter after its type."""
_SPACED = re.compile(r" +([*&]+)")


class Name(NamedTuple):
    """What other pages need of a symbol. `file` is a position in `SitePlan.files`, -1 for none; line 0 is unknown."""

    lang: str
    kind: str
    name: str
    qualname: str
    file: int
    line: int
    end_line: int
    parent: Id | None
    defined: bool

    @property
    def is_quiet(self) -> bool:
        """Whether calls of it are mostly implicit: constructors, conversions, operators."""
        return self.kind in ("constructor", "destructor", "conversion") or self.name.startswith("operator")

    @property
    def scope(self) -> str:
        """The qualified name without its last part, with the separator: `tvm::relax::`."""
        return self.qualname[: -len(self.name)] if self.qualname.endswith(self.name) else ""

    @property
    def short(self) -> str:
        """The name with its innermost class or function: `ExprMutator::VisitExpr_`, as drawings and lists show it."""
        separator = "::" if self.lang == "cpp" else "."
        owner = self.scope.removesuffix(separator).rpartition(separator)[2]
        return f"{owner}{separator}{self.name}" if owner and owner != "(anonymous)" else self.name


def is_constructor(name: Name) -> bool:
    """Whether calling a class runs this member of it."""
    return name.kind == "constructor" or name.name in ("__init__", "__new__")


def load_names(db: sqlite3.Connection, files: dict[str, int]) -> dict[Id, Name]:
    """The symbols of an index without locals. `files` maps paths to positions."""
    marks = ", ".join("?" * len(LOCAL_KINDS))
    rows = db.execute(
        "SELECT id, lang, kind, name, qualname, path, line, end_line, parent_id, is_definition FROM symbols"
        f" WHERE kind NOT IN ({marks}) ORDER BY id",
        LOCAL_KINDS,
    )
    return {
        id_: Name(lang, kind, name, qualname, files.get(path, -1), line, end_line, parent, bool(defined))
        for id_, lang, kind, name, qualname, path, line, end_line, parent, defined in rows
    }


def load_parameters(db: sqlite3.Connection, names: dict[Id, Name]) -> dict[Id, str]:
    """The parameter types of C++ functions that share their qualified name with others: `(const CallNode*)`.

    Without them a list of the thirty `VisitExpr_` of a class is thirty times the same word. Also of what overrides one
    of these: a class that overrides a single one has no other `VisitExpr_`, and its reader asks which one it is.
    """
    shared = Counter(
        name.qualname for name in names.values() if name.lang == "cpp" and name.kind in RUNNABLE and name.file >= 0
    )
    told = {id_ for id_, name in names.items() if shared[name.qualname] > 1}
    downs: dict[Id, list[Id]] = {}
    for below, above in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'overrides'"):
        downs.setdefault(above, []).append(below)
    frontier = list(told)
    while frontier:
        further = [below for id_ in frontier for below in downs.get(id_, ()) if below not in told]
        told.update(further)
        frontier = further
    result = {}
    for id_, signature in db.execute(
        "SELECT id, signature FROM symbols WHERE lang = 'cpp' AND signature <> '' ORDER BY id"
    ):
        name = names.get(id_)
        if name is not None and id_ in told and name.kind in RUNNABLE:
            types = (_NAMED.sub(r"\1", param.partition("=")[0].strip()) for param in params_of(name.name, signature))
            text = _SPACED.sub(r"\1", ", ".join(types))
            result[id_] = f"({text if len(text) <= _PARAMETERS_SHOWN else text[: _PARAMETERS_SHOWN - 1] + '…'})"
    return result


def load_aliases(db: sqlite3.Connection) -> dict[Id, Id]:
    """What each public alias stands for; chains are followed, cycles end anywhere on them."""
    direct: dict[Id, Id] = dict(db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'alias' ORDER BY 1, 2"))
    result = {}
    for alias, first in direct.items():
        target, seen = first, {alias}
        while target in direct and target not in seen:
            seen.add(target)
            target = direct[target]
        result[alias] = target
    return result
