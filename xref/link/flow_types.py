"""Reads from the index what C++ says of values that Python gets from it (xref.python.flow.foreign)."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping

from xref.closure import closure
from xref.model import Id
from xref.python.flow.foreign import ForeignTypes, class_named, plain_type, refuses_function, split_arguments

_CONTAINERS = {"ffi.Array": "list", "ffi.Map": "dict"}
"""Type keys of the containers that hold the list and dict fields of objects (tvm-ffi, container/array.h and map.h)."""
_SUFFIX = re.compile(r"(Node|Obj)$")
_MAX_PARENTS = 30


def read_foreign_types(db: sqlite3.Connection, codes: Mapping[Id, int]) -> tuple[ForeignTypes, set[int]]:
    """The types, and the codes of all Python classes that are registered; `codes` leads from symbols to codes."""
    types = ForeignTypes()
    python: dict[str, int] = {}
    for name, id_ in db.execute("SELECT name, symbol_id FROM key_def WHERE registry = 'type' AND side = 'python'"):
        if id_ in codes:
            python[name] = codes[id_]
            if name in _CONTAINERS:
                types.containers[_CONTAINERS[name]] = codes[id_]
    parents = dict(
        db.execute("SELECT name, other FROM key_relation WHERE registry = 'type' AND kind = 'parent' ORDER BY 2")
    )
    namespaces: dict[str, str] = {}
    for name, qualname in db.execute(
        "SELECT k.name, s.qualname FROM key_def k JOIN symbol s ON s.id = k.symbol_id"
        " WHERE k.registry = 'type' AND k.side = 'cpp' ORDER BY 1, 2"
    ):
        code = _visible(name, python, parents)
        namespaces[name] = qualname.rpartition("::")[0]
        if code is not None and name != "ffi.Object":
            types.classes.setdefault(_SUFFIX.sub("", qualname), code)
    _add_references(db, types)
    _read_fields(db, types, python, namespaces)
    _read_functions(db, types)
    _read_made(db, types)
    types.keepers = _read_keepers(db, types)
    return types, set(python.values())


REFERENCES = (
    "SELECT s.qualname, t.qualname FROM relation r JOIN symbol s ON s.id = r.from_id JOIN symbol t ON t.id = r.to_id"
    " WHERE r.kind = 'base' AND s.lang = 'cpp' ORDER BY 1, 2"
)
"""Classes of C++ and their bases."""


CONSTRUCTORS = (
    "SELECT qualname, signature FROM symbol WHERE lang = 'cpp' AND kind = 'constructor' AND signature NOT LIKE '%,%'"
    " AND signature NOT LIKE '%()' ORDER BY 1, 2"
)
"""Constructors of C++ that take one argument."""
_POINTER = re.compile(r"(?:::)?(?:tvm::)?(?:ffi::)?ObjectPtr<([\w:]+)>$")


def _add_references(db: sqlite3.Connection, types: ForeignTypes) -> None:
    """A reference class without a node of its own (PrimExpr, NDArray's many views) holds an object of its base: of the
    classes that the reference classes derived from it refer to, and those that it can be constructed from.
    """
    classes = types.classes
    own = frozenset(classes)
    bases: dict[str, str] = {}
    for name, base in db.execute(REFERENCES):
        bases.setdefault(name, base)
    for name in bases:
        at = name
        for _ in range(_MAX_PARENTS):
            if at in classes:
                classes[name] = classes[at]
                break
            at = bases.get(at, "")
            if not at or at.endswith("::ObjectRef"):
                break
    _add_views(db, types, own, bases)


def _add_views(db: sqlite3.Connection, types: ForeignTypes, own: frozenset[str], bases: Mapping[str, str]) -> None:
    refers: dict[str, set[str]] = defaultdict(set)
    for qualname, signature in db.execute(CONSTRUCTORS):
        name = qualname.rpartition("::")[0]
        if name in types.classes:
            written = plain_type(signature.partition("(")[2].removesuffix(")"))
            pointer = _POINTER.match(written)
            refers[name].add(_SUFFIX.sub("", pointer[1]) if pointer else written)
    derived: dict[str, list[str]] = defaultdict(list)
    for name, base in bases.items():
        derived[base].append(name)
    for name in sorted(types.classes.keys() - own):
        pending, seen = [name], {name}
        found: set[int] = set()
        while pending:
            at = pending.pop()
            near = (f"{scope}::{one}" if scope else one for one in refers[at] for scope in _scopes(at))
            found.update(types.classes[one] for one in near if one in own)
            found.update([types.classes[at]] if at in own else [])
            pending += [one for one in derived[at] if one not in seen]
            seen.update(derived[at])
        if found - {types.classes[name]}:
            types.views[name] = tuple(sorted(found))


FIELDS = (
    "SELECT DISTINCT qualname, name, signature FROM symbol WHERE lang = 'cpp' AND kind = 'field'"
    " AND qualname LIKE '%::%' ORDER BY 1, 3"
)
"""Fields of C++."""
_FUNCTION = re.compile(r"\b(?:function<|(?:Typed)?(?:Packed)?Func(?:tion)?\b|F[A-Z]\w+$)")
"""A type of functions; TVM names its aliases of such `FLoad` and `FPredict`."""


def _read_keepers(db: sqlite3.Connection, types: ForeignTypes) -> frozenset[int]:
    """The codes of the classes whose objects may hold functions: such a field has the class or one derived from it."""
    bases: dict[str, list[str]] = defaultdict(list)
    for name, base in db.execute(REFERENCES):
        bases[name].append(base)
    owners = []
    for qualname, name, signature in db.execute(FIELDS):
        owner = qualname.removesuffix(f"::{name}")
        written = signature.removesuffix(name)
        if _FUNCTION.search(plain_type(written)) and not refuses_function(types.classes, owner, written):
            owners.append(owner)
    found = {_SUFFIX.sub("", name) for name in closure(bases, owners)}
    return frozenset(code for name, code in types.classes.items() if name in found)


_CALLS_OF_CPP = (
    "SELECT DISTINCT c.caller_id, c.callee_id, s.kind, s.qualname, s.signature"
    " FROM call c JOIN symbol s ON s.id = c.callee_id"
    " WHERE c.caller_id IN (SELECT value FROM json_each(?)) AND s.lang = 'cpp'"
    " AND s.kind IN ('function', 'method', 'lambda', 'constructor') AND c.evidence IN ('direct', 'template')"
)
_MAX_CALLS = 4
"""How far a function of C++ is followed for what it makes: `_OpAdd` calls `add`, which calls `TryConstFold`."""


def _read_made(db: sqlite3.Connection, types: ForeignTypes) -> None:
    """Functions that are declared to return a view: `PrimExpr` in C++ is 30 classes, but `_OpAdd` makes an `Add` or,
    folding constants, an `IntImm`. What a function makes is what it constructs, and what it calls that returns such a
    view.

    All keys are followed together, one call further at a time: a new index has no index over callers yet, so that each
    look at calls reads all of them.
    """
    views: dict[str, str] = {}
    for key, (namespace, written) in types.results.items():
        whole = class_named(types.views, namespace, plain_type(written).rpartition("::")[2])
        if whole is not None:
            views[key] = whole
    pending: dict[str, set[Id]] = {key: set() for key in views}
    for key, id_ in db.execute("SELECT name, symbol_id FROM key_def WHERE registry = 'ffi' AND side = 'cpp'"):
        if key in pending and id_ is not None:
            pending[key].add(id_)
    seen = {key: set(ids) for key, ids in pending.items()}
    found: dict[str, set[int]] = defaultdict(set)
    calls: dict[Id, list[tuple[Id, str, str, str]]] = {}
    for depth in range(_MAX_CALLS + 1):
        asked = set().union(*pending.values()) - calls.keys()
        calls.update((id_, []) for id_ in asked)
        for caller, id_, kind, qualname, signature in db.execute(_CALLS_OF_CPP, (json.dumps(sorted(asked)),)):
            calls[caller].append((id_, kind, qualname, signature))
        for key, ids in pending.items():
            returns = re.compile(rf"\b{plain_type(types.results[key][1]).rpartition('::')[2]}\b")
            further: set[Id] = set()
            for id_, kind, qualname, signature in (call for at in ids for call in calls[at]):
                if kind == "constructor":
                    found[key].add(types.classes.get(qualname.rpartition("::")[0], -1))
                elif depth < _MAX_CALLS and id_ not in seen[key] and returns.search(signature.partition("(")[0]):
                    further.add(id_)
            seen[key] |= further
            pending[key] = further
    for key, whole in views.items():
        made = found[key].intersection(types.views[whole])
        if made and len(made) < len(types.views[whole]):
            types.made[key] = tuple(sorted(made))


def _scopes(name: str) -> Iterator[str]:
    """The namespaces around a C++ class, from within."""
    while name:
        name = name.rpartition("::")[0]
        yield name


def _visible(name: str, python: Mapping[str, int], parents: Mapping[str, str]) -> int | None:
    """The Python class that an object of a type has: its own or that of the nearest parent below ffi.Object."""
    for _ in range(_MAX_PARENTS):
        if name in python:
            return python[name]
        name = parents.get(name, "ffi.Object")
        if name == "ffi.Object":
            break
    return None


def _read_fields(
    db: sqlite3.Connection, types: ForeignTypes, python: Mapping[str, int], namespaces: Mapping[str, str]
) -> None:
    for name, signature, field in db.execute(
        "SELECT k.name, s.signature, s.name FROM key_def k JOIN symbol s ON s.id = k.symbol_id"
        " WHERE k.registry = 'field' AND k.side = 'cpp' ORDER BY 1, 2"
    ):
        owner, _, shown = name.rpartition(".")
        written = signature.removesuffix(field).strip()
        if owner in python and owner in namespaces and written:
            types.fields.setdefault((python[owner], shown), (namespaces[owner], written))


def _read_functions(db: sqlite3.Connection, types: ForeignTypes) -> None:
    for name, signature, function, qualname, kind in db.execute(
        "SELECT k.name, s.signature, s.name, s.qualname, s.kind FROM key_def k JOIN symbol s ON s.id = k.symbol_id"
        " WHERE k.registry = 'ffi' AND k.side = 'cpp' AND s.signature <> '' ORDER BY 1, 2"
    ):
        head, _, rest = signature.partition("(" if kind == "lambda" else f"{function}(")
        namespace = "::".join(part for part in qualname.split("::") if re.fullmatch(r"\w+", part))
        if head.strip():
            types.results.setdefault(name, (namespace, head.strip()))
        if listed := rest.rpartition(")")[0].strip():
            object_first = [""] if kind == "method" and rest.rstrip().endswith("const") else []
            types.parameters.setdefault(name, (namespace, (*object_first, *split_arguments(listed))))
