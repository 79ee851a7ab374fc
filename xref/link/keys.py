"""Gives each use of a key its status, and a call edge to what each definition of its key runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from xref.link.step import Derived, Step, Touched
from xref.model import Evidence, Id, UseStatus
from xref.registry import cpp_passes

MAX_UNDER_PREFIX = 64
"""A use of a prefix that stands for more keys than this makes no call edges: a row in `unresolved` says so."""
MAX_IN_TABLE = 512
"""Likewise for the use of a table, whose entries are all meant: those of one functor, or of one attribute of operators
(TVM registers some 250 functions under one attribute)."""
_TABLES = frozenset({"op_attr", "functor", "script"})
_DISPATCHING = frozenset({"functor", "script"})


class _Definitions:
    """What is defined: names by registry, what each key runs, and which keys some definition leaves unguarded."""

    def __init__(self, derived: Derived) -> None:
        self.names: dict[str, set[str]] = defaultdict(set)
        self.targets: dict[tuple[str, str], list[Id]] = defaultdict(list)
        self.attributes: dict[str, list[str]] = defaultdict(list)
        self.unguarded: set[tuple[str, str]] = set()
        for registry, name, symbol, guard in derived.db.execute(
            "SELECT registry, k.name, CASE WHEN s.kind = 'variable' THEN NULL ELSE symbol_id END, guard FROM key_defs k"
            " LEFT JOIN symbol s ON s.id = k.symbol_id ORDER BY registry, k.name, k.path, k.line, symbol_id"
        ):
            if registry == "op_attr" and name not in self.names[registry]:
                self.attributes[name.rpartition(":")[0]].append(name)
            self.names[registry].add(name)
            if symbol is not None and symbol not in self.targets[registry, name]:
                self.targets[registry, name].append(symbol)
            if not guard:
                self.unguarded.add((registry, name))

    def matching(self, registry: str, name: str) -> list[str]:
        """The keys that a wildcard stands for: `prefix*`, or `*:option`, the option of every key."""
        if name.startswith("*:"):
            return sorted(n for n in self.names[registry] if n.endswith(name[1:]))
        return sorted(n for n in self.names[registry] if n.startswith(name[:-1]))

    def runs(self, registry: str, name: str) -> list[tuple[str, Id]]:
        """What reaching a use of the key runs: (the key that it is known by, the function).

        A call of an operator leads to the functions of its attributes.
        """
        if registry != "op":
            return [(name, target) for target in self.targets.get((registry, name), ())]
        return [(key, target) for key in self.attributes.get(name, ()) for target in self.targets["op_attr", key]]

    def status(self, registry: str, name: str, *, optional: bool) -> UseStatus:
        if name not in self.names[registry]:
            return UseStatus.OPTIONAL if optional else UseStatus.DANGLING
        return UseStatus.RESOLVED if (registry, name) in self.unguarded else UseStatus.GUARDED


def _requirements(derived: Derived) -> None:
    """A pass requires those that its maker lists."""
    for name, note in derived.db.execute(
        "SELECT DISTINCT name, note FROM key_def WHERE registry = ? AND note LIKE ? ORDER BY name, note",
        (cpp_passes.REGISTRY, f"%{cpp_passes.REQUIRES}%"),
    ).fetchall():
        others = note.rpartition(cpp_passes.REQUIRES)[2].split(", ")
        derived.key_relations((cpp_passes.REGISTRY, name, "requires", other) for other in others)


def _operators(derived: Derived) -> None:
    """Setting the first attribute of a name registers an operator (`ir.RegisterOpAttr`, src/ir/op.cc, v0.7 to main)."""
    registered = {name for (name,) in derived.db.execute("SELECT name FROM key_def WHERE registry = 'op'")}
    found: dict[str, tuple[str, str, str, int, int, str]] = {}
    for attribute, side, file_id, line in derived.db.execute(
        "SELECT name, side, file_id, line FROM key_def WHERE registry = 'op_attr' ORDER BY file_id, line, name"
    ):
        name = attribute.rpartition(":")[0]
        if name not in registered:
            found.setdefault(name, ("op", name, side, file_id, line, "registered by setting its first attribute"))
    derived.key_definitions(found.values())


def _derive(derived: Derived, _touched: Touched | None) -> None:
    _requirements(derived)
    _operators(derived)
    definitions = _Definitions(derived)
    uses = derived.db.execute(
        "SELECT rowid, registry, name, file_id, line, col, in_symbol_id, calls, optional, status, candidates,"
        " evidence FROM key_use"
    ).fetchall()
    by_name = {row for row, *_, evidence in uses if evidence == Evidence.NAME}
    uses = [_settled(derived, definitions, *use) for *use, _ in uses]
    prefixes: dict[tuple[str, str], list[str]] = {}
    for row, registry, name, file_id, line, col, within, calls, optional, old_status in uses:
        if name.startswith("*:") or name.endswith("*"):
            if (registry, name) not in prefixes:
                below = definitions.matching(registry, name)
                prefixes[registry, name] = below
                derived.key_relations((registry, n, "under_prefix", name) for n in below)
            names: Iterable[str] = prefixes[registry, name]
            status = UseStatus.WILDCARD
            if len(prefixes[registry, name]) > (MAX_IN_TABLE if registry in _TABLES else MAX_UNDER_PREFIX):
                reason = f"{len(prefixes[registry, name])} keys under the prefix"
                derived.unresolved([(file_id, line, col, within, name, reason)])
                names = ()
        else:
            names = (name,)
            status = definitions.status(registry, name, optional=optional)
        if row in by_name:
            status = UseStatus.OPTIONAL  # another class, of any library, may have a field of this name
        if status != old_status:
            derived.db.execute("UPDATE key_use SET status = ? WHERE rowid = ?", (status, row))
        if calls and within is not None:
            evidence = Evidence.DISPATCH if registry in _DISPATCHING else Evidence.REGISTRY
            derived.calls(
                (within, target, evidence, file_id, line, col, via)
                for key in names
                for via, target in definitions.runs(registry, key)
            )


def _settled(derived: Derived, definitions: _Definitions, *use: Any) -> tuple[Any, ...]:
    """The use, with the last of its candidates that is defined as its name. That name is derived, the candidates are
    the fact."""
    row, registry, name, *rest, candidates = use
    if candidates:
        names = candidates.split("|")
        chosen = next((n for n in reversed(names) if n in definitions.names[registry]), names[0])
        if chosen != name:
            derived.db.execute("UPDATE key_use SET name = ? WHERE rowid = ?", (chosen, row))
        name = chosen
    return (row, registry, name, *rest)


STEP = Step("keys", _derive)
