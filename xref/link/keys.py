"""Gives each use of a key its status, and a call edge to what each definition of its key runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from xref.link.step import Derived, Step, Touched
from xref.model import Evidence, Id, UseStatus

MAX_UNDER_PREFIX = 64
"""A use of a prefix that stands for more keys than this makes no call edges: a row in `unresolved` says so."""


class _Definitions:
    """What is defined: names by registry, what each key runs, and which keys some definition leaves unguarded."""

    def __init__(self, derived: Derived) -> None:
        self.names: dict[str, set[str]] = defaultdict(set)
        self.targets: dict[tuple[str, str], list[Id]] = defaultdict(list)
        self.unguarded: set[tuple[str, str]] = set()
        for registry, name, symbol, guard in derived.db.execute(
            "SELECT registry, name, symbol_id, guard FROM key_defs ORDER BY registry, name, path, line, symbol_id"
        ):
            self.names[registry].add(name)
            if symbol is not None and symbol not in self.targets[registry, name]:
                self.targets[registry, name].append(symbol)
            if not guard:
                self.unguarded.add((registry, name))

    def status(self, registry: str, name: str, *, optional: bool) -> UseStatus:
        if name not in self.names[registry]:
            return UseStatus.OPTIONAL if optional else UseStatus.DANGLING
        return UseStatus.RESOLVED if (registry, name) in self.unguarded else UseStatus.GUARDED


def _derive(derived: Derived, _touched: Touched | None) -> None:
    definitions = _Definitions(derived)
    uses = derived.db.execute(
        "SELECT rowid, registry, name, file_id, line, col, in_symbol_id, calls, optional, status FROM key_use"
    ).fetchall()
    prefixes: dict[tuple[str, str], list[str]] = {}
    for row, registry, name, file_id, line, col, within, calls, optional, old_status in uses:
        if name.endswith("*"):
            if (registry, name) not in prefixes:
                below = sorted(n for n in definitions.names[registry] if n.startswith(name[:-1]))
                prefixes[registry, name] = below
                derived.key_relations((registry, n, "under_prefix", name) for n in below)
            names: Iterable[str] = prefixes[registry, name]
            status = UseStatus.WILDCARD
            if len(prefixes[registry, name]) > MAX_UNDER_PREFIX:
                reason = f"{len(prefixes[registry, name])} keys under the prefix"
                derived.unresolved([(file_id, line, col, within, name, reason)])
                names = ()
        else:
            names = (name,)
            status = definitions.status(registry, name, optional=optional)
        if status != old_status:
            derived.db.execute("UPDATE key_use SET status = ? WHERE rowid = ?", (status, row))
        if calls and within is not None:
            derived.calls(
                (within, target, Evidence.REGISTRY, file_id, line, col, key)
                for key in names
                for target in definitions.targets.get((registry, key), ())
            )


STEP = Step("keys", _derive)
