"""Derives the crossing: a call of an FFI function from Python calls the binding, which calls the C ABI.

The calls of C functions themselves are uses of keys (registry `symbol`), which the step `keys` turns into edges. What a
Cython function hands to a C function as a callback is called by that C function.
"""

from __future__ import annotations

from xref.link.step import Derived, Step, Touched
from xref.model import Evidence, symbol_id
from xref.registry.bindings import ENTRIES


def _derive(derived: Derived, _touched: Touched | None) -> None:
    db = derived.db
    for how, keys in ENTRIES.items():
        entries = [
            id_
            for key in keys
            if (id_ := symbol_id(key)) and db.execute("SELECT 1 FROM symbol WHERE id = ?", (id_,)).fetchone()
        ]
        uses = db.execute(
            "SELECT DISTINCT in_symbol_id, file_id, line, col FROM key_use"
            " WHERE binding = ? AND in_symbol_id IS NOT NULL ORDER BY 1, 2, 3, 4",
            (how,),
        ).fetchall()
        for entry in entries:
            known = {id_ for (id_,) in db.execute("SELECT caller_id FROM call WHERE callee_id = ?", (entry,))}
            derived.calls(
                (within, entry, Evidence.DIRECT, file_id, line, col, "")
                for within, file_id, line, col in uses
                if within not in known
            )
    callbacks = db.execute(
        "SELECT DISTINCT k.symbol_id, c.callee_id, c.file_id, c.line, c.col FROM symbol e"
        " JOIN call c ON c.caller_id = e.id AND c.evidence = 'value' AND c.step = ''"
        " JOIN key_def k ON k.registry = 'symbol' AND k.name = e.name AND k.symbol_id IS NOT NULL"
        " WHERE e.lang = 'cython' AND e.linkage = 'c' ORDER BY 1, 2, 3, 4, 5"
    ).fetchall()
    derived.calls((c_function, callee, Evidence.VALUE, *place, "") for c_function, callee, *place in callbacks)


STEP = Step("bindings", _derive)
